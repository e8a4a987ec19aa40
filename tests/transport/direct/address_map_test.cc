// SPDX-License-Identifier: BSD-2-Clause
#include "transport/direct/address_map.h"

#include <memory>
#include <thread>

#include "tests/transport/direct/pages.h"

namespace softdat::transport::direct::testing {
namespace {

MappingKind kind_at(const void* where) {
  const auto address = reinterpret_cast<std::uint64_t>(where);
  const AddressMap map = read_address_map(address, address + 1, {});
  EXPECT_EQ(map.mappings.size(), 1u);
  return map.mappings.empty() ? MappingKind::kForeign : map.mappings.front().kind;
}

TEST(AddressMap, PrivatePagesArePlain) {
  const Pages pages(4);
  EXPECT_EQ(kind_at(pages.data()), MappingKind::kPlain);
}

TEST(AddressMap, SharedPagesAreForeign) {
  const Pages pages(4, MAP_SHARED | MAP_ANONYMOUS);
  EXPECT_EQ(kind_at(pages.data()), MappingKind::kForeign);
}

TEST(AddressMap, TheStackIsForeign) {
  const int here = 0;
  EXPECT_EQ(kind_at(&here), MappingKind::kForeign);
}

TEST(AddressMap, AStackOfAThreadIsForeign) {
  std::thread([] {
    const int here = 0;
    EXPECT_EQ(kind_at(&here), MappingKind::kForeign);
  }).join();
}

TEST(AddressMap, CodeIsForeign) {
  EXPECT_EQ(kind_at(reinterpret_cast<const void*>(&identify_file)), MappingKind::kForeign);
}

TEST(AddressMap, AViewOfTheFileIsKnownWithItsPlace) {
  const base::UniqueFd file = create_shared_file("test", 16 * kPage);
  ASSERT_TRUE(static_cast<bool>(file));
  const SharedView view(file.get(), 2 * kPage, 4 * kPage, SharedView::Rights::kReadWrite);
  const auto address = reinterpret_cast<std::uint64_t>(view.data());
  const AddressMap map = read_address_map(address, address + kPage, identify_file(file.get()));
  ASSERT_EQ(map.mappings.size(), 1u);
  EXPECT_EQ(map.mappings.front().kind, MappingKind::kArena);
  EXPECT_EQ(map.mappings.front().file_offset, 2 * kPage);
}

TEST(AddressMap, WhatIsNotMappedIsNotThere) {
  auto pages = std::make_unique<Pages>(1);
  const std::uint64_t address = pages->address();
  pages.reset();
  const AddressMap map = read_address_map(address, address + kPage, {});
  for (const Mapping& mapping : map.mappings) EXPECT_TRUE(mapping.end <= address || mapping.begin > address);
}

}  // namespace
}  // namespace softdat::transport::direct::testing
