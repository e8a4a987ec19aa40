// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/direct/key_directory.h"

#include <new>
#include <utility>

namespace softdat::simnic::direct {

using memory::SparseView;

KeyDirectory::KeyDirectory() : file_(memory::create_shared_file("softdat-key-directory", kKeyDirectoryBytes)) {
  if (!file_) return;
  auto view = std::make_unique<SparseView>(file_.get(), 0, kKeyDirectoryBytes, SparseView::Rights::kReadWrite);
  // Only the parts that are used are opened, so a key directory of a few keys costs a few pages.
  if (!*view || !view->open(0, kKeyDirectoryHead)) return;
  view_ = std::move(view);
  memory::forbid_new_writers(file_.get());
  // The rest begins as the zeros of a new file, and is never constructed.
  new (&own().header) KeyDirectoryHeader{.magic = kKeyDirectoryMagic, .version = kKeyDirectoryVersion};
}

// Returns null if the system refuses a mapping; then the key was never published.
KeyEntry* KeyDirectory::find(std::uint32_t key) {
  KeyEntry& entry = own().keys[(key >> kKeyTagBits) % kKeyEntries];
  return open(entry) ? &entry : nullptr;
}

void KeyDirectory::publish(std::uint32_t key, const Grant& grant, std::uint64_t offset) {
  KeyEntry* const found = find(key);
  if (found == nullptr) return;
  KeyEntry& entry = *found;
  entry.access.store(grant.access, std::memory_order_relaxed);
  entry.domain.store(grant.domain, std::memory_order_relaxed);
  entry.address.store(grant.address, std::memory_order_relaxed);
  entry.length.store(grant.length, std::memory_order_relaxed);
  entry.offset.store(offset, std::memory_order_relaxed);
  // Last: a peer that reads this key sees the fields above.
  entry.key.store(key, std::memory_order_release);
}

bool KeyDirectory::withdraw(std::uint32_t key) {
  KeyEntry* const entry = find(key);
  if (entry == nullptr || entry->key.load(std::memory_order_relaxed) != key) return false;
  // Store, then look at the peers' pins (PinDrain). A peer stores its pin and then loads the key: either it finds no
  // key, or its pin is seen.
  entry->key.store(0, std::memory_order_seq_cst);
  return true;
}

void KeyDirectory::mark_cut(std::uint32_t key) {
  if (KeyEntry* const entry = find(key)) entry->cut.store(key, std::memory_order_seq_cst);
}

// Marked first: a peer that finds its copy cut off (Grip::was_cut) repeats it by a message.
void KeyDirectory::take_back(std::uint32_t key) {
  mark_cut(key);
  static_cast<void>(withdraw(key));
}

std::optional<std::uint32_t> KeyDirectory::add_owner(std::uint64_t arena) {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t i = 0; i < kOwners; ++i) {
    std::atomic<std::uint64_t>& owner = own().owners[i];
    if (owner.load(std::memory_order_relaxed) != 0) continue;
    // An owner's number stands in each pin, and names the arena that the pin is about.
    owner.store(arena, std::memory_order_seq_cst);
    return i;
  }
  return std::nullopt;
}

void KeyDirectory::remove_owner(std::uint32_t owner) {
  own().owners[owner].store(0, std::memory_order_seq_cst);
}

bool KeyDirectory::open_parts_of_qp_entry(std::uint32_t qp_entry) {
  return open(own().qp_entries[qp_entry]) && open(own().receives[qp_entry]);
}

std::optional<std::uint32_t> KeyDirectory::take_qp_entry(std::uint32_t domain) {
  std::uint32_t qp_entry = 0;
  bool is_used = false;
  {
    const std::lock_guard lock(mutex_);
    if (free_qp_entries_.empty() && fresh_qp_entry_ == kQpEntries) return std::nullopt;
    if (free_qp_entries_.empty()) {
      // So that giving it back takes no memory.
      if (free_qp_entries_.capacity() <= fresh_qp_entry_)
        free_qp_entries_.reserve(2 * std::size_t{fresh_qp_entry_} + 16);
      qp_entry = fresh_qp_entry_++;
    } else {
      qp_entry = free_qp_entries_.back();
      free_qp_entries_.pop_back();
      is_used = true;
    }
  }
  if (!open_parts_of_qp_entry(qp_entry)) {
    give_qp_entry_back(qp_entry);
    return std::nullopt;
  }
  // The receives of a queue pair that had it before would pass for those of the next.
  for (ReceiveEntry& entry : own().receives[qp_entry]) {
    if (is_used && entry.number.load(std::memory_order_relaxed) != 0) entry.number.store(0, std::memory_order_relaxed);
  }
  own().qp_entries[qp_entry].domain.store(domain, std::memory_order_relaxed);
  return qp_entry;
}

