// SPDX-License-Identifier: BSD-2-Clause
#include "base/environment.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace softdat::base {
namespace {

class Environment : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name :
         {"SOFTDAT_TRANSPORT", "SOFTDAT_TRANSPROT", "SOFTDAT_TCP_TIMEOUT", "SOFTDAT_TEST_ROUNDS", "SOFTDAT_FAULTS",
          "SOFTDAT_FAULTS_LOG", "SOFTDAT_SANITIZE_SUPPRESSIONS", "SOFTDAT_CRC", "SOFTDAT_ANY_IA", "SOFTDAT_SANITIZE",
          "SOFTDAT_MPA", "SOFTDAT_transport", "SOFTDAT_WINDMILLS"}) {
      ::unsetenv(name);
    }
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

TEST_F(Environment, LetterCaseOfAWordDoesNotMatter) {
  for (const char* value : {"TCP", "Tcp", "tcp"}) {
    ::setenv("SOFTDAT_TRANSPORT", value, 1);
    EXPECT_EQ(environment(Variable::kTransport), "tcp") << value;
  }
  ::setenv("SOFTDAT_TRANSPORT", "tc", 1);
  EXPECT_EQ(environment(Variable::kTransport), "");
}

TEST_F(Environment, SwitchesTakeTheUsualWords) {
  for (const char* value : {"on", "ON", "1", "yes", "True"}) {
    ::setenv("SOFTDAT_CRC", value, 1);
    EXPECT_EQ(environment(Variable::kCrc), "on") << value;
    ::setenv("SOFTDAT_ANY_IA", value, 1);
    EXPECT_EQ(environment(Variable::kAnyIa), "1") << value;
    ::setenv("SOFTDAT_SANITIZE", value, 1);
    EXPECT_EQ(environment(Variable::kSanitize), "on") << value;
  }
  for (const char* value : {"off", "Off", "0", "no", "FALSE"}) {
    ::setenv("SOFTDAT_CRC", value, 1);
    EXPECT_EQ(environment(Variable::kCrc), "off") << value;
    ::setenv("SOFTDAT_ANY_IA", value, 1);
    EXPECT_EQ(environment(Variable::kAnyIa), "0") << value;
  }
  // No switch: 1 is a revision, and the others mean nothing.
  ::setenv("SOFTDAT_MPA", "1", 1);
  EXPECT_EQ(environment(Variable::kMpa), "1");
  for (const char* value : {"on", "yes", "0", "off"}) {
    ::setenv("SOFTDAT_MPA", value, 1);
    EXPECT_EQ(environment(Variable::kMpa), "") << value;
  }
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

// The test below runs it as a set-user-id program.
TEST_F(Environment, FilesAreTakenFromTheOwnerOfTheProcess) {
  for (const char* name :
       {"SOFTDAT_FAULTS", "SOFTDAT_FAULTS_LOG", "SOFTDAT_SANITIZE_SUPPRESSIONS", "SOFTDAT_CAPTURE", "SOFTDAT_TIMELINE"})
    ::setenv(name, "x", 1);
  ::setenv("SOFTDAT_TRANSPORT", "tcp", 1);
  const char* const taken = ::getuid() == ::geteuid() ? "x" : "";
  EXPECT_EQ(environment(Variable::kFaults), taken);
  EXPECT_EQ(environment(Variable::kFaultsLog), taken);
  EXPECT_EQ(environment(Variable::kSanitizeSuppressions), taken);
  EXPECT_EQ(environment(Variable::kCapture), taken);
  EXPECT_EQ(environment(Variable::kTimeline), taken);
  EXPECT_EQ(environment(Variable::kTransport), "tcp");
  // LeakSanitizer, at the usual end, may not look into a set-user-id process.
  if (::getuid() != ::geteuid()) ::_exit(HasFailure() ? 1 : 0);
}

TEST_F(Environment, ASetUserIdProgramTakesNoFilesOfItsCaller) {
  constexpr ::uid_t kNobody = 65534;
  char directory[] = "/tmp/softdat-environment-XXXXXX";
  ASSERT_NE(::mkdtemp(directory), nullptr);
  const std::string program = std::string(directory) + "/set-user-id";
  std::filesystem::copy_file("/proc/self/exe", program);
  const bool is_made = ::chmod(directory, 0755) == 0 && ::chown(program.c_str(), kNobody, kNobody) == 0 &&
                       ::chmod(program.c_str(), 04755) == 0;
  const std::string command = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX " + program +
                              " --gtest_filter=*FilesAreTakenFromTheOwnerOfTheProcess >&2";
  const int status = is_made ? std::system(command.c_str()) : -1;
  std::filesystem::remove_all(directory);
  if (!is_made) GTEST_SKIP() << "only root can make such a program";
  EXPECT_EQ(status, 0);
}

TEST_F(Environment, MistakesAreReportedOnceWithTheNearestName) {
  ::setenv("SOFTDAT_TRANSPORT", "pigeon", 1);
  ::setenv("SOFTDAT_TRANSPROT", "tcp", 1);
  ::setenv("SOFTDAT_TCP_TIMEOUT", "fast", 1);
  ::setenv("SOFTDAT_transport", "tcp", 1);
  ::setenv("SOFTDAT_WINDMILLS", "3", 1);    // like none
  ::setenv("SOFTDAT_TEST_ROUNDS", "3", 1);  // no mistake
  testing::internal::CaptureStderr();
  report_environment_mistakes();
  report_environment_mistakes();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("SOFTDAT_TRANSPORT=\"pigeon\" is not understood"), std::string::npos) << said;
  EXPECT_NE(
      said.find("SOFTDAT_TCP_TIMEOUT=\"fast\" is not understood and ignored; it takes a whole number from 2 to 600"),
      std::string::npos)
      << said;
  EXPECT_NE(said.find("SOFTDAT_TRANSPROT is unknown; did you mean SOFTDAT_TRANSPORT?"), std::string::npos) << said;
  EXPECT_NE(said.find("SOFTDAT_transport is unknown; did you mean SOFTDAT_TRANSPORT?"), std::string::npos) << said;
  EXPECT_NE(said.find("SOFTDAT_WINDMILLS is unknown; softdat(7) lists all"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 5) << said;
  const std::string head = "softdat[" + std::to_string(::getpid()) + "]: ";
  EXPECT_NE(said.find(head + "environment variable SOFTDAT_TRANSPROT"), std::string::npos) << said;
  EXPECT_NE(said.find(head + "SOFTDAT_TRANSPORT="), std::string::npos) << said;
}

}  // namespace
}  // namespace softdat::base
