// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/recorder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>

#include "base/fault_guard.h"
#include "tests/flush.h"
#include "tests/scarce_memory.h"

namespace softdat::simnic::capture {
namespace {

using softdat::scarce_memory::allocations_left;

namespace fs = std::filesystem;
namespace pcapng = base::pcapng;

struct Capture {
  std::vector<std::string> packets;
  std::map<std::uint32_t, pcapng::Statistics> statistics;
  std::vector<std::string> interfaces;
};

class RecorderTest : public testing::Test {
 protected:
  RecorderTest() {
    std::string name = testing::TempDir() + "softdat_capture_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  ~RecorderTest() override { fs::remove_all(directory_); }

  std::unique_ptr<Recorder> record(std::size_t ring_size) {
    return std::make_unique<Recorder>(RecorderOptions{.directory = directory_, .ring_size = ring_size});
  }

  static void add(Recorder& recorder, std::string text, std::uint32_t interface = 0) {
    const transport::Slice slice{reinterpret_cast<std::byte*>(text.data()), text.size()};
    recorder.add({.head = {.interface = interface}, .payload = {&slice, 1}, .payload_length = text.size()});
  }

  Capture read(const std::string& name = "000000") const {
    std::ifstream file(directory_ + '/' + name + ".pcapng", std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    std::span<const std::byte> rest(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    Capture capture;
    while (const auto block = pcapng::take_block(rest)) {
      if (const auto packet = pcapng::read_packet(*block)) {
        capture.packets.emplace_back(reinterpret_cast<const char*>(packet->data.data()), packet->data.size());
      }
      if (const auto statistics = pcapng::read_statistics(*block)) {
        capture.statistics[statistics->interface] = *statistics;
      }
      if (const auto interface = pcapng::read_interface(*block)) capture.interfaces.emplace_back(interface->name);
    }
    EXPECT_TRUE(rest.empty()) << "the file ends within a block";
    return capture;
  }

  std::string directory_;
};

TEST_F(RecorderTest, WritesWhatItTakesInOrder) {
  constexpr int kCount = 5000;  // goes round the ring many times
  const auto recorder = record(std::size_t{64} << 10);
  recorder->add_interface("one", "");
  std::vector<std::string> expected;
  for (int i = 0; i < kCount; ++i) {
    expected.push_back(std::to_string(i) + std::string(static_cast<std::size_t>(i) % 300, 'x'));
    add(*recorder, expected.back());
    if (i % 50 == 49) flush(*recorder);
  }
  flush(*recorder);
  const Capture capture = read();
  EXPECT_EQ(capture.packets, expected);
  EXPECT_EQ(capture.interfaces, std::vector<std::string>{"one"});
  EXPECT_EQ(capture.statistics.at(0).received, static_cast<std::uint64_t>(kCount));
  EXPECT_EQ(capture.statistics.at(0).dropped, 0u);
}

TEST_F(RecorderTest, WritesWithoutBeingAskedTo) {
  const auto recorder = record(std::size_t{64} << 10);
  recorder->add_interface("one", "");
  add(*recorder, "alone");
  while (read().packets.empty()) ::usleep(1000);
  EXPECT_EQ(read().packets.front(), "alone");
}

TEST_F(RecorderTest, CountsWhatFindsNoRoom) {
  const auto recorder = record(4096);
  recorder->add_interface("one", "");
  recorder->add_interface("two", "");
  add(*recorder, std::string(5000, 'x'), 1);
  add(*recorder, "small", 1);
  flush(*recorder);
  const Capture capture = read();
  EXPECT_EQ(capture.packets, std::vector<std::string>{"small"});
  EXPECT_EQ(capture.statistics.at(0).dropped, 0u);
  EXPECT_EQ(capture.statistics.at(1).dropped, 1u);
  EXPECT_EQ(capture.statistics.at(1).received, 2u);
}

TEST_F(RecorderTest, CutsAPacketWhereItsPayloadIsNotKnown) {
  const auto recorder = record(4096);
  recorder->add_interface("one", "");
  std::string front = "front", text = "payload";
  const transport::Slice slice{reinterpret_cast<std::byte*>(text.data()), 3};
  Record packet{.front = std::as_bytes(std::span(front)), .payload = {&slice, 1}, .payload_length = 3, .back = 4};
  recorder->add(packet);
  packet.payload_length = 7;
  recorder->add(packet);
  flush(*recorder);
  const std::vector<std::string> expected{std::string("frontpay\0\0\0\0", 12), "frontpay"};
  EXPECT_EQ(read().packets, expected);
}

// A disk that is full fails in the same way, but for the number.
TEST_F(RecorderTest, LosesPacketsAndNotTheFileWhenTheDiskIsFull) {
  const auto recorder = record(std::size_t{64} << 10);
  recorder->add_interface("one", "");
  add(*recorder, "before");
  flush(*recorder);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = 2048, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  for (int i = 0; i < 10; ++i) add(*recorder, std::string(1000, 'x'));
  flush(*recorder);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  const std::size_t kept = read().packets.size();
  add(*recorder, "after");
  flush(*recorder);
  const Capture capture = read();
  EXPECT_EQ(capture.packets.size(), kept + 1);
  EXPECT_EQ(capture.packets.front(), "before");
  EXPECT_EQ(capture.packets.back(), "after");
  EXPECT_EQ(capture.statistics.at(0).received, 12u);
  EXPECT_EQ(capture.statistics.at(0).dropped, 12 - capture.packets.size());
  EXPECT_GT(capture.statistics.at(0).dropped, 0u);
}

// Opening an adapter that fails with bad_alloc leaves nothing in the file.
TEST_F(RecorderTest, AddsAnInterfaceAsAWholeOrNotAtAll) {
  const auto recorder = record(std::size_t{64} << 10);
  int allocations = 0;
  for (bool is_added = false; !is_added;) {
    ASSERT_LT(allocations, 100);
    allocations_left = allocations++;
    try {
      recorder->add_interface("a name", "a description");
      is_added = true;
    } catch (const std::bad_alloc&) {
      is_added = false;
    }
    allocations_left = -1;
  }
  add(*recorder, "text");
  flush(*recorder);
  const Capture capture = read();
  EXPECT_EQ(capture.interfaces, std::vector<std::string>{"a name"});
  EXPECT_EQ(capture.packets, std::vector<std::string>{"text"});
}

TEST_F(RecorderTest, GivesEachProcessAFileOfItsOwn) {
  const auto first = record(4096);
  const auto second = record(4096);
  EXPECT_EQ(first->number(), 0u);
  EXPECT_EQ(second->number(), 1u);
  second->add_interface("two", "");
  add(*second, "text");
  flush(*second);
  EXPECT_TRUE(read("000000").packets.empty());
  EXPECT_EQ(read("000001").packets.size(), 1u);
}

TEST_F(RecorderTest, RefusesADirectoryThatIsNotThere) {
  EXPECT_THROW(Recorder({.directory = directory_ + "/none", .ring_size = 4096}), std::system_error);
}

// Memory that is gone becomes zeros, as no packet may end the process.
TEST_F(RecorderTest, SurvivesPayloadThatCannotBeRead) {
  const auto recorder = record(4096);
  recorder->add_interface("one", "");
  const transport::Slice nowhere{nullptr, 8};
  if (base::install_fault_guard()) {
    recorder->add({.payload = {&nowhere, 1}, .payload_length = 8});
    flush(*recorder);
    EXPECT_EQ(read().packets, std::vector<std::string>{std::string(8, '\0')});
  }
}

}  // namespace
}  // namespace softdat::simnic::capture
