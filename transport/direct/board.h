// SPDX-License-Identifier: BSD-2-Clause
// Board: the owner's side of the file that layout.h describes.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "base/unique_fd.h"
#include "transport/direct/layout.h"
#include "transport/direct/shared_file.h"

namespace softdat::transport::direct {

// One thread's announcement that it uses a foreign key through a foreign gate; while it lives the
// peer waits with what it has withdrawn. Held for one bounded copy.
class Pin {
 public:
  Pin() = default;
  Pin(std::atomic<std::uint64_t>& word, std::uint64_t free_word) : word_(&word), free_word_(free_word) {}
  ~Pin() {
    if (word_ != nullptr) word_->store(free_word_, std::memory_order_release);
  }
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;

  explicit operator bool() const { return word_ != nullptr; }

 private:
  std::atomic<std::uint64_t>* word_ = nullptr;
  std::uint64_t free_word_ = 0;
};

// Any thread.
class Board {
 public:
  // Not usable (is_open()) when the system refuses.
  Board();

  bool is_open() const { return static_cast<bool>(view_); }
  int file() const { return file_.get(); }
  const BoardLayout& layout() const { return *reinterpret_cast<const BoardLayout*>(view_.data()); }

  // Nobody else publishes or withdraws this key meanwhile. `offset`: of the grant's first byte in the
  // arena.
  void publish(std::uint32_t key, const Grant& grant, std::uint64_t offset);
  // False when it was not published. Peers that pinned it before may still be at it.
  bool withdraw(std::uint32_t key);

  // A gate for one queue pair, closed; nothing when there is none left. Throws std::bad_alloc.
  std::optional<std::uint32_t> take_gate(std::uint32_t domain);
  void give_gate_back(std::uint32_t gate);
  void open_gate(std::uint32_t gate, std::uint64_t connection);
  void close_gate(std::uint32_t gate);

  // Receive `number` of the gate's queue pair has been posted. Nobody else publishes one meanwhile, and
  // receive number - kReceives has been used up.
  void publish_receive(std::uint32_t gate, std::uint64_t number, const Receive& receive);

  // Empty when every slot is taken. Then look at the peer's board.
  Pin pin(std::uint32_t key, std::uint32_t gate);

 private:
  BoardLayout& own() { return *reinterpret_cast<BoardLayout*>(view_.data()); }

  // Fixed after construction.
  base::UniqueFd file_;
  SharedView view_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::uint32_t> free_gates_;
  std::uint32_t fresh_gate_ = 0;  // from here on never used
};

}  // namespace softdat::transport::direct
