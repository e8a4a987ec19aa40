// SPDX-License-Identifier: BSD-2-Clause
// A unix socket with one packet in it, whose kernel is the test: recvmsg() on its number takes the packet from memory,
// and the descriptors that come along are numbers that only the test knows. The linker sends recvmsg(), fcntl(),
// fstat(), fstatfs(), close() and the reaper's close_foreign() here (WRAP in CMakeLists.txt); every other number goes
// on to the kernel. Nothing here takes a system call or a thread.
//
// The test sees more than a kernel would show. It ends the run when a descriptor that a peer sent
// * is asked anything but its seals before they have shown that it is a memfd: that may block on a foreign file system;
// * is closed by the receiving thread though it is no sealed memfd: that may block as long as the peer likes;
// * is closed twice, or used after its end.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace softdat::fuzz {

// What a peer may send.
enum class FileKind : unsigned char { kSealedMemory, kUnsealedMemory, kForeign, kHugePages };

struct MemoryPacket {
  std::span<const std::byte> data;
  std::span<const FileKind> files;
  bool is_cut = false;           // the kernel had to leave some descriptors out (MSG_CTRUNC)
  bool has_credentials = false;  // another control message precedes the descriptors
};

class MemorySocket {
 public:
  static constexpr std::size_t kMostFiles = 253;  // of one packet: the kernel's limit

  // The packet's bytes stay as they are until the end of the socket.
  explicit MemorySocket(const MemoryPacket& packet);
  ~MemorySocket();
  MemorySocket(const MemorySocket&) = delete;
  MemorySocket& operator=(const MemorySocket&) = delete;

  int number() const;
  // Of the packet's descriptors: how many are open.
  std::size_t open_files() const;
  // The position in the packet of the descriptor with that number; ends the run if it is none, or not open.
  std::size_t index_of(int number) const;
};

}  // namespace softdat::fuzz
