// SPDX-License-Identifier: BSD-2-Clause
// What depends on the environment and on where libraries lie: each case is a process of its own.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/registry/scratch_directory.h"
#include "tests/registry/scratch_world.h"

namespace softdat::registry {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

struct Outcome {
  int exit_code = -1;
  std::string output;
  std::string errors;
};

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class Processes : public ::testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  // The probe's arguments to open a name in the API under test.
  static Texts open(const std::string& name) {
    return {"open", name, std::to_string(kMajor), std::to_string(kMinor), "0"};
  }

  // Runs a program under this process's environment without DAT's variables, plus `variables`.
  Outcome run(const std::string& program, Texts arguments, const Texts& variables = {}) {
    arguments.insert(arguments.begin(), program);
    Texts environment = variables;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      const bool is_replaced = text.starts_with("LD_LIBRARY_PATH=") && !variables.empty();
      if (!text.starts_with("DAT_") && !text.starts_with("SOFTDAT_") && !is_replaced) {
        environment.push_back(text);
      }
    }
    return spawn(arguments, environment);
  }

  Outcome probe(const Texts& arguments, const Texts& variables = {}) { return run(DAT_PROBE, arguments, variables); }

  std::string override_with(const std::string& text) { return "DAT_OVERRIDE=" + directory_.write("dat.conf", text); }

  ScratchDirectory directory_;

 private:
  static std::vector<char*> pointers(Texts& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  }

  Outcome spawn(Texts& arguments, Texts& environment) {
    const std::string output = directory_.path("output");
    const std::string errors = directory_.path("errors");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
    ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), kFlags, 0600);
    ::posix_spawn_file_actions_addopen(&actions, 2, errors.c_str(), kFlags, 0600);
    pid_t child = 0;
    const int error = ::posix_spawn(&child, arguments[0].c_str(), &actions, nullptr, pointers(arguments).data(),
                                    pointers(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    EXPECT_EQ(error, 0);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status);
    return {WEXITSTATUS(status), contents(output), contents(errors)};
  }
};

std::string status_line(const char* what, DAT_RETURN status) {
  char text[128];
  std::snprintf(text, sizeof text, "%s 0x%08x\n", what, status);
  return text;
}

std::string opened(const std::string& name) {
  return status_line(("open " + name).c_str(), DAT_SUCCESS);
}

