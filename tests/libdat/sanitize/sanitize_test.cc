// SPDX-License-Identifier: BSD-2-Clause
// The parts of the sanitizer that need no adapter. tests/sanitize has the rules.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/fault_guard.h"
#include "libdat/sanitize/checksum.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/range_index.h"
#include "libdat/sanitize/rules.h"
#include "libdat/sanitize/suppressions.h"

namespace softdat::sanitize {
namespace {

Operation operation(OperationKind kind, std::uint64_t address, std::uint64_t length) {
  Operation made;
  made.kind = kind;
  made.ranges = {{.address = address, .length = length, .lkey = 1}};
  return made;
}

TEST(Checksum, TellsEveryChangedByte) {
  std::array<unsigned char, 200> bytes{};
  const auto address = reinterpret_cast<std::uint64_t>(bytes.data());
  for (std::size_t length = 1; length <= bytes.size(); ++length) {
    const auto before = checksum(address, length, 0);
    ASSERT_TRUE(before);
    for (std::size_t i = 0; i < length; ++i) {
      bytes[i] ^= 1;
      EXPECT_NE(checksum(address, length, 0), before) << i << " of " << length;
      bytes[i] ^= 1;
    }
    EXPECT_EQ(checksum(address, length, 0), before);
  }
}

TEST(Checksum, ContinuesThatOfOtherRanges) {
  const std::array<unsigned char, 16> bytes{1, 2, 3};
  const auto address = reinterpret_cast<std::uint64_t>(bytes.data());
  EXPECT_NE(checksum(address, 16, 1), checksum(address, 16, 2));
}

TEST(Checksum, IsNoneOfMemoryThatCannotBeRead) {
  ASSERT_TRUE(base::install_fault_guard());
  void* const page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  EXPECT_FALSE(checksum(reinterpret_cast<std::uint64_t>(page), 8, 0));
  ::munmap(page, 4096);
}

TEST(RangeIndex, FindsWhatStoresIntoTheSameBytes) {
  RangeIndex index;
  Operation receive = operation(OperationKind::kReceive, 100, 50);
  index.add(receive);
  for (const OperationKind kind : {OperationKind::kReceive, OperationKind::kSend, OperationKind::kRead}) {
    const RangeIndex::Clash clash = index.find_clash(operation(kind, 140, 100));
    EXPECT_EQ(clash.operation, &receive);
    EXPECT_EQ(clash.address, 140u);
    EXPECT_EQ(clash.length, 10u);
    EXPECT_EQ(index.find_clash(operation(kind, 150, 10)).operation, nullptr);
    EXPECT_EQ(index.find_clash(operation(kind, 90, 10)).operation, nullptr);
    EXPECT_EQ(index.find_clash(operation(kind, 0, 0)).operation, nullptr);
  }
  index.remove(receive);
  EXPECT_EQ(index.find_clash(operation(OperationKind::kSend, 100, 50)).operation, nullptr);
}

TEST(RangeIndex, LetsSeveralReadTheSameBytes) {
  RangeIndex index;
  Operation send = operation(OperationKind::kSend, 100, 50);
  index.add(send);
  EXPECT_EQ(index.find_clash(operation(OperationKind::kWrite, 100, 50)).operation, nullptr);
  EXPECT_EQ(index.find_clash(operation(OperationKind::kAtomic, 120, 8)).operation, &send);
}

TEST(RangeIndex, KeepsOperationsThatBeginAtOneByteApart) {
  RangeIndex index;
  Operation first = operation(OperationKind::kSend, 100, 10);
  Operation second = operation(OperationKind::kSend, 100, 20);
  index.add(first);
  index.add(second);
  index.remove(first);
  index.remove(first);
  EXPECT_EQ(index.find_clash(operation(OperationKind::kRead, 115, 1)).operation, &second);
}

TEST(Suppressions, AreARuleAndAPattern) {
  const Suppressions lines("# a comment\n\nleak\nover* *at server.c:*  # why\n", "file");
  EXPECT_TRUE(lines.matches("leak", {}));
  EXPECT_TRUE(lines.matches("overlap", {"dat_ep_post_recv, called by main at client.c:1", "f at server.c:12"}));
  EXPECT_FALSE(lines.matches("overlap", {"f at client.c:12"}));
  EXPECT_FALSE(lines.matches("overlap", {}));
  EXPECT_FALSE(lines.matches("a", {}));
}

TEST(Suppressions, AreNoneInAFileThatIsNotThere) {
  EXPECT_FALSE(Suppressions::read("/nowhere/at/all").matches("leak", {}));
}

TEST(Rules, HaveTextsAndNamesOfTheirOwn) {
  for (std::size_t i = 0; i < kRuleCount; ++i) {
    const RuleText& text = text_of(static_cast<Rule>(i));
    ASSERT_NE(text.name, nullptr) << i;
    EXPECT_EQ(text.rule[std::strlen(text.rule) - 1], '.') << text.name;
    EXPECT_EQ(text.remedy[std::strlen(text.remedy) - 1], '.') << text.name;
    for (std::size_t j = 0; j < i; ++j) EXPECT_STRNE(text_of(static_cast<Rule>(j)).name, text.name);
  }
}

// Called by way of a volatile pointer, so that the call has a frame.
FrameOwner owner_of_local() {
  volatile char local[64];
  local[0] = 1;
  const FrameOwner owner = find_owner(reinterpret_cast<std::uint64_t>(&local[0]));
  EXPECT_FALSE(has_returned(owner));
  return owner;
}

TEST(StackFrames, TellThatAFunctionHasReturned) {
  char outer[64] = "";
  const FrameOwner own = find_owner(reinterpret_cast<std::uint64_t>(outer));
  FrameOwner (*const volatile call)() = owner_of_local;
  const FrameOwner other = call();
  EXPECT_FALSE(has_returned(own));
  EXPECT_TRUE(has_returned(other));
}

TEST(StackFrames, DoNotOwnOtherMemory) {
  const auto heap = std::make_unique<char>();
  EXPECT_FALSE(has_returned(find_owner(reinterpret_cast<std::uint64_t>(heap.get()))));
}

}  // namespace
}  // namespace softdat::sanitize
