// SPDX-License-Identifier: BSD-2-Clause
// DeathWatch: tells of the end of a process, even if another process has copies of its sockets.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "base/unique_fd.h"
#include "transport/reactor.h"

namespace softdat::transport::shm {

// With the baton. The reactor outlives it.
class DeathWatch final : private ReadinessSink {
 public:
  // `process`: a pidfd. `on_end` is called once, from Reactor::dispatch(). Never if the kernel cannot watch another
  // descriptor.
  DeathWatch(Reactor& reactor, base::UniqueFd process, std::function<void()> on_end)
      : process_(std::move(process)), on_end_(std::move(on_end)), watch_(reactor.watch(process_.get(), *this)) {
    if (watch_) watch_->want(kReadable);
  }
  // Has another function called.
  void tell(std::function<void()> on_end) { on_end_ = std::move(on_end); }
  bool has_ended() const { return has_ended_; }

 private:
  void on_ready(std::uint32_t) override {
    has_ended_ = true;
    on_end_();
  }

  const base::UniqueFd process_;
  std::function<void()> on_end_;
  bool has_ended_ = false;
  std::unique_ptr<Reactor::Watch> watch_;
};

}  // namespace softdat::transport::shm
