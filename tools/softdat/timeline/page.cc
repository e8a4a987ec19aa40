// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/timeline/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tools/softdat/timeline/page_text.h"

namespace softdat::tools::timeline {
namespace {

using nlohmann::json;

constexpr std::size_t kBuckets = 200;

// The `most` lanes with the most events, and those of their processes.
std::vector<std::uint32_t> choose_lanes(const Trace& trace, std::size_t most) {
  std::vector<std::uint32_t> lanes(trace.lanes.size());
  std::iota(lanes.begin(), lanes.end(), 0u);
  if (lanes.size() <= most) return lanes;
  std::vector<std::uint64_t> events(lanes.size());
  for (const Event& event : trace.events) ++events[event.lane];
  std::ranges::stable_sort(lanes, std::greater<>(), [&](std::uint32_t lane) { return events[lane]; });
  lanes.resize(most);
  for (std::size_t i = 0; i < most; ++i) lanes.push_back(trace.lanes[lanes[i]].process);
  std::ranges::sort(lanes);
  lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
  return lanes;
}

// The lanes of a process follow it.
std::vector<std::uint32_t> order_of(const Trace& trace, std::size_t most) {
  std::vector<std::uint32_t> order = choose_lanes(trace, most);
  const auto key = [&](std::uint32_t index) {
    const Lane& lane = trace.lanes[index];
    return std::tuple(lane.process, static_cast<int>(lane.kind), index);
  };
  std::ranges::sort(order, {}, key);
  return order;
}

class Page {
 public:
  Page(const Trace& trace, const Activity& activity, const PageLimits& limits)
      : trace_(trace),
        activity_(activity),
        limits_(limits),
        order_(order_of(trace, limits.lanes)),
        rows_(trace.lanes.size(), -1) {
    for (std::size_t i = 0; i < order_.size(); ++i) rows_[order_[i]] = static_cast<int>(i);
  }

  json data(const std::string& title) {
    json page;
    page["title"] = title;
    page["length"] = activity_.whole.length();
    page["names"] = json::array();
    for (std::size_t i = 0; i <= base::trace::kLastName; ++i) {
      page["names"].push_back(base::trace::text_of(static_cast<base::trace::Name>(i)));
    }
    page["reasons"] = json::array();
    for (std::size_t i = 0; i <= static_cast<std::size_t>(Reason::kOwnPoll); ++i) {
      page["reasons"].push_back(text_of(static_cast<Reason>(i)));
    }
    if (const std::size_t all = trace_.lanes.size(); all > order_.size()) {
      notes_.push_back(fmt::format("{} of {} lanes are left out: the page has those with the most events",
                                   all - order_.size(), all));
    }
    page["lanes"] = lanes();
    page["calls"] = calls();
    page["operations"] = operations(page["slow"]);
    page["facts"] =
        fmt::format("{} lanes, {} events and {} operations in {:.3f} ms", trace_.lanes.size(), trace_.events.size(),
                    activity_.operations.size(), static_cast<double>(activity_.whole.length()) / 1e6);
    page["notes"] = notes_;
    return page;
  }

 private:
  json lanes() const {
    std::vector<std::vector<std::uint32_t>> density(trace_.lanes.size(), std::vector<std::uint32_t>(kBuckets));
    const std::uint64_t length = std::max<std::uint64_t>(activity_.whole.length(), 1);
    for (const Event& event : trace_.events) {
      const auto at = static_cast<double>(time_of(event.time)) / static_cast<double>(length) * kBuckets;
      ++density[event.lane][std::min(static_cast<std::size_t>(at), kBuckets - 1)];
    }
    json result = json::array();
    for (const std::uint32_t index : order_) {
      const Lane& lane = trace_.lanes[index];
      constexpr const char* kKinds[] = {"process", "thread", "endpoint"};
      const std::string number = lane.number == 0 ? "" : fmt::format(" {}", lane.number);
      const bool is_thread = lane.kind == Lane::Kind::kThread;
      result.push_back({{"name", (is_thread ? "thread " : "") + lane.name + number},
                        {"kind", kKinds[static_cast<std::size_t>(lane.kind)]},
                        {"density", density[index]}});
    }
    return result;
  }

