// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/capture/command.h"

#include <fmt/format.h>

#include <charconv>

#include "tools/softdat/output.h"
#include "tools/softdat/run/process.h"

namespace softdat::tools::capture {
namespace {

constexpr const char* kFooter =
    "softdat capture PID ends with Ctrl-C, after --seconds, or when the process ends; FILE then holds what was "
    "captured.\n"
    "With --replay, PROGRAM takes one side of the connection and softdat the other. Exit status then: 0 when PROGRAM "
    "did as\n"
    "recorded, 1 at the first difference; 126 and 127 as of softdat run.";

constexpr pid_t kMostPid = 1 << 22;

pid_t to_pid(const std::string& text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid < 1 || pid > kMostPid) {
    throw UsageError(
        fmt::format("\"{}\" is not a process number; allowed: 1 to {}; softdat top shows processes", text, kMostPid));
  }
  return pid;
}

}  // namespace

Command::Command(CommandLine& line)
    : options_(line.add("capture", "Capture a running process for Wireshark, or replay a capture to a program")) {
  options_.set_footer(kFooter);
  options_.add_operand("pid", pid_, "The process to capture");
  options_.set_group("Capture");
  options_.add_text("-o,--output", "FILE", live_.file,
                    "Write the packets there (softdat-PID.pcapng; -: to standard output)");
  options_.add_number("--seconds", "N", live_.seconds, 0, 1e6, "End after that time");
  options_.add_number("--snap", "BYTES", live_.snap_length, 0, LivePlan::kWhole,
                      "Capture so much of the payload of each packet");
  options_.add_number("--buffer", "KIB", live_.buffer_kib, 128, 1048576,
                      "Buffer in the process; packets that find no room are dropped and counted");
  options_.set_group("Replay");
  options_.add_text("--replay", "FILE", replay_.file, "A capture; PROGRAM is run against one side of it");
  options_.add_number("--connection", "N", replay_.connection, 1, 1000000,
                      "Which connection, in the order in which they begin");
  options_.add_word("--side", {"a", "b"}, replay_.side,
                    "The side that softdat plays: a connected, b was connected to; PROGRAM is the other");
  options_.add_number("--service", "N", replay_.service, 1, UINT64_MAX, "The service, if not the recorded one");
  options_.add_number("--patience", "SECONDS", replay_.patience_s, 0.1, 1e6,
                      "How long each message of PROGRAM may take");
  environment_.add_to(options_);
  options_.add_marked_program(words_);
}

void Command::refuse(const std::vector<const char*>& names, const char* with) const {
  for (const char* const name : names) {
    if (options_.has(name)) throw UsageError(fmt::format("{} goes with {}", name, with));
  }
}

int Command::capture_process() const {
  refuse({"--connection", "--side", "--service", "--patience", "--backend", "--transport", "--address", "--env"},
         "--replay");
  if (!words_.empty()) {
    throw UsageError(
        fmt::format("a program (\"{}\") goes with --replay; softdat run --capture FILE captures one from its "
                    "start",
                    words_.front()));
  }
  if (pid_.empty()) {
    throw UsageError(
        "softdat capture needs a process number, as in: softdat capture 4711; or --replay FILE -- PROGRAM");
  }
  LivePlan plan = live_;
  plan.pid = to_pid(pid_);
  if (plan.file.empty()) plan.file = fmt::format("softdat-{}.pcapng", plan.pid);
  return capture_live(plan);
}

int Command::replay_capture() const {
  refuse({"--output", "--seconds", "--snap", "--buffer"}, "a process number, not with --replay");
  if (!pid_.empty()) throw UsageError(fmt::format("\"{}\" does not go with --replay; put -- before the program", pid_));
  if (words_.empty()) {
    throw UsageError("--replay needs a program, as in: softdat capture --replay wire.pcapng -- pair client");
  }
  ReplayPlan plan = replay_;
  plan.words = words_;
  plan.environment = environment_;
  try {
    return replay(plan);
  } catch (const run::StartFailure& failure) {
    print_error(failure.what());
    return failure.status();
  }
}

int Command::run() {
  return replay_.file.empty() ? capture_process() : replay_capture();
}

}  // namespace softdat::tools::capture
