// SPDX-License-Identifier: BSD-2-Clause
// SegmentPlaces: the addresses of the rings of one carrier, those of links that have ended among them. They stay
// readable until the carrier ends, as zeros or as the ring of another link: a polling thread may load a word of a ring
// that the holder of the baton has just given up (transport/watch_words.h), and a handler of the program's may stand
// where the fault guard's was. An address that is kept costs no memory. There are as many as there were rings at once.
//
// Owned by the carrier. With the baton. It outlives the segments that use it.
#pragma once

#include <cstddef>
#include <vector>

namespace softdat::transport::shm {

class SegmentPlaces {
 public:
  SegmentPlaces() = default;
  ~SegmentPlaces();
  SegmentPlaces(const SegmentPlaces&) = delete;
  SegmentPlaces& operator=(const SegmentPlaces&) = delete;

  // A place of so many bytes, to be mapped by the caller. Null if the system has no room. Throws std::bad_alloc.
  std::byte* take(std::size_t length);
  // Removes what is mapped there, and keeps the address. Never fails.
  void give_back(std::byte* at, std::size_t length);

 private:
  struct Place {
    std::byte* at;
    std::size_t length;
  };

  std::vector<Place> kept_;
  std::size_t taken_ = 0;
};

}  // namespace softdat::transport::shm
