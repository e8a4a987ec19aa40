// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nasty/decisions.h"

#include <new>

#include "base/mix.h"

namespace softdat::simnic::nasty {
namespace {

using base::mix;

constexpr std::uint64_t kRange = 64;
// The most looks of each kind. A thread that waits looks about this often before it sleeps, so what is late costs it
// little; see also the time limits of NastySender, LateAcks and KeptMessages.
constexpr unsigned kSourceLooks = 6;
constexpr unsigned kLateLooks = 40;

// One of 64 in eight, in four, in two, or all.
unsigned rate_of(std::uint64_t seed, std::string_view what) {
  return static_cast<unsigned>(kRange >> (mix(mix(seed), what) % 4));
}

// 1 to `most` looks with the given rate, else 0. Takes 32 bits of the draw.
unsigned looks_of(std::uint64_t drawn, unsigned rate, unsigned most) {
  if (drawn % kRange >= rate) return 0;
  return 1 + static_cast<unsigned>((drawn >> 8) % most);
}

// A name with a blank would be two words of the journal.
std::string word_of(std::string_view text) {
  return text.find_first_of(" \t\n;#") == text.npos ? std::string(text) : "?";
}

}  // namespace

Decisions::Decisions(std::uint64_t seed, std::string_view process, std::string_view ia,
                     std::shared_ptr<fault::Journal> journal)
    : state_(mix(mix(mix(seed), process), ia)),
      names_("process=" + word_of(process) + " ia=" + word_of(ia)),
      rates_{.source = rate_of(seed, "source"),
             .completion = rate_of(seed, "completion"),
             .arrival = rate_of(seed, "arrival"),
             .torn = rate_of(seed, "torn")},
      journal_(std::move(journal)) {}

std::uint64_t Decisions::draw(std::string_view what, const Where& where, std::uint64_t number) const {
  const std::uint64_t place = (std::uint64_t{where.endpoint} << 32) | where.connection;
  return mix(mix(mix(state_, what) ^ place) ^ number);
}

// Without memory the line is lost, and nothing else.
void Decisions::note(std::string_view what, const Where& where, std::uint64_t number, Values values) const try {
  std::string line = "# nasty " + names_ + " endpoint=" + std::to_string(where.endpoint);
  line += " connection=" + std::to_string(where.connection) + ' ' + std::string(what) + '=' + std::to_string(number);
  for (const auto& [name, value] : values) line += ' ' + std::string(name) + '=' + std::to_string(value);
  journal_->add(std::move(line));
} catch (const std::bad_alloc&) {
  return;
}

// Depends on the seed, names and numbers only, never on time: a seed that found a mistake finds it again.
Outbound Decisions::decide_request(const Where& where, std::uint64_t number) const {
  const std::uint64_t drawn = draw("request", where, number);
  const Outbound result{.source_late = looks_of(drawn, rates_.source, kSourceLooks),
                        .completion_late = looks_of(drawn >> 32, rates_.completion, kLateLooks)};
  if (is_noted() && (result.source_late | result.completion_late) != 0) {
    note("request", where, number, {{"source", result.source_late}, {"completion", result.completion_late}});
  }
  return result;
}

Inbound Decisions::decide_inbound(std::string_view what, const Where& where, std::uint64_t number,
                                  bool is_again) const {
  const std::uint64_t drawn = draw(what, where, number);
  const Inbound result{.late = looks_of(drawn, rates_.arrival, kLateLooks),
                       .torn = looks_of(drawn >> 32, rates_.torn, kLateLooks),
                       .order = mix(drawn)};
  if (!is_again && is_noted()) {
    note(what, where, number, {{"late", result.late}, {"torn", result.torn}, {"order", result.order % kRange}});
  }
  return result;
}

Inbound Decisions::decide_arrival(const Where& where, std::uint64_t number, bool is_again) const {
  return decide_inbound("arrival", where, number, is_again);
}

Inbound Decisions::decide_answer(const Where& where, std::uint64_t number) const {
  return decide_inbound("answer", where, number, false);
}

std::byte Decisions::garbage(std::uint64_t place) const {
  return static_cast<std::byte>(mix(state_ ^ place) | 1);  // never 0, which ends strings
}

}  // namespace softdat::simnic::nasty
