// SPDX-License-Identifier: BSD-2-Clause
// The void mark: a message whose memory cannot be read any more, while the socket has its last FPDU in part, ends with
// a Terminate and is not delivered.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <optional>

#include "base/fault_guard.h"
#include "tests/transport/tcp/bytes.h"
#include "tests/transport/tcp/inbound_harness.h"
#include "tests/transport/tcp/socket_pair.h"
#include "transport/tcp/inbound.h"
#include "transport/tcp/outbound.h"

namespace softdat::transport::tcp {
namespace {

constexpr std::size_t kPayload = 60000;
constexpr TerminateCode kReason{.layer = 0, .type = 0, .code = 0};

// Payload that the test can take away.
class Memory final : public PayloadSource {
 public:
  Memory() : data_(::mmap(nullptr, kPayload, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Memory() { ::munmap(data_, kPayload); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  bool gather(std::uint64_t offset, std::size_t length, SliceList& out) override {
    return out.add(static_cast<std::byte*>(data_) + offset, length);
  }
  void take_away() { ASSERT_EQ(::mprotect(data_, kPayload, PROT_NONE), 0); }

 private:
  void* const data_;
};

class Listener final : public InboundSink {
 public:
  Placement place(const Arrival& arrival, SliceList&) override {
    payload += arrival.length;
    return Placement::kDiscard;
  }
  void on_fault(const Arrival&) override {}
  void on_message(const Message& message) override {
    if (message.opcode == Opcode::kTerminate) {
      terminate = message.terminate;
    } else {
      ++messages;
    }
  }
  void on_ready_to_receive(const Message&) override {}
  bool is_receiving() const override { return !terminate; }

  std::size_t payload = 0;
  int messages = 0;
  std::optional<TerminateCode> terminate;
};

// Two ends of a stream that holds less than a message.
class VoidTest : public testing::TestWithParam<Opcode> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(base::install_fault_guard());
    const int little = 4096;
    ASSERT_EQ(::setsockopt(sockets_.writer.get(), SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
  }
  void start(bool knows_voids) {
    stream_.start({.knows_notes = true, .knows_voids = knows_voids, .max_ulpdu = 61440 + kTaggedHeadSize});
    inbound_.start({.knows_notes = true, .knows_voids = knows_voids});
  }
  // Sends a message of one FPDU, and takes its memory away when the socket has a part of it.
  void send_in_part() {
    const Message message{.opcode = GetParam(), .length = kPayload, .stag = 7};
    ASSERT_EQ(outbound_.send(sockets_.writer.get(), message, &memory_), WriteStatus::kBlocked);
    ASSERT_FALSE(stream_.is_at_border());
    memory_.take_away();
    WriteStatus status = WriteStatus::kBlocked;
    while (status == WriteStatus::kBlocked) {
      inbound_.read(sockets_.reader.get(), kPayload);
      status = outbound_.send(sockets_.writer.get(), message, &memory_);
    }
    ASSERT_EQ(status, WriteStatus::kFaultMidway);
  }
  void read_all() {
    WriteStatus status = WriteStatus::kBlocked;
    while (status == WriteStatus::kBlocked) {
      status = stream_.flush(sockets_.writer.get());
      inbound_.read(sockets_.reader.get(), kPayload);
    }
    ASSERT_EQ(status, WriteStatus::kDone);
    inbound_.read(sockets_.reader.get(), kPayload);
  }

  BufferPool pool_;
  Memory memory_;
  Listener listener_;
  SocketPair sockets_;
  OutboundStream stream_{pool_};
  Outbound outbound_{stream_};
  Inbound inbound_{pool_, listener_};
};

INSTANTIATE_TEST_SUITE_P(Opcodes, VoidTest, testing::Values(Opcode::kSend, Opcode::kWrite, Opcode::kReadResponse));

TEST_P(VoidTest, ALastFpduWhoseMemoryHasGoneIsFollowedByATerminateAndNotDelivered) {
  start(true);
  send_in_part();
  ASSERT_TRUE(stream_.is_at_border());
  stream_.append_terminate({.code = kReason});
  read_all();
  EXPECT_EQ(listener_.payload, kPayload);
  EXPECT_EQ(listener_.messages, 0);
  EXPECT_EQ(listener_.terminate, kReason);
}

// It would deliver zeros.
TEST_P(VoidTest, APeerThatKnowsNoVoidsGetsNothingMore) {
  start(false);
  send_in_part();
  EXPECT_FALSE(stream_.is_at_border());
  EXPECT_TRUE(stream_.is_flushed());
}

// A Send, void if `mark` stands in its CRC field, and a Terminate.
Bytes stream_with(const Bytes& mark) {
  Bytes send = make_fpdu({.opcode = Opcode::kSend, .queue = 0, .sequence = 1}, Bytes(21));
  send.resize(send.size() - mark.size());
  return send + mark + make_fpdu({.opcode = Opcode::kTerminate, .queue = 2, .sequence = 1}, hex("00 00 00 00"));
}

TEST(VoidMark, IsReadHoweverTheStreamIsCut) {
  for (std::size_t cut = 1; cut < 60; ++cut) {
    EXPECT_EQ(feed(stream_with(hex("ff ff ff ff")), {.knows_voids = true}, cut).messages, 1u) << cut;
    EXPECT_EQ(feed(stream_with(hex("00 00 00 00")), {.knows_voids = true}, cut).messages, 2u) << cut;
  }
}

// RFC 5044 lets a sender without CRC write anything there.
TEST(VoidMark, IsNoneWhereItWasNotAgreedOn) {
  EXPECT_EQ(feed(stream_with(hex("ff ff ff ff")), {}, 1000).messages, 2u);
}

TEST(VoidMark, IsAWholeWord) {
  EXPECT_EQ(feed(stream_with(hex("ff ff ff 00")), {.knows_voids = true}, 1000).messages, 2u);
  EXPECT_EQ(feed(stream_with(hex("00 ff ff ff")), {.knows_voids = true}, 1000).messages, 2u);
}

}  // namespace
}  // namespace softdat::transport::tcp
