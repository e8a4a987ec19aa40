// SPDX-License-Identifier: BSD-2-Clause
#include "tests/registry/scratch_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "tests/registry/scratch_directory.h"

namespace softdat::registry {
namespace {

// Never destroyed: libraries that stay to the end send their last note after main.
struct Notes {
  std::mutex mutex;
  std::condition_variable changed;
  // Guarded by mutex.
  std::vector<std::string> lines;
  std::string held;  // the note in which its sender stands still
  bool is_held = false;
};

Notes& notes() {
  static Notes& all = *new Notes;
  return all;
}

std::string conf_text() {
  return conf_line("foreign", "scratch_foreign", "data one") + conf_line("owner", "scratch_owner", "") +
         conf_line("owner2", "scratch_owner", "") + conf_line("chain", "absent", "first") +
         conf_line("chain", "not_a_provider", "second") + conf_line("chain", "scratch_foreign", "silent") +
         conf_line("chain", "scratch_foreign", "fourth") + conf_line("broken", "absent", "") +
         conf_line("silent", "scratch_foreign", "silent") + conf_line("refuse", "scratch_foreign", "refuse") +
         conf_line("busy", "scratch_foreign", "busy") + conf_line("forgetful", "scratch_foreign", "forgetful") +
         conf_line("reenter", "scratch_foreign", "reenter") + conf_line("extend", "scratch_foreign", "extend") +
         conf_line("fork", "scratch_foreign", "fork") + conf_line("named", "scratch_foreign", "named") +
         conf_line("mapped", "scratch_foreign", "mapped") + conf_line("throw", "scratch_foreign", "throw") +
         conf_line("late", "scratch_foreign", "throw late") + conf_line("hollow", "scratch_foreign", "hollow") +
         conf_line("newer", "scratch_foreign", "", kNewerApi) + conf_line("other", "scratch_foreign", "", kOtherApi);
}

// Stands before the first DAT call, because the registry reads the file once.
class World : public ::testing::Environment {
 public:
  void SetUp() override { ::setenv("DAT_OVERRIDE", directory_.write("dat.conf", conf_text()).c_str(), 1); }

 private:
  ScratchDirectory directory_;
};

[[maybe_unused]] ::testing::Environment* const world = ::testing::AddGlobalTestEnvironment(new World);

}  // namespace

std::string built_library(const std::string& library) {
  if (library == "scratch_foreign") return SCRATCH_FOREIGN;
  if (library == "scratch_owner") return SCRATCH_OWNER;
  if (library == "scratch_foreign12") return SCRATCH_FOREIGN12;
  if (library == "scratch_foreign20") return SCRATCH_FOREIGN20;
  return library == "not_a_provider" ? NOT_A_PROVIDER : "/nowhere/" + library;
}

std::string conf_line(const std::string& name, const std::string& library, const std::string& data,
                      const std::string& api) {
  return name + " " + api + " nonthreadsafe default " + built_library(library) + " scratch.1.0 \"" + data + "\" \"\"\n";
}

int conf_entry_count() {
  const std::string text = conf_text();
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

std::vector<std::string> take_notes() {
  const std::lock_guard lock(notes().mutex);
  return std::exchange(notes().lines, {});
}

NoteHold::NoteHold(const std::string& note) {
  const std::lock_guard lock(notes().mutex);
  notes().held = note;
}

void NoteHold::end() {
  const std::lock_guard lock(notes().mutex);
  notes().held.clear();
  notes().changed.notify_all();
}

void NoteHold::await() {
  std::unique_lock lock(notes().mutex);
  notes().changed.wait(lock, [] { return notes().is_held; });
}

ScratchIa::ScratchIa(const char* ia_name) {
  const Opened opened = open_ia(ia_name);
  EXPECT_EQ(opened.status, DAT_RETURN{DAT_SUCCESS});
  handle = opened.ia;
  evd = opened.evd;
}

ScratchIa::~ScratchIa() {
  dat_ia_close(handle, DAT_CLOSE_ABRUPT_FLAG);
}

Opened open_ia(const std::string& name, DAT_UINT32 major, DAT_UINT32 minor, DAT_BOOLEAN is_thread_safe) {
  std::string text = name;
  Opened opened{0, nullptr, nullptr};
  opened.status = dat_ia_openv(text.data(), 8, &opened.evd, &opened.ia, major, minor, is_thread_safe);
  return opened;
}

}  // namespace softdat::registry

extern "C" [[gnu::visibility("default")]] void scratch_note(const char* what);
extern "C" void scratch_note(const char* what) {
  using softdat::registry::notes;
  std::unique_lock lock(notes().mutex);
  notes().lines.emplace_back(what);
  if (notes().held != what || notes().is_held) return;
  notes().is_held = true;
  notes().changed.notify_all();
  notes().changed.wait(lock, [] { return notes().held.empty(); });
  notes().is_held = false;
}

// Without a lock, because it runs in the midst of a fork.
extern "C" [[gnu::visibility("default")]] void scratch_fork(char stage);
extern "C" void scratch_fork(char stage) {
  auto& stages = softdat::registry::fork_stages;
  stages.store(stages.load() << 8 | static_cast<unsigned char>(stage));
}
