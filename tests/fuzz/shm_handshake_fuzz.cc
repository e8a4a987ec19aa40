// SPDX-License-Identifier: BSD-2-Clause
// The packets by which two processes of one host come to share a link. Nothing but sealed memfds that were sent is
// taken, in their order, and no descriptor is left open.
//
// The input: bits 0-3 of the first byte say how many descriptors come along (15: as many as the kernel allows), bit 6
// adds a control message before them, bit 7 says that some were left out. The next two bytes are the kinds of eight of
// them, two bits each, and those of the others again. The rest is the packet.
#include <algorithm>
#include <array>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/memory_socket.h"
#include "transport/shm/handshake.h"

namespace softdat::fuzz {
namespace {

using namespace softdat::transport::shm;

constexpr std::size_t kHead = 3;

struct Sent {
  MemoryPacket packet;
  std::array<FileKind, MemorySocket::kMostFiles> kinds;
};

void read_input(Input input, Sent& sent) {
  const auto byte = [&](std::size_t at) { return std::to_integer<unsigned>(input[at]); };
  const std::size_t count = (byte(0) & 15) == 15 ? sent.kinds.size() : byte(0) & 15;
  const unsigned kinds = byte(1) | byte(2) << 8;
  for (std::size_t i = 0; i < count; ++i) sent.kinds[i] = static_cast<FileKind>(kinds >> 2 * (i % 8) & 3);
  sent.packet = {.data = input.subspan(kHead),
                 .files = std::span(sent.kinds).first(count),
                 .is_cut = (byte(0) & 0x80) != 0,
                 .has_credentials = (byte(0) & 0x40) != 0};
}

bool are_all_sealed(const Sent& sent) {
  const auto& files = sent.packet.files;
  return std::all_of(files.begin(), files.end(), [](FileKind kind) { return kind == FileKind::kSealedMemory; });
}

// A packet that counts has nothing but sealed memfds, and no more of them than any packet has.
void expect_good(const Sent& sent, ReceiveResult result) {
  expect(result != ReceiveResult::kNothing, "a packet that is there is received");
  if (result != ReceiveResult::kPacket) return;
  expect(!sent.packet.is_cut && sent.packet.files.size() <= kMostFds && are_all_sealed(sent),
         "a packet with any other descriptor does not count");
}

// Whether the descriptors taken are the first ones that were sent, in their order; as many as were taken stay open.
void expect_taken(const MemorySocket& socket, std::initializer_list<const base::UniqueFd*> taken) {
  std::size_t count = 0;
  for (const base::UniqueFd* fd : taken) {
    if (*fd) expect(socket.index_of(fd->get()) == count++, "descriptors are taken in their order");
  }
  expect(socket.open_files() == count, "what is not taken is closed");
}

void receive_as_hello(const Sent& sent) {
  const MemorySocket socket(sent.packet);
  {
    Hello hello;
    const ReceiveResult result = receive_hello(socket.number(), hello);
    expect_good(sent, result);
    expect_taken(socket, {&hello.files[0], &hello.files[1]});
    const bool shares = (hello.features & kSharesFiles) != 0;
    if (result == ReceiveResult::kPacket) expect(shares == bool(hello.files[1]), "what is promised comes along");
  }
  expect(socket.open_files() == 0, "no descriptor stays open");
}

void receive_as_welcome(const Sent& sent) {
  const MemorySocket socket(sent.packet);
  {
    Welcome welcome;
    const ReceiveResult result = receive_welcome(socket.number(), welcome);
    expect_good(sent, result);
    expect_taken(socket, {&welcome.memory, &welcome.files[0], &welcome.files[1]});
    const bool is_new = welcome.answer == Answer::kNewLink;
    if (result == ReceiveResult::kPacket) expect(is_new == bool(welcome.memory), "a new link has memory");
  }
  expect(socket.open_files() == 0, "no descriptor stays open");
}

}  // namespace

void run_input(Input input) {
  if (input.size() < kHead) return;
  static Sent sent;
  read_input(input, sent);
  receive_as_hello(sent);
  receive_as_welcome(sent);
}

}  // namespace softdat::fuzz
