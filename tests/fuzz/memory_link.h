// SPDX-License-Identifier: BSD-2-Clause
// The peer's side of one link of a ShmCarrier, whose kernel is the test: the socket and the segment's memfd are numbers
// that only the test knows, and the mappings of the segment are the same ones for every link, wiped in between. So a
// link takes no system call. The linker sends the calls on these numbers here (WRAP in CMakeLists.txt); every other
// number goes on to the kernel. One link per process at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>

#include "transport/reactor.h"
#include "transport/shm/segment.h"

namespace softdat::fuzz {

class MemoryLink {
 public:
  static constexpr std::size_t kRingBytes = transport::shm::kSmallestRing;

  MemoryLink();
  // Ends the run if the segment's memfd is still open; waits for the end of the socket.
  ~MemoryLink();
  MemoryLink(const MemoryLink&) = delete;
  MemoryLink& operator=(const MemoryLink&) = delete;

  int socket() const;
  transport::shm::RingMemory ring_of(transport::shm::Side side) const;
  // A packet that the peer sends; its bytes stay as they are. `is_cut`: it carried descriptors without room.
  void send_packet(std::span<const std::byte> bytes, bool is_cut);
  void hang_up();
  bool is_readable() const;
};

// Tells sinks what the test wants them told; looks at no kernel.
class MemoryReactor final : public transport::Reactor {
 public:
  std::unique_ptr<Watch> watch(int fd, transport::ReadinessSink& sink) override;
  std::size_t dispatch(bool look) override;
  void prepare_wait() override {}
  void wait(base::Time) override {}
  void interrupt() override {}
  bool has_failed() const override { return false; }

 private:
  class LinkWatch;
  LinkWatch* watch_ = nullptr;  // of the link's socket
};

}  // namespace softdat::fuzz
