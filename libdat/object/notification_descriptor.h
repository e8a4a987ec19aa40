// SPDX-License-Identifier: BSD-2-Clause
// The file descriptor of a CNO: for programs that wait for it beside sockets and files.
#pragma once

#include "base/unique_fd.h"
#include "libdat/object/status.h"

namespace softdat::object {

// One thread at a time; others may poll the number meanwhile. What a consumer does to the number (reads it, fills it,
// closes it) costs him his news and nobody else anything.
class NotificationDescriptor {
 public:
  NotificationDescriptor() = default;
  ~NotificationDescriptor();
  NotificationDescriptor(const NotificationDescriptor&) = delete;
  NotificationDescriptor& operator=(const NotificationDescriptor&) = delete;

  // At most once. INSUFFICIENT_RESOURCES when there are no descriptors.
  Status open();
  bool is_open() const { return static_cast<bool>(own_); }

  // What the consumer waits for; -1 when it is not open.
  int number() const { return shown_; }

  // Readable from now on, and an edge for those who wait for edges. Nothing when it is not open.
  void raise() const;
  // No longer readable.
  void lower() const;

 private:
  bool is_still_shown() const;

  base::UniqueFd own_;  // nobody else knows this number
  int shown_ = -1;      // the same eventfd, under the number that the consumer knows; his children keep it
};

}  // namespace softdat::object