void KeyDirectory::give_qp_entry_back(std::uint32_t qp_entry) {
  const std::lock_guard lock(mutex_);
  free_qp_entries_.push_back(qp_entry);
}

void KeyDirectory::open_qp_entry(std::uint32_t qp_entry, std::uint64_t connection) {
  const std::lock_guard lock(mutex_);
  if (!suspended_.empty()) {
    // A live capture is running: direct access, which it could not see, stays closed until resume().
    suspended_[qp_entry] = connection;
    return;
  }
  own().qp_entries[qp_entry].open_for.store(connection, std::memory_order_release);
}

void KeyDirectory::close_qp_entry(std::uint32_t qp_entry) {
  const std::lock_guard lock(mutex_);
  if (!suspended_.empty()) suspended_[qp_entry] = 0;
  // Store, then look at the peers' pins, as in withdraw().
  own().qp_entries[qp_entry].open_for.store(0, std::memory_order_seq_cst);
}

// Closes every QP entry and remembers for which connection it was open. Allocates first, so that nothing fails half
// way.
void KeyDirectory::suspend() {
  std::vector<std::uint64_t> suspended(kQpEntries);
  const std::lock_guard lock(mutex_);
  if (!suspended_.empty()) return;
  for (std::uint32_t qp_entry = 0; qp_entry < fresh_qp_entry_; ++qp_entry) {
    if (open_parts_of_qp_entry(qp_entry))
      suspended[qp_entry] = own().qp_entries[qp_entry].open_for.exchange(0, std::memory_order_seq_cst);
  }
  suspended_ = std::move(suspended);
}

void KeyDirectory::resume() {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t qp_entry = 0; qp_entry < suspended_.size(); ++qp_entry) {
    if (suspended_[qp_entry] != 0)
      own().qp_entries[qp_entry].open_for.store(suspended_[qp_entry], std::memory_order_release);
  }
  suspended_.clear();
  suspended_.shrink_to_fit();
}

// With the posting lock of the queue pair that has the QP entry.
void KeyDirectory::publish_receive(std::uint32_t qp_entry, std::uint64_t number, const Receive& receive) {
  ReceiveEntry& entry = own().receives[qp_entry][number % kReceives];
  entry.count.store(receive.count, std::memory_order_relaxed);
  for (std::size_t i = 0; i < receive.count; ++i) {
    entry.segments[i].address.store(receive.segments[i].address, std::memory_order_relaxed);
    entry.segments[i].length.store(receive.segments[i].length, std::memory_order_relaxed);
    entry.segments[i].key.store(receive.segments[i].key, std::memory_order_relaxed);
  }
  // Last: a sender that reads this number sees the segments. Numbers begin at 1, because a new key directory is zeros.
  entry.number.store(number + 1, std::memory_order_release);
}

// Each queue pair has one pin at a time, and begins its search where no other does, usually.
Pin KeyDirectory::pin(std::uint64_t word) {
  const std::size_t first = qp_entry_of(word);
  for (std::size_t i = 0; i < kPinSlots; ++i) {
    std::atomic<std::uint64_t>& slot = own().pins[(first + i) % kPinSlots].word;
    std::uint64_t seen = slot.load(std::memory_order_relaxed);
    if (is_claimed(seen)) continue;
    // Each of 256 claims of a slot has another word, so an owner that waits for a pin can tell it from the next one
    // there.
    const std::uint64_t claims = claims_of(seen + 1);
    if (slot.compare_exchange_strong(seen, word | claims, std::memory_order_seq_cst)) return Pin(slot, claims);
  }
  return {};
}

}  // namespace softdat::simnic::direct
