// SPDX-License-Identifier: BSD-2-Clause
// One process that is connected with itself: two endpoints, one registered buffer, everything through the public API.
// Without another process, what a call costs is all there is to see.
#pragma once

#include <dat2/udat.h>

#include <array>
#include <cstdint>
#include <utility>

namespace softdat::bench {

class SelfPair {
 public:
  static constexpr DAT_COUNT kDepth = 256;

  // Opens "sim0"; aborts the process, in words, when something is refused.
  SelfPair();
  ~SelfPair();
  SelfPair(const SelfPair&) = delete;
  SelfPair& operator=(const SelfPair&) = delete;

  // Registers the memory so many times more; what is posted from now on names the last registration.
  void register_again(int times);
  // A region of one page.
  void register_and_free();

  // Each is one call and nothing besides. `size` bytes go from the first endpoint's half of the buffer to the second's.
  DAT_RETURN post_send(std::uint32_t size);
  DAT_RETURN post_receive(std::uint32_t size);
  DAT_RETURN post_write(std::uint32_t size);
  DAT_RETURN post_read(std::uint32_t size);
  // From now on they go the other way.
  void swap_roles() { std::swap(active_, passive_); }
  DAT_RETURN poll_requests() { return dat_evd_dequeue(request_evd_, &event_); }
  DAT_RETURN poll_receives() { return dat_evd_dequeue(receive_evd_, &event_); }

  // Polls until so many completions have come, all of them successes.
  void take_requests(int count) { take(request_evd_, count); }
  void take_receives(int count) { take(receive_evd_, count); }

 private:
  void register_memory();
  void connect();
  void take(DAT_EVD_HANDLE evd, int count);
  DAT_LMR_TRIPLET half(int index, std::uint32_t size) const;
  DAT_RMR_TRIPLET remote_half(std::uint32_t size) const;

  static constexpr std::size_t kHalf = std::size_t{1} << 20;
  alignas(4096) static std::array<std::uint8_t, 2 * kHalf> buffer_;

  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd_ = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE request_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE receive_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connection_evd_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE active_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE passive_ = DAT_HANDLE_NULL;
  DAT_LMR_HANDLE lmr_ = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_RMR_CONTEXT rmr_context_ = 0;
  DAT_EVENT event_{};
};

}  // namespace softdat::bench
