// SPDX-License-Identifier: BSD-2-Clause
// Quota: how many objects of a kind there may be at a time. Each object holds a Share, so that the count falls when the
// object has gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace softdat::simnic {

class Quota;

// One object's place in a quota, which must live as long. Empty: of none.
class Share {
 public:
  Share() = default;
  ~Share();
  Share(Share&& other) noexcept : quota_(std::exchange(other.quota_, nullptr)) {}
  Share& operator=(Share&& other) noexcept {
    std::swap(quota_, other.quota_);
    return *this;
  }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

 private:
  friend class Quota;
  explicit Share(Quota& quota) : quota_(&quota) {}

  Quota* quota_ = nullptr;
};

class Quota {
 public:
  explicit Quota(std::uint32_t most) : most_(most) {}
  Quota(const Quota&) = delete;
  Quota& operator=(const Quota&) = delete;

  // Nothing when there are as many as there may be. Any thread.
  std::optional<Share> take();

 private:
  friend class Share;

  const std::uint32_t most_;
  std::atomic<std::uint32_t> used_{0};  // by take() and by the end of a share; a count alone, which orders nothing
};

}  // namespace softdat::simnic
