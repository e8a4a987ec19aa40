// SPDX-License-Identifier: BSD-2-Clause
// KeyDirectory: the owner's side of the file that layout.h describes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/unique_fd.h"
#include "memory/lent_pages.h"
#include "memory/sparse_view.h"
#include "simnic/direct/layout.h"
#include "simnic/lock_places.h"

namespace softdat::simnic::direct {

// One thread's announcement that it uses pages of a peer's arena. The peer waits a moment for it with what it has
// withdrawn, then takes the pages away. Held for one copy of at most kMostPinned bytes.
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
class KeyDirectory final : public memory::Lender {
 public:
  // Not usable (is_open()) when the system refuses.
  KeyDirectory();

  bool is_open() const { return view_ != nullptr; }
  int file() const { return file_.get(); }
  // A caller may touch only those QP entries, keys and receives that have been in use.
  const KeyDirectoryLayout& layout() const { return *reinterpret_cast<const KeyDirectoryLayout*>(view_->data()); }

  // REQUIRES: no other thread publishes or withdraws this key meanwhile. `offset`: of the grant's first byte in the
  // arena. Without memory nothing is published.
  void publish(std::uint32_t key, const Grant& grant, std::uint64_t offset);
  // False when it was not published. Peers that pinned it before may still be at it.
  bool withdraw(std::uint32_t key);
  // Tells peers that have pinned pages of the key that these may be taken away. Before it is withdrawn.
  void mark_cut(std::uint32_t key);
  void take_back(std::uint32_t key) override;

  // An index for pins into the arena of that number; nothing when there is none left.
  std::optional<std::uint32_t> add_owner(std::uint64_t arena);
  // No pin names it any more.
  void remove_owner(std::uint32_t owner);

  // The index of a QP entry for one queue pair, closed; nothing when there is none left, or the system refuses. Throws
  // std::bad_alloc.
  std::optional<std::uint32_t> take_qp_entry(std::uint32_t domain);
  void give_qp_entry_back(std::uint32_t qp_entry);
  void open_qp_entry(std::uint32_t qp_entry, std::uint64_t connection);
  void close_qp_entry(std::uint32_t qp_entry);
  // Closes all QP entries until resume(), which opens those again whose connections have not ended meanwhile. Peers
  // finish the piece that they copy. suspend() throws std::bad_alloc without any effect.
  void suspend();
  void resume();

  // Receive `number` of the entry's queue pair has been posted. REQUIRES: no other thread publishes one meanwhile, and
  // receive number - kReceives has been used up.
  void publish_receive(std::uint32_t qp_entry, std::uint64_t number, const Receive& receive);

  // `word`: of pin_word(). Empty when every slot is taken. Then look at the peer's key directory.
  Pin pin(std::uint64_t word);

 private:
  KeyDirectoryLayout& own() { return *reinterpret_cast<KeyDirectoryLayout*>(view_->data()); }
  // Whether the part, which is in the key directory, may be touched from now on.
  template <typename Part>
  bool open(const Part& part) {
    return view_->open(offset_in_key_directory(layout(), part), sizeof part);
  }
  KeyEntry* find(std::uint32_t key);
  bool open_parts_of_qp_entry(std::uint32_t qp_entry);

  // Fixed after construction.
  base::UniqueFd file_;
  std::unique_ptr<memory::SparseView> view_;
  base::Mutex<locks::kKeyDirectory> mutex_;
  // Guarded by mutex_.
  std::vector<std::uint32_t> free_qp_entries_;
  std::uint32_t fresh_qp_entry_ = 0;  // from here on never used
  // While suspended, by QP entry: the connection for which it is to be open again, 0: none; else empty.
  std::vector<std::uint64_t> suspended_;
};

}  // namespace softdat::simnic::direct
