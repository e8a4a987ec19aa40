// SPDX-License-Identifier: BSD-2-Clause
// What an IA name, dat.conf's instance data and the environment together open.
#include "libdat/backends/open_device.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "base/environment.h"
#include "libdat/backends/device_settings.h"

namespace softdat::backends {
namespace {

constexpr std::uint32_t kLoopback = 0x7f000001;

class OpenDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kVariables) ::unsetenv(name);
  }
  void TearDown() override { SetUp(); }

  static constexpr const char* kVariables[] = {"SOFTDAT_BACKEND",     "SOFTDAT_TRANSPORT",     "SOFTDAT_ADDRESS",
                                               "SOFTDAT_CRC",         "SOFTDAT_MPA",           "SOFTDAT_RNR",
                                               "SOFTDAT_TCP_TIMEOUT", "SOFTDAT_CONNECT_GRACE", "SOFTDAT_PROFILE"};
};

TEST_F(OpenDeviceTest, NobodyIsReachableWithoutBeingAsked) {
  EXPECT_EQ(settle_options({"sim0", ""})->address.ipv4, kLoopback);
  EXPECT_EQ(settle_options({"sim7", ""})->address.ipv4, kLoopback + 7);
  for (const char* name : {"ofa-v2-ib0", "ibd0", "sim", "simx", "sim-1", "sim99999999999"}) {
    EXPECT_EQ(settle_options({name, ""})->address.ipv4, kLoopback) << name;
  }
}

TEST_F(OpenDeviceTest, StockInstanceDataMeansNothing) {
  for (const char* data : {"", " ", "ib0 0", "sim 0", "mlx4_0 1"}) {
    const auto options = settle_options({"sim0", data});
    ASSERT_TRUE(options.has_value()) << data;
    EXPECT_EQ(options->address.ipv4, kLoopback);
    EXPECT_EQ(options->carrier, transport::CarrierKind::kAuto);
  }
}

