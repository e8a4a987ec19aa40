// SPDX-License-Identifier: BSD-2-Clause
#include "base/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace softdat::base {
namespace {

class Environment : public testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("SOFTDAT_TRANSPORT");
    ::unsetenv("SOFTDAT_TRANSPROT");
    ::unsetenv("SOFTDAT_TCP_TIMEOUT");
    ::unsetenv("SOFTDAT_TEST_ROUNDS");
  }
};

TEST_F(Environment, UnsetIsEmpty) {
  EXPECT_EQ(environment(Variable::kTransport), "");
}

TEST_F(Environment, ListedValueIsReturned) {
  ::setenv("SOFTDAT_TRANSPORT", "tcp", 1);
  EXPECT_EQ(environment(Variable::kTransport), "tcp");
}

TEST_F(Environment, UnlistedValueIsIgnored) {
  ::setenv("SOFTDAT_TRANSPORT", "pigeon", 1);
  EXPECT_EQ(environment(Variable::kTransport), "");
}

TEST_F(Environment, NumberOutsideItsLimitsIsIgnored) {
  for (const char* value : {"1", "601", "ten", "10 ", "+10", "1e1", "99999999999999999999"}) {
    ::setenv("SOFTDAT_TCP_TIMEOUT", value, 1);
    EXPECT_EQ(environment(Variable::kTcpTimeout), "") << value;
  }
  for (const char* value : {"2", "60", "600"}) {
    ::setenv("SOFTDAT_TCP_TIMEOUT", value, 1);
    EXPECT_EQ(environment(Variable::kTcpTimeout), value);
  }
}

TEST_F(Environment, MistakesAreReportedOnceWithTheNearestName) {
  ::setenv("SOFTDAT_TRANSPORT", "pigeon", 1);
  ::setenv("SOFTDAT_TRANSPROT", "tcp", 1);
  ::setenv("SOFTDAT_TCP_TIMEOUT", "fast", 1);
  ::setenv("SOFTDAT_TEST_ROUNDS", "3", 1);  // no mistake
  testing::internal::CaptureStderr();
  report_environment_mistakes();
  report_environment_mistakes();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("SOFTDAT_TRANSPORT=pigeon is not understood"), std::string::npos) << said;
  EXPECT_NE(said.find("SOFTDAT_TCP_TIMEOUT=fast is not understood and ignored; it takes a whole number from 2 to 600"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("SOFTDAT_TRANSPROT is unknown; did you mean SOFTDAT_TRANSPORT?"), std::string::npos) << said;
  EXPECT_EQ(said.find("unknown"), said.rfind("unknown")) << said;
}

}  // namespace
}  // namespace softdat::base