std::string not_found(const std::string& name) {
  return status_line(("open " + name).c_str(), error_of(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
}

// A directory with the registry library and, under the simulator's name, the scratch provider.
class BuiltIn : public Processes {
 protected:
  BuiltIn() {
    const std::filesystem::path registry(REGISTRY_LIBRARY);
    soname_ = kMajor == 2 ? "libdat2.so.2" : "libdat.so.1";
    std::filesystem::create_directories(directory_.path("lib"));
    std::filesystem::copy_file(registry, directory_.path("lib/" + soname_));
    path_ = "LD_LIBRARY_PATH=" + directory_.path("lib");
  }

  void put_simulator(const std::string& where) {
    std::filesystem::create_directories(directory_.path(where));
    std::filesystem::copy_file(SCRATCH_OWNER, directory_.path(where + "/libsoftdat.so"));
  }

  std::string soname_;
  std::string path_;
};

TEST_F(BuiltIn, SimulatorIsFoundBesideTheRegistry) {
  put_simulator("lib");
  Texts arguments = open("sim0");
  for (const std::string& more : open("sim15")) arguments.push_back(more);
  for (const std::string& more : open("sim16")) arguments.push_back(more);
  const Outcome outcome = probe(arguments, {path_});
  const std::string closed = status_line("close", DAT_SUCCESS);
  EXPECT_EQ(outcome.output, opened("sim0") + closed + opened("sim15") + closed + not_found("sim16"));
  EXPECT_EQ(outcome.exit_code, 0);
}

// As a package has it: a link in the loader's directory, and all else in one of the package's own.
TEST_F(BuiltIn, SimulatorAndFileAreFoundBesideTheTargetOfALink) {
  put_simulator("lib");
  (void)directory_.write("lib/dat.conf",
                         "ibd0 " + std::string(kApi) + " nonthreadsafe default libsoftdat.so softdat.1.0 \"\" \"\"");
  std::filesystem::create_directories(directory_.path("links"));
  std::filesystem::create_symlink(directory_.path("lib/" + soname_), directory_.path("links/" + soname_));
  const std::string links = "LD_LIBRARY_PATH=" + directory_.path("links");
  EXPECT_THAT(probe(open("sim0"), {links}).output, StartsWith(opened("sim0")));
  EXPECT_THAT(probe(open("ibd0"), {links}).output, StartsWith(opened("ibd0")));
  EXPECT_EQ(probe(open("ibd0"), {links, override_with("")}).output, not_found("ibd0"));
}

TEST_F(BuiltIn, SimulatorIsFoundByItsNameOtherwise) {
  put_simulator("elsewhere");
  const Outcome outcome = probe(open("sim0"), {path_ + ":" + directory_.path("elsewhere")});
  EXPECT_THAT(outcome.output, StartsWith(opened("sim0")));
}

TEST_F(BuiltIn, SimulatorThatIsMissingIsTold) {
#if defined(__clang__) && (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__))
  GTEST_SKIP() << "the sanitizer's dlopen() looks where the program's own libraries are";
#endif
  const Outcome outcome = probe(open("sim0"), {path_});
  EXPECT_EQ(outcome.output, not_found("sim0"));
  EXPECT_THAT(outcome.errors, AllOf(ContainsRegex("^softdat\\[[0-9]+\\]: no provider for sim0"),
                                    HasSubstr("libsoftdat.so: cannot open shared object file")));
}

TEST_F(BuiltIn, SimulatorServesAnyNameWhenAsked) {
  put_simulator("lib");
  EXPECT_EQ(probe(open("ofa-v2-none"), {path_}).output, not_found("ofa-v2-none"));
  EXPECT_THAT(probe(open("ofa-v2-none"), {path_, "SOFTDAT_ANY_IA=1"}).output, StartsWith(opened("ofa-v2-none")));
}

TEST_F(BuiltIn, SimulatorServesTheNamesThatAFileRoutesToIt) {
  put_simulator("lib");
  const std::string line = "ibd0 " + std::string(kApi) + " nonthreadsafe default libsoftdat.so softdat.1.0 \"\" \"\"";
  const Outcome outcome = probe(open("ibd0"), {path_, override_with(line)});
  EXPECT_THAT(outcome.output, StartsWith(opened("ibd0")));
  EXPECT_THAT(outcome.errors, IsEmpty());
}

TEST_F(BuiltIn, SimulatorStaysWhenTheOverrideIsMissing) {
  put_simulator("lib");
  const Outcome outcome = probe(open("sim0"), {path_, "DAT_OVERRIDE=" + directory_.path("missing")});
  EXPECT_THAT(outcome.output, StartsWith(opened("sim0")));
  EXPECT_THAT(outcome.errors, HasSubstr("does not exist, though DAT_OVERRIDE names it"));
}

TEST_F(BuiltIn, SimulatorIsListedFirst) {
  const Outcome outcome = probe({"list", "1"}, {path_});
  EXPECT_EQ(outcome.output, status_line("list", DAT_SUCCESS).substr(0, 15) + " 1\nentry sim0 " + kVersion + " 0\n");
}

TEST_F(Processes, AMisspeltVariableIsTold) {
  const Outcome outcome = probe(open("none"), {"SOFTDAT_ANYIA=1"});
  EXPECT_EQ(outcome.output, not_found("none"));
  EXPECT_THAT(outcome.errors, HasSubstr("SOFTDAT_ANYIA"));
}

TEST_F(Processes, AnOverrideIsTheWholeList) {
  const std::string text = conf_line("a", "scratch_foreign", "") + conf_line("b", "absent", "");
  const Outcome outcome = probe({"list", "9"}, {override_with(text)});
  EXPECT_THAT(outcome.output, HasSubstr(" 2\nentry a " + kVersion + " 0\nentry b"));
}

TEST_F(Processes, AMalformedLineIsToldOnStandardErrorAndSkipped) {
  const std::string text = "# first\nbad u9\n" + conf_line("good", "scratch_foreign", "");
  const Outcome outcome = probe(open("good"), {override_with(text)});
  EXPECT_THAT(outcome.output, StartsWith(opened("good")));
  EXPECT_THAT(outcome.errors,
              AllOf(ContainsRegex("^softdat\\[[0-9]+\\]: /"),
                    HasSubstr("]: " + directory_.path("dat.conf") + ":2:7: the line ends after 2 of 8 fields")));
}

TEST_F(Processes, AFileIsReadOnceAndOnlyWhenNeeded) {
  const std::string bad = override_with("bad\n");
  EXPECT_THAT(probe({}, {bad}).errors, IsEmpty());
  const std::string errors = probe({"list", "1", "list", "1"}, {bad}).errors;
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1);
}

TEST_F(Processes, TheDebugVariablesChooseWhatIsToldAndWhere) {
  const std::string bad = override_with("bad\n");
  const auto complaint = HasSubstr("dat.conf:1:4: ");
  EXPECT_THAT(probe({"list", "1"}, {bad, "DAT_DBG_TYPE=0"}).errors, IsEmpty());
  EXPECT_THAT(probe({"list", "1"}, {bad, "DAT_DBG_TYPE=4"}).errors, complaint);
  EXPECT_THAT(probe({"list", "1"}, {bad, "DAT_DBG_TYPE=0xff"}).errors, complaint);
  EXPECT_THAT(probe({"list", "1"}, {bad, "DAT_DBG_TYPE=nonsense"}).errors, complaint);
  const Outcome outcome = probe({"list", "1"}, {bad, "DAT_DBG_DEST=1"});
  EXPECT_THAT(outcome.output, complaint);
  EXPECT_THAT(outcome.errors, IsEmpty());
  const Outcome logged = probe({"list", "1"}, {bad, "DAT_DBG_DEST=2"});
  EXPECT_THAT(logged.output, Not(complaint));
  EXPECT_THAT(logged.errors, Not(complaint));
}

TEST_F(Processes, TheDebugMaskChoosesTopics) {
  const std::string good = override_with(conf_line("good", "scratch_foreign", ""));
  const std::string name = "good " + kVersion + " nonthreadsafe";
  const auto errors_with = [&](const char* mask) {
    return probe(open("good"), {good, std::string("DAT_DBG_TYPE=") + mask}).errors;
  };
  EXPECT_EQ(errors_with("1"), "");
  EXPECT_EQ(errors_with("4"), "dat: loaded " + name + "\ndat: unloaded " + name + "\n");
  EXPECT_EQ(errors_with("8"), "dat: added " + name + "\ndat: removed " + name + "\n");
  EXPECT_EQ(errors_with("0x10"), "dat: init of " + built_library("scratch_foreign") + "\ndat: fini for " + name + "\n");
  EXPECT_EQ(errors_with("0x20"), "dat: dat_ia_open of good: DAT_SUCCESS \ndat: dat_ia_close: DAT_SUCCESS \n");
  const std::string unknown = probe(open("bad"), {good, "DAT_DBG_TYPE=2"}).errors;
  EXPECT_EQ(unknown, "dat: no entry for bad " + kVersion + " nonthreadsafe\n");
}

TEST_F(Processes, ALibraryThatDoesNotLoadIsToldOnce) {
  Texts arguments = open("gone");
  for (const std::string& more : open("gone")) arguments.push_back(more);
  const Outcome outcome = probe(arguments, {override_with(conf_line("gone", "absent", ""))});
  EXPECT_EQ(outcome.output, not_found("gone") + not_found("gone"));
  EXPECT_THAT(outcome.errors, HasSubstr("/nowhere/absent: cannot open shared object file"));
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1);
}