TEST_F(OpenDeviceTest, InstanceDataSetsOptions) {
  const auto options = settle_options(
      {"sim0", "sim address=127.0.0.9 transport=tcp crc=on mpa=1 rnr=terminate tcp_timeout=7 connect_grace=8"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->address.ipv4, 0x7f000009u);
  EXPECT_EQ(options->carrier, transport::CarrierKind::kTcp);
  EXPECT_TRUE(options->crc);
  EXPECT_EQ(options->mpa, transport::MpaStyle::kPlain);
  EXPECT_EQ(options->rnr, simnic::RnrPolicy::kTerminate);
  EXPECT_EQ(options->tcp_timeout, std::chrono::seconds(7));
  EXPECT_EQ(options->connect_grace, std::chrono::milliseconds(8));
}

TEST_F(OpenDeviceTest, EnvironmentSetsTheTcpTimeoutWithinItsLimits) {
  EXPECT_EQ(settle_options({"sim0", ""})->tcp_timeout, std::chrono::seconds(60));
  for (const unsigned seconds : {2u, 600u}) {
    ::setenv("SOFTDAT_TCP_TIMEOUT", std::to_string(seconds).c_str(), 1);
    EXPECT_EQ(settle_options({"sim0", "tcp_timeout=7"})->tcp_timeout, std::chrono::seconds(seconds));
  }
  for (const char* value : {"", "1", "601", "-5", "5s", "0x10", "4294967298"}) {
    ::setenv("SOFTDAT_TCP_TIMEOUT", value, 1);
    EXPECT_EQ(settle_options({"sim0", "tcp_timeout=7"})->tcp_timeout, std::chrono::seconds(7)) << value;
  }
}

TEST_F(OpenDeviceTest, AProfileIsTakenWithItsQuirksOrRefused) {
  EXPECT_EQ(settle_options({"sim0", ""})->profile, nullptr);
  ::setenv("SOFTDAT_PROFILE", "siw", 1);
  auto options = settle_options({"sim0", ""});
  ASSERT_TRUE(options && options->profile != nullptr);
  EXPECT_EQ(options->profile->name, "siw");
  EXPECT_EQ(options->rnr, simnic::RnrPolicy::kTerminate);
  ::setenv("SOFTDAT_RNR", "wait", 1);
  EXPECT_EQ(settle_options({"sim0", ""})->rnr, simnic::RnrPolicy::kWait);
  ::unsetenv("SOFTDAT_RNR");
  ::setenv("SOFTDAT_PROFILE", "rxe", 1);
  EXPECT_EQ(settle_options({"sim0", ""})->rnr, simnic::RnrPolicy::kWait);
  for (const char* wrong : {"siww", "@", "@/nonexistent", "SIW"}) {
    ::setenv("SOFTDAT_PROFILE", wrong, 1);
    EXPECT_FALSE(settle_options({"sim0", ""}).has_value()) << wrong;
  }
}

TEST_F(OpenDeviceTest, ConnectGraceIsANumberOfMilliseconds) {
  const base::Duration standard = settle_options({"sim0", ""})->connect_grace;
  EXPECT_GT(standard, base::Duration::zero());
  ::setenv("SOFTDAT_CONNECT_GRACE", "0", 1);
  EXPECT_EQ(settle_options({"sim0", ""})->connect_grace, base::Duration::zero());
  ::setenv("SOFTDAT_CONNECT_GRACE", "60000", 1);
  EXPECT_EQ(settle_options({"sim0", "connect_grace=5"})->connect_grace, std::chrono::minutes(1));
  for (const char* wild : {"-1", "60001", "1s", "x", "1.5", "99999999999"}) {
    ::setenv("SOFTDAT_CONNECT_GRACE", wild, 1);
    EXPECT_EQ(settle_options({"sim0", ""})->connect_grace, standard) << wild;
  }
}

// The table of variables is the one place of the limits.
TEST_F(OpenDeviceTest, NumbersOfInstanceDataHaveTheLimitsOfTheirVariables) {
  using base::Variable;
  for (const auto& [variable, key] :
       {std::pair{Variable::kTcpTimeout, "tcp_timeout="}, std::pair{Variable::kConnectGrace, "connect_grace="}}) {
    const base::Limits limits = base::limits_of(variable);
    ASSERT_LT(limits.least, limits.most);
    for (const unsigned good : {limits.least, limits.most}) {
      EXPECT_TRUE(settle_options({"sim0", key + std::to_string(good)}).has_value()) << key << good;
    }
    for (const long wild : {long{limits.least} - 1, long{limits.most} + 1}) {
      testing::internal::CaptureStderr();
      EXPECT_FALSE(settle_options({"sim0", key + std::to_string(wild)}).has_value()) << key << wild;
      const std::string known = key + std::to_string(limits.least) + "..." + std::to_string(limits.most);
      const std::string said = testing::internal::GetCapturedStderr();
      EXPECT_NE(said.find(known), std::string::npos) << said;
    }
  }
}

TEST_F(OpenDeviceTest, EveryCarrierHasItsName) {
  using transport::CarrierKind;
  for (const auto& [name, kind] : {std::pair{"auto", CarrierKind::kAuto}, std::pair{"shm", CarrierKind::kShm},
                                   std::pair{"tcp", CarrierKind::kTcp}, std::pair{"loop", CarrierKind::kLoop}}) {
    const auto options = settle_options({"sim0", std::string("transport=") + name});
    ASSERT_TRUE(options.has_value()) << name;
    EXPECT_EQ(options->carrier, kind) << name;
  }
}

TEST_F(OpenDeviceTest, InterfacesHaveAddresses) {
  EXPECT_EQ(settle_options({"sim0", "address=lo"})->address.ipv4, kLoopback);
  EXPECT_FALSE(settle_options({"sim0", "address=no-such-interface"}).has_value());
}

TEST_F(OpenDeviceTest, AddressOfAnotherHostIsRefused) {
  for (const char* address : {"192.0.2.1", "0.0.0.0", "255.255.255.255", "224.0.0.1"}) {
    EXPECT_FALSE(settle_options({"sim0", std::string("address=") + address}).has_value()) << address;
    ::setenv("SOFTDAT_ADDRESS", address, 1);
    EXPECT_FALSE(settle_options({"sim0", ""}).has_value()) << address;
    ::unsetenv("SOFTDAT_ADDRESS");
  }
}

TEST_F(OpenDeviceTest, LocalhostIsTheLoopbackAddress) {
  for (const char* address : {"localhost", "LocalHost", "127.0.0.1", "lo"}) {
    ::setenv("SOFTDAT_ADDRESS", address, 1);
    const auto options = settle_options({"sim0", ""});
    ASSERT_TRUE(options.has_value()) << address;
    EXPECT_EQ(options->address.ipv4, kLoopback) << address;
  }
}

TEST_F(OpenDeviceTest, WhatIsNoAddressIsNamedWithTheRemedy) {
  const auto words_of = [](const char* address) {
    ::setenv("SOFTDAT_ADDRESS", address, 1);
    testing::internal::CaptureStderr();
    EXPECT_FALSE(settle_options({"sim0", ""}).has_value()) << address;
    return testing::internal::GetCapturedStderr();
  };
  for (const char* wrong : {"other-host.invalid", " 127.0.0.1", "127.0.0.1:5", "127.1", "127.0.0.256", "no-such-if0"}) {
    const std::string said = words_of(wrong);
    EXPECT_NE(said.find("SOFTDAT_ADDRESS=\"" + std::string(wrong) + "\" is neither"), said.npos) << said;
    EXPECT_NE(said.find("\"ip -brief address\" lists both"), said.npos) << said;
  }
  for (const char* elsewhere : {"192.0.2.1", "2001:db8::1", "224.0.0.1"}) {
    const std::string said = words_of(elsewhere);
    EXPECT_NE(said.find("this host has no address " + std::string(elsewhere)), said.npos) << said;
    EXPECT_NE(said.find("lists what it has"), said.npos) << said;
  }
  EXPECT_NE(words_of("0.0.0.0").find("stands for all, and an adapter has one"), std::string::npos);
}

TEST_F(OpenDeviceTest, WhatIsNotUnderstoodIsRefused) {
  for (const char* data : {"adress=127.0.0.1", "transport=ib", "crc=maybe", "rnr=", "address=1.2.3", "=x",
                           "tcp_timeout=1", "tcp_timeout=5s", "connect_grace=soon"}) {
    EXPECT_FALSE(settle_options({"sim0", data}).has_value()) << data;
  }
}

TEST_F(OpenDeviceTest, EnvironmentWins) {
  ::setenv("SOFTDAT_TRANSPORT", "shm", 1);
  ::setenv("SOFTDAT_ADDRESS", "127.0.0.5", 1);
  const auto options = settle_options({"sim0", "address=127.0.0.9 transport=tcp"});
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->carrier, transport::CarrierKind::kShm);
  EXPECT_EQ(options->address.ipv4, 0x7f000005u);
  // The host's address can be that of one adapter only.
  EXPECT_EQ(settle_options({"sim2", ""})->address.ipv4, kLoopback + 2);
}

