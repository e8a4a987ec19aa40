// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/kept_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "tools/softdat/dat_call.h"

namespace softdat::tools::run {

KeptOutput::KeptOutput(std::size_t most) : most_(most) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  read_end_ = base::UniqueFd(ends[0]);
  // Our own writing end is closed by close(), when the program has been started and has copies of it.
  write_end_ = base::UniqueFd(ends[1]).release();
  ended_ = base::UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!ended_ || ::fcntl(read_end_.get(), F_SETFL, O_NONBLOCK) != 0) {
    close();
    throw Failure(fmt::format("cannot read what a program prints: {}", std::strerror(errno)));
  }
  thread_ = std::thread([this] { run(); });
}

KeptOutput::~KeptOutput() {
  if (thread_.joinable()) static_cast<void>(finish());
  close();
}

void KeptOutput::close() {
  if (write_end_ >= 0) ::close(std::exchange(write_end_, -1));
}

// Twice as much as is wanted, so that the beginning is rarely moved.
void KeptOutput::keep(const char* data, std::size_t length) {
  text_.append(data, length);
  if (text_.size() <= 2 * most_) return;
  dropped_ += text_.size() - most_;
  text_.erase(0, text_.size() - most_);
}

void KeptOutput::run() {
  std::array<char, 65536> chunk;
  bool has_ended = false;
  while (true) {
    const ssize_t got = ::read(read_end_.get(), chunk.data(), chunk.size());
    if (got > 0) {
      keep(chunk.data(), static_cast<std::size_t>(got));
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || errno != EAGAIN || has_ended) return;
    pollfd entries[] = {{.fd = read_end_.get(), .events = POLLIN, .revents = 0},
                        {.fd = ended_.get(), .events = POLLIN, .revents = 0}};
    ::poll(entries, std::size(entries), -1);
    // One more turn: what was printed before the end may still be in the pipe.
    has_ended = entries[1].revents != 0;
  }
}

std::string KeptOutput::finish() {
  close();
  const std::uint64_t one = 1;
  static_cast<void>(!::write(ended_.get(), &one, sizeof one));
  thread_.join();
  if (text_.size() > most_) {
    dropped_ += text_.size() - most_;
    text_.erase(0, text_.size() - most_);
  }
  if (dropped_ == 0) return std::move(text_);
  return fmt::format("[{} bytes before are left out]\n", dropped_) + text_;
}

}  // namespace softdat::tools::run