TEST_F(Processes, ALibraryThatIsNoProviderIsTold) {
  const Outcome outcome = probe(open("odd"), {override_with(conf_line("odd", "not_a_provider", ""))});
  EXPECT_EQ(outcome.output, not_found("odd"));
  EXPECT_THAT(outcome.errors, HasSubstr("has no function dat_provider_init"));
}

TEST_F(Processes, ANameInAnotherVersionIsTold) {
  const std::string text = conf_line("elder", "scratch_foreign", "", kOtherApi);
  const Outcome outcome = probe(open("elder"), {override_with(text)});
  EXPECT_EQ(outcome.output, not_found("elder"));
  EXPECT_THAT(outcome.errors, HasSubstr("elder is known, but not as elder " + kVersion));
}

TEST_F(Processes, AnUnknownNameIsNoNoise) {
  const Outcome outcome = probe(open("x34"), {override_with("")});
  EXPECT_EQ(outcome.output, not_found("x34"));
  EXPECT_THAT(outcome.errors, IsEmpty());
}

TEST_F(Processes, APrivatelyLoadedRegistryServesProvidersAllTheSame) {
  const std::string text = conf_line("private", "scratch_foreign", "");
  const Outcome outcome =
      run(PRIVATE_PROBE, {REGISTRY_LIBRARY, "private", std::to_string(kMajor), std::to_string(kMinor)},
          {override_with(text)});
  EXPECT_EQ(outcome.output, opened("private")) << outcome.errors;
  EXPECT_EQ(outcome.exit_code, 0);
}

// The providers bind the registry's functions by name, and both libraries have functions of these names.
TEST_F(Processes, BothRegistriesServeOneProcess) {
  const std::string text =
      conf_line("one", "scratch_foreign12", "", "u1.2") + conf_line("two", "scratch_foreign20", "", "u2.0");
  const Texts one{REGISTRY12_LIBRARY, "one", "1", "2"};
  const Texts two{REGISTRY20_LIBRARY, "two", "2", "0"};
  for (const bool is_one_first : {true, false}) {
    Texts arguments = is_one_first ? one : two;
    const Texts& second = is_one_first ? two : one;
    arguments.insert(arguments.end(), second.begin(), second.end());
    const Outcome outcome = run(PRIVATE_PROBE, arguments, {override_with(text)});
    EXPECT_EQ(outcome.output, is_one_first ? opened("one") + opened("two") : opened("two") + opened("one"))
        << outcome.errors;
  }
}

}  // namespace
}  // namespace softdat::registry