TEST_F(OpenDeviceTest, MissingBackendIsNoDevice) {
  for (const char* backend : {"verbs:no-such-device", "verbs:192.0.2.1", "nonsense", "verbs:"}) {
    ::setenv("SOFTDAT_BACKEND", backend, 1);
    const auto device = open_device({"sim0", ""});
    ASSERT_FALSE(device.ok());
    EXPECT_EQ(device.reason(), hca::Error::kNoDevice);
  }
  ::setenv("SOFTDAT_BACKEND", "sim", 1);
  EXPECT_TRUE(open_device({"sim0", "verbs:no-such-device"}).ok());
  ::unsetenv("SOFTDAT_BACKEND");
  EXPECT_FALSE(open_device({"sim1", "verbs:no-such-device"}).ok());
  EXPECT_FALSE(open_device({"verbs:no-such-device", ""}).ok());
}

// A stock file may name hardware that is elsewhere.
TEST_F(OpenDeviceTest, OfedLineWithoutThatHardwareIsSimulated) {
  auto device = open_device({"ofa-v2-ib0", "no-such-interface 0"});
  ASSERT_TRUE(device.ok());
  EXPECT_EQ(device.value()->attributes().vendor, "SoftDAT simulated HCA");
  ::setenv("SOFTDAT_BACKEND", "verbs", 1);
  EXPECT_FALSE(open_device({"ofa-v2-ib1", "no-such-interface 0"}).ok());
}

TEST_F(OpenDeviceTest, OneDevicePerChoice) {
  auto first = open_device({"sim0", ""});
  auto second = open_device({"sim0", ""});
  auto other = open_device({"sim1", ""});
  ASSERT_TRUE(first.ok() && second.ok() && other.ok());
  EXPECT_EQ(first.value(), second.value());
  EXPECT_NE(first.value(), other.value());
  EXPECT_EQ(other.value()->attributes().address.ipv4, kLoopback + 1);
}

TEST_F(OpenDeviceTest, LastHolderClosesTheDevice) {
  std::weak_ptr<hca::Device> seen;
  {
    auto device = open_device({"sim3", ""});
    ASSERT_TRUE(device.ok());
    seen = device.value();
  }
  EXPECT_TRUE(seen.expired());
  EXPECT_TRUE(open_device({"sim3", ""}).ok());
}

}  // namespace
}  // namespace softdat::backends
