// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/segment_places.h"

#include <sys/mman.h>

#include <algorithm>

namespace softdat::transport::shm {
namespace {

std::byte* map_nothing(std::byte* at, std::size_t length, int protection) {
  const int fixed = at == nullptr ? 0 : MAP_FIXED;
  void* const got = ::mmap(at, length, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  return got == MAP_FAILED ? nullptr : static_cast<std::byte*>(got);
}

}  // namespace

SegmentPlaces::~SegmentPlaces() {
  for (const Place& place : kept_) ::munmap(place.at, place.length);
}

std::byte* SegmentPlaces::take(std::size_t length) {
  kept_.reserve(kept_.size() + taken_ + 1);  // so that give_back() allocates nothing
  const auto found = std::ranges::find(kept_, length, &Place::length);
  std::byte* const at = found == kept_.end() ? map_nothing(nullptr, length, PROT_NONE) : found->at;
  if (at == nullptr) return nullptr;
  if (found != kept_.end()) kept_.erase(found);
  ++taken_;
  return at;
}

void SegmentPlaces::give_back(std::byte* at, std::size_t length) {
  --taken_;
  // Readable zeros stay at the address: a poll without the baton may still look at a word of the link that has ended
  // (transport/watch_words.h).
  if (map_nothing(at, length, PROT_READ) != nullptr) {
    kept_.push_back({at, length});
  } else {
    ::munmap(at, length);
  }
}

}  // namespace softdat::transport::shm