  json calls() {
    std::vector<std::pair<std::uint32_t, const Call*>> all;
    for (const std::uint32_t lane : order_) {
      for (const Call& call : activity_.calls[lane]) all.emplace_back(lane, &call);
    }
    if (all.size() > limits_.calls) {
      notes_.push_back(
          fmt::format("{} of {} calls are left out: the page has the longest", all.size() - limits_.calls, all.size()));
      std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(limits_.calls), std::greater<>(),
                               [](const auto& entry) { return entry.second->span.length(); });
      all.resize(limits_.calls);
    }
    json result = json::array();
    for (const auto& [lane, call] : all) {
      result.push_back({rows_[lane], time_of(call->span.begin), time_of(call->span.end), static_cast<int>(call->name),
                        call->sleeps});
    }
    return result;
  }

  json operations(json& slow) {
    std::vector<const Operation*> all;
    for (const Operation& operation : activity_.operations) all.push_back(&operation);
    std::ranges::stable_sort(all, std::greater<>(), [](const Operation* operation) { return operation->length(); });
    if (all.size() > limits_.operations) {
      notes_.push_back(
          fmt::format("{} of {} operations are left out: the page has the slowest. The lanes show where "
                      "there are more",
                      all.size() - limits_.operations, all.size()));
      all.resize(limits_.operations);
    }
    slow = json::array();
    json result = json::array();
    for (const Operation* const operation : all) {
      if (slow.size() < limits_.rows) slow.push_back(result.size());
      result.push_back(row_of(*operation));
    }
    note_losses();
    return result;
  }

  void note_losses() {
    if (trace_.lost > 0) notes_.push_back(fmt::format("the processes lost {} events", trace_.lost));
    if (trace_.left_out > 0) notes_.push_back(fmt::format("{} later events of the file are left out", trace_.left_out));
    if (trace_.broken > 0) notes_.push_back(fmt::format("{} packets of the file make no sense", trace_.broken));
    if (trace_.is_cut_off) notes_.push_back("the end of the file is missing");
  }

  json row_of(const Operation& operation) const {
    const Delay delay = longest_delay(activity_, operation);
    return {or_none(operation.posted),
            or_none(operation.wire),
            or_none(operation.placed),
            or_none(operation.completed),
            or_none(operation.dequeued),
            or_none(operation.peer_completed),
            or_none(operation.peer_dequeued),
            rows_[operation.thread],
            row_or_none(operation.endpoint),
            row_or_none(operation.peer),
            row_or_none(operation.dequeuer),
            row_or_none(operation.peer_thread),
            operation.bytes,
            static_cast<int>(operation.name),
            static_cast<int>(delay.reason),
            delay.length};
  }

  std::uint64_t time_of(std::uint64_t time) const { return time - std::min(time, activity_.whole.begin); }
  json or_none(std::uint64_t time) const { return time == 0 ? json(-1) : json(time_of(time)); }
  json row_or_none(std::uint32_t lane) const { return lane == 0 ? json(-1) : json(rows_[lane]); }

  const Trace& trace_;
  const Activity& activity_;
  const PageLimits limits_;
  const std::vector<std::uint32_t> order_;
  std::vector<int> rows_;  // of lanes; -1: left out
  std::vector<std::string> notes_;
};

}  // namespace

// The data must not end the script that it stands in, whatever a program calls itself.
std::string make_page(const Trace& trace, const Activity& activity, const std::string& title,
                      const PageLimits& limits) {
  const json data = Page(trace, activity, limits).data(title);
  const std::string text = data.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string page = kPageHead;
  page.reserve(page.size() + text.size() + std::string_view(kPageTail).size());
  for (const char letter : text) {
    if (letter == '<') {
      page += "\\u003c";
    } else {
      page += letter;
    }
  }
  return page += kPageTail;
}

}  // namespace softdat::tools::timeline
