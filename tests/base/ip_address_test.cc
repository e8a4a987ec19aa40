// SPDX-License-Identifier: BSD-2-Clause
#include "base/ip_address.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "base/local_addresses.h"

namespace softdat::base {
namespace {

IpAddress read(const char* text) {
  const auto address = read_ip_address(text);
  EXPECT_TRUE(address.has_value()) << text;
  return address.value_or(IpAddress{});
}

TEST(IpAddress, IsReadAndWrittenInBothFamilies) {
  EXPECT_EQ(read("127.0.0.1").ipv4, 0x7f000001u);
  EXPECT_FALSE(read("127.0.0.1").is_ipv6());
  EXPECT_TRUE(read("::1").is_ipv6());
  EXPECT_EQ(read("[::1]"), read("::1"));
  for (const char* text : {"10.1.2.3", "::1", "fd00::5", "fe80::1%lo"}) EXPECT_EQ(text_of(read(text)), text);
}

TEST(IpAddress, IsNoNameAndNoRubbish) {
  for (const char* text :
       {"", "[]", "[::1", "::1]", "lo", "1.2.3", "127.0.0.1:5", "::g", "fe80::1%no-such-interface"}) {
    EXPECT_FALSE(read_ip_address(text).has_value()) << text;
  }
}

TEST(IpAddress, ThatIsMappedIsOneOfIpv4) {
  EXPECT_EQ(read("::ffff:127.0.0.2"), read("127.0.0.2"));
}

TEST(IpAddress, ComesBackFromTheSocketApi) {
  for (const char* text : {"10.1.2.3", "::1", "fe80::1%lo"}) {
    const IpAddress address = read(text).with_port(4711);
    const SocketAddress socket = to_socket_address(address);
    EXPECT_EQ(from_socket_address(*socket.generic()), address) << text;
    EXPECT_EQ(socket.length, address.is_ipv6() ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  }
  sockaddr other{};
  other.sa_family = AF_UNIX;
  EXPECT_FALSE(from_socket_address(other).has_value());
}

TEST(IpAddress, KnowsLoopbackAndSingleHosts) {
  for (const char* text : {"127.0.0.9", "::1"}) EXPECT_TRUE(is_loopback(read(text))) << text;
  for (const char* text : {"10.0.0.1", "fd00::1"}) EXPECT_FALSE(is_loopback(read(text))) << text;
  for (const char* text : {"10.0.0.1", "fd00::1", "::1"}) EXPECT_TRUE(is_single_host(read(text))) << text;
  for (const char* text : {"0.0.0.0", "224.0.0.1", "::", "ff02::1"}) EXPECT_FALSE(is_single_host(read(text))) << text;
}

TEST(LocalAddresses, AreThoseOfTheInterfacesAndAllOfLoopback) {
  bool has_loopback = false;
  for_each_local_address([&](const char* interface, const IpAddress& address) {
    EXPECT_TRUE(is_local_address(address.with_port(9))) << text_of(address);
    EXPECT_EQ(address.port, 0);
    has_loopback |= std::string(interface) == "lo";
  });
  EXPECT_TRUE(has_loopback);
  EXPECT_TRUE(is_local_address(read("127.9.8.7")));
  for (const char* text : {"127.255.255.255", "192.0.2.1", "2001:db8::1"}) EXPECT_FALSE(is_local_address(read(text)));
}

TEST(LocalAddresses, RankIpv4FirstAndLinkLocalLast) {
  EXPECT_LT(rank_of(read("10.0.0.1")), rank_of(read("fd00::1")));
  EXPECT_LT(rank_of(read("fd00::1")), rank_of(read("fe80::1%lo")));
}

}  // namespace
}  // namespace softdat::base
