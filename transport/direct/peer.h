// SPDX-License-Identifier: BSD-2-Clause
// Peer: another process's board and arena, as we see them. Nothing on a board is trusted further than
// to name bytes within the arena it belongs to.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/unique_fd.h"
#include "transport/direct/layout.h"
#include "transport/direct/shared_file.h"

namespace softdat::transport::direct {

// A run of the peer's memory that we want to use.
struct Target {
  std::uint32_t key;
  std::uint64_t address;
  std::uint64_t length;
  std::uint32_t rights;
};

// Any thread.
class Peer {
 public:
  // Null when these are not the files of a peer of our version. `process`: a pidfd of the peer, empty
  // if it is this very process or cannot be had.
  static std::shared_ptr<Peer> attach(base::UniqueFd board, base::UniqueFd arena, base::UniqueFd process);

  // With a pin that names key and gate, for as long as it is held: where the target is, or null when
  // it cannot be reached this way (which does not say that it may not be reached).
  std::byte* find(const Target& target, std::uint32_t gate, std::uint64_t connection);

  // With a pin that names the gate: the peer's receive of that number, if it is to be had.
  bool read_receive(std::uint32_t gate, std::uint64_t number, Receive& out) const;

  // What a pin of the peer's says.
  std::uint64_t pin_word(std::size_t slot) const { return board().pins[slot].word.load(std::memory_order_seq_cst); }
  bool has_pins() const;
  // Whether the peer's process has ended. Asks the kernel.
  bool is_dead() const;

 private:
  Peer(SharedView board, base::UniqueFd arena, base::UniqueFd process);
  const BoardLayout& board() const { return *reinterpret_cast<const BoardLayout*>(board_.data()); }
  std::byte* window(std::size_t index);
  std::byte* map_window(std::size_t index);

  // Fixed after construction.
  const SharedView board_;
  const base::UniqueFd arena_;
  const base::UniqueFd process_;
  // Published once each; null: not mapped yet.
  std::array<std::atomic<std::byte*>, kWindows> windows_{};
  std::mutex mutex_;
  // Guarded by mutex_.
  std::array<SharedView, kWindows> views_;
};

}  // namespace softdat::transport::direct
