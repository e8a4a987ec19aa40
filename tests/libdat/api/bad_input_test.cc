// SPDX-License-Identifier: BSD-2-Clause
// Wrong arguments straight through the provider table, without a registry that could catch them:
// each slot, each argument. A refused call answers the documented error and writes nothing.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

#include "libdat/api/return_code.h"
#include "tests/libdat/api/slots.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::Kind;
using object::kKindCount;

constexpr unsigned char kPattern = 0xa5;
constexpr int kRandomHandles = 200;

class BadInput : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    live_ = new LiveObjects;
    create_live_objects(*live_);
  }
  static void TearDownTestSuite() {
    close_live_objects(*live_);
    delete live_;
  }

  void SetUp() override { ASSERT_NE(live_->cr, nullptr) << "the objects could not be made"; }

  void fill_outputs() { std::memset(&outputs_, kPattern, sizeof(outputs_)); }

  bool are_outputs_untouched() const {
    for (const std::byte byte : outputs_.bytes)
      if (byte != std::byte{kPattern}) return false;
    return true;
  }

  void expect_refused(const HandleSlot& slot, DAT_HANDLE handle, const char* why) {
    fill_outputs();
    const DAT_RETURN answer = slot.call(*live_, outputs_, handle);
    EXPECT_EQ(answer, return_code(object::invalid_handle(slot.answer)))
        << slot.name << " with " << why << " " << handle << ": 0x" << std::hex << answer;
    EXPECT_TRUE(are_outputs_untouched()) << slot.name << " with " << why;
  }

  static LiveObjects* live_;
  Outputs outputs_;
};

LiveObjects* BadInput::live_ = nullptr;

DAT_HANDLE shifted(DAT_HANDLE handle, std::ptrdiff_t bytes) {
  return reinterpret_cast<DAT_HANDLE>(reinterpret_cast<std::intptr_t>(handle) + bytes);
}

TEST_F(BadInput, EverySlotIsFilledAndInTheTables) {
  std::set<std::size_t> slots;
  for (const HandleSlot& slot : handle_slots()) slots.insert(slot.slot);
  for (const ArgumentSlot& slot : argument_slots()) slots.insert(slot.slot);
  for (std::size_t offset = offsetof(DAT_PROVIDER, ia_open_func); offset < sizeof(DAT_PROVIDER);
       offset += sizeof(void*)) {
    void* function = nullptr;
    std::memcpy(&function, reinterpret_cast<const char*>(live_->table) + offset, sizeof(function));
    EXPECT_NE(function, nullptr) << "slot at " << offset;
    EXPECT_TRUE(slots.contains(offset)) << "slot at " << offset;
  }
}

TEST_F(BadInput, NullHandles) {
  for (const HandleSlot& slot : handle_slots())
    if (slot.rule != HandleSlot::kNullAllowed) expect_refused(slot, nullptr, "null");
}

TEST_F(BadInput, MisalignedHandles) {
  for (const HandleSlot& slot : handle_slots())
    for (const std::ptrdiff_t shift : {-8, -1, 1, 2, 4, 8, 12, 24})
      if (const DAT_HANDLE right = live_->of(slot.kind); right != nullptr)
        expect_refused(slot, shifted(right, shift), "misaligned");
}

TEST_F(BadInput, HandlesOfEveryOtherKind) {
  for (const HandleSlot& slot : handle_slots()) {
    if (slot.rule == HandleSlot::kAnyKind) continue;
    for (std::size_t kind = 0; kind < kKindCount; ++kind)
      if (const DAT_HANDLE wrong = live_->of(static_cast<Kind>(kind));
          wrong != nullptr && static_cast<Kind>(kind) != slot.kind)
        expect_refused(slot, wrong, "the wrong kind");
  }
}

TEST_F(BadInput, AddressesThatAreNoHandles) {
  int local = 0;
  const DAT_HANDLE addresses[] = {&local,
                                  shifted(nullptr, 2),
                                  shifted(nullptr, 3),
                                  shifted(nullptr, 4096),
                                  shifted(nullptr, -1),
                                  const_cast<DAT_PROVIDER*>(live_->table),
                                  live_->memory.data()};
  for (const HandleSlot& slot : handle_slots())
    for (const DAT_HANDLE address : addresses) expect_refused(slot, address, "no handle");
}

TEST_F(BadInput, RandomHandles) {
  std::mt19937_64 random(20260);
  const auto slots = handle_slots();
  for (int i = 0; i < kRandomHandles; ++i) {
    const std::uint64_t bits = random();
    // A third anywhere, a third near the living, a third in the lower half where memory is.
    const auto near = reinterpret_cast<std::uint64_t>(live_->pz) + (bits & 0xffff8) + 0x100000;
    const std::uint64_t choices[] = {bits, near, bits >> 17};
    const auto handle = reinterpret_cast<DAT_HANDLE>(choices[i % 3]);
    for (const HandleSlot& slot : slots) expect_refused(slot, handle, "random");
  }
}

TEST_F(BadInput, FreedHandles) {
  LiveObjects dead;
  create_live_objects(dead);
  close_live_objects(dead);
  for (const HandleSlot& slot : handle_slots())
    for (std::size_t kind = 0; kind < kKindCount; ++kind)
      if (const DAT_HANDLE stale = dead.of(static_cast<Kind>(kind)); stale != nullptr)
        expect_refused(slot, stale, "a freed object");
}

TEST_F(BadInput, WrongArguments) {
  for (const ArgumentSlot& slot : argument_slots()) {
    fill_outputs();
    const DAT_RETURN answer = slot.call(*live_, outputs_);
    EXPECT_EQ(answer, return_code(slot.answer)) << slot.name << ": 0x" << std::hex << answer;
    EXPECT_TRUE(are_outputs_untouched()) << slot.name;
  }
}

// After all that the objects are what they were.
TEST_F(BadInput, TheObjectsAreUnharmed) {
  for (const HandleSlot& slot : handle_slots()) expect_refused(slot, shifted(nullptr, 5), "small");
  for (std::size_t kind = 0; kind < kKindCount; ++kind) {
    const DAT_HANDLE handle = live_->of(static_cast<Kind>(kind));
    if (handle == nullptr) continue;
    DAT_HANDLE_TYPE type{};
    EXPECT_EQ(live_->table->get_handle_type_func(handle, &type), static_cast<DAT_RETURN>(DAT_SUCCESS));
    EXPECT_EQ(static_cast<std::size_t>(type), kind);
  }
  DAT_EP_STATE state{};
  EXPECT_EQ(live_->table->ep_get_status_func(live_->ep, &state, nullptr, nullptr),
            static_cast<DAT_RETURN>(DAT_SUCCESS));
  EXPECT_EQ(state, DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
}

}  // namespace
}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
