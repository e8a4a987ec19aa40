// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/sweep/point.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <set>
#include <sstream>

namespace softdat::tools::sweep {
namespace {

struct Note {
  std::string stage;
  std::string op;     // behind "#", or by op=
  std::string place;  // the selectors
  std::uint64_t size = 0;
};

// As the fault plan "note" logs a point: note, stage=, selectors; then "#", the operation, a word, its size.
Note read_note(const std::string& line) {
  Note note;
  std::istringstream words(line.substr(0, line.find('#')));
  std::string word;
  words >> word;  // "note"
  while (words >> word) {
    if (word.starts_with("stage=")) {
      note.stage = word.substr(6);
    } else {
      note.place += ' ' + word;
    }
  }
  if (line.find('#') == std::string::npos) return note;
  std::istringstream comment(line.substr(line.find('#') + 1));
  comment >> note.op >> word >> note.size;
  return note;
}

// The beginnings of the statements of all that can fail there.
std::vector<std::string> kinds_at(const Note& note) {
  if (note.stage == "post") return {"fail-post"};
  if (note.stage == "creation") return {"fail-create"};
  if (note.stage == "wait") return {"fail-wait"};
  if (note.stage == "arrival") return {"fail-receive", "receiver-not-ready ms=1", "spurious-wake", "overflow-evd"};
  if (note.stage == "connection") {
    if (note.op == "accept") return {"drop-connection"};
    return {"refuse-connect", "drop-connection"};
  }
  if (note.stage != "message") return {};
  std::vector<std::string> kinds{"drop-connection", "drop-connection when=after"};
  // An empty write or read has no key that could be refused.
  if ((note.op != "write" && note.op != "read") || note.size > 0) kinds.emplace_back("fail-request");
  return kinds;
}

}  // namespace

std::vector<std::string> faults_at(const std::vector<std::string>& notes) {
  std::vector<std::string> faults;
  // Several processes may reach the same point; a fault is tried once.
  std::set<std::string> known;
  for (const std::string& line : notes) {
    const Note note = read_note(line);
    for (const std::string& kind : kinds_at(note)) {
      const std::string fault = kind + note.place;
      if (known.insert(fault).second) faults.push_back(fault);
    }
  }
  return faults;
}

std::vector<std::string> sample(std::vector<std::string> faults, std::size_t count, std::uint64_t seed) {
  if (count == 0 || count >= faults.size()) return faults;
  std::vector<std::string> chosen;
  std::mt19937_64 random(seed);
  // Selection sampling: each is taken with the odds that the rest of the sample has among the rest of the faults.
  for (std::size_t i = 0; i < faults.size() && chosen.size() < count; ++i) {
    if (random() % (faults.size() - i) < count - chosen.size()) chosen.push_back(std::move(faults[i]));
  }
  return chosen;
}

}  // namespace softdat::tools::sweep
