// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/notification_descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "base/assert.h"
#include "base/descriptor_shortage.h"
#include "base/uncancelled.h"

namespace softdat::object {

// A number that the consumer has closed may be somebody else's file by now.
NotificationDescriptor::~NotificationDescriptor() {
  const base::Uncancelled guard;
  if (is_open() && is_still_shown()) ::close(shown_);
}

Status NotificationDescriptor::open() {
  SOFTDAT_DEBUG_CHECK(!is_open(), "a descriptor is opened once");
  base::UniqueFd own(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!own) return insufficient_resources(StatusDetail::kResourceMemory);
  // From 3 on: a program that has closed its standard output must not get this as standard output.
  shown_ = ::fcntl(own.get(), F_DUPFD_CLOEXEC, 3);
  if (shown_ < 0 && base::is_short_of_descriptors(errno)) base::note_descriptor_shortage(errno);
  if (shown_ < 0) return insufficient_resources(StatusDetail::kResourceMemory);
  own_ = std::move(own);
  return kOk;
}

// A program that has closed all descriptors may have a file of its own under our number, which must not be written to.
// Full is readable too, and so is an eventfd that was read by somebody in between and then written by us.
void NotificationDescriptor::raise() const {
  if (is_open() && own_.is_intact()) static_cast<void>(::eventfd_write(own_.get(), 1));
}

void NotificationDescriptor::lower() const {
  eventfd_t ignored;
  if (is_open() && own_.is_intact()) static_cast<void>(::eventfd_read(own_.get(), &ignored));
}

// Where the kernel does not compare, the number is taken to be ours, as the specification has it.
bool NotificationDescriptor::is_still_shown() const {
  const pid_t self = ::getpid();
  const long order = ::syscall(SYS_kcmp, self, self, KCMP_FILE, own_.get(), shown_);
  return order == 0 || (order < 0 && errno != EBADF);
}

}  // namespace softdat::object
