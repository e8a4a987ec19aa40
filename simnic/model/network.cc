// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/model/network.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "base/edit_distance.h"
#include "simnic/model/text_file.h"

namespace softdat::simnic::model {
namespace {

// Thrown within this file only.
struct Refused {
  std::size_t line;
  std::string text;
};

constexpr std::string_view kTopKeys[] = {"name", "title", "network"};
constexpr std::string_view kParts[] = {"low", "typical", "high", "source"};
constexpr std::size_t kMostText = 400;
constexpr double kMostTime = 1e9;

constexpr NetworkFieldInfo kInfos[] = {
    {NetworkField::kSend, "send_ns", kMostTime, "processor time of a post"},
    {NetworkField::kReceive, "receive_ns", kMostTime, "processor time of an event that is taken"},
    {NetworkField::kLatency, "latency_ns", kMostTime, "from one adapter to the other, and of an acknowledgement back"},
    {NetworkField::kGap, "gap_ns", kMostTime, "between two messages of a port"},
    {NetworkField::kRate, "rate_gbit", 1e5, "payload that a port sends, and receives"},
    {NetworkField::kFetch, "fetch_ns", kMostTime, "for payload that does not come with the post"},
    {NetworkField::kInline, "inline_bytes", 1e9, "payload that comes with the post"},
    {NetworkField::kFirstPacket, "first_packet_ns_per_kib", kMostTime, "what the first packet takes longer"},
    {NetworkField::kPacket, "packet_bytes", 1e9, "the first packet"},
};

std::size_t line_of(const toml::node& node) {
  return node.source().begin.line;
}

std::string quoted(std::string_view text) {
  return '"' + std::string(text) + '"';
}

std::string text_of(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

template <typename Range>
[[noreturn]] void refuse_key(const toml::key& key, std::string_view where, const Range& known) {
  std::string allowed;
  for (const std::string_view name : known) allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  const std::string_view nearest = base::nearest_word(key.str(), known);
  throw Refused{key.source().begin.line, quoted(key.str()) + " is no part of " + std::string(where) +
                                             (nearest.empty() ? "" : ", did you mean " + quoted(nearest) + "?") +
                                             "; allowed: " + allowed};
}

double read_number(const NetworkFieldInfo& info, const toml::node& node) {
  const auto value = node.value<double>();
  const double least = info.field == NetworkField::kRate ? 0.001 : 0;
  if (value && std::isfinite(*value) && *value >= least && *value <= info.most) return *value;
  throw Refused{line_of(node),
                quoted(info.name) + " takes a number from " + text_of(least) + " to " + text_of(info.most)};
}

std::string read_text(const toml::table& table, const char* key, bool is_needed) {
  const toml::node* const node = table.get(key);
  if (node == nullptr && !is_needed) return {};
  if (node == nullptr) throw Refused{1, "there is no " + std::string(key)};
  const auto* const text = node->as_string();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (text == nullptr || text->get().empty() || text->get().size() > kMostText ||
      std::ranges::any_of(text->get(), is_control)) {
    throw Refused{line_of(*node),
                  quoted(key) + " is a text of 1 to " + std::to_string(kMostText) + " letters in quotes, on one line"};
  }
  return text->get();
}

// A number alone is sure.
NetworkValue read_value(const NetworkFieldInfo& info, const toml::node& node) {
  const auto* const table = node.as_table();
  if (table == nullptr) {
    const double sure = read_number(info, node);
    return {.low = sure, .typical = sure, .high = sure};
  }
  for (const auto& [key, part] : *table) {
    if (std::ranges::find(kParts, key.str()) == std::end(kParts)) refuse_key(key, quoted(info.name), kParts);
  }
  const toml::node* const typical = table->get("typical");
  if (typical == nullptr) throw Refused{line_of(node), quoted(info.name) + " has no part \"typical\""};
  NetworkValue value{.typical = read_number(info, *typical), .source = read_text(*table, "source", false)};
  const toml::node* const low = table->get("low");
  const toml::node* const high = table->get("high");
  value.low = low == nullptr ? value.typical : read_number(info, *low);
  value.high = high == nullptr ? value.typical : read_number(info, *high);
  if (value.low <= value.typical && value.typical <= value.high) return value;
  throw Refused{line_of(node), "of " + quoted(info.name) + ", low is " + text_of(value.low) + ", typical " +
                                   text_of(value.typical) + ", high " + text_of(value.high) +
                                   "; low must be at most typical, and typical at most high"};
}

Network read_table(const toml::table& file) {
  for (const auto& [key, node] : file) {
    if (std::ranges::find(kTopKeys, key.str()) == std::end(kTopKeys)) refuse_key(key, "a network's file", kTopKeys);
  }
  Network network{.name = read_text(file, "name", true), .title = read_text(file, "title", false)};
  if (network.title.empty()) network.title = network.name;
  const auto* const section = file["network"].as_table();
  if (section == nullptr) throw Refused{1, "there is no table [network]"};
  std::vector<std::string_view> known;
  for (const NetworkFieldInfo& info : kInfos) known.emplace_back(info.name);
  for (const auto& [key, node] : *section) {
    if (std::ranges::find(known, key.str()) == known.end()) refuse_key(key, "[network]", known);
  }
  for (const NetworkFieldInfo& info : kInfos) {
    const toml::node* const node = section->get(info.name);
    // A forecast needs every value, so none has a default.
    if (node == nullptr) throw Refused{line_of(*section), "[network] has no " + quoted(info.name)};
    network.at(info.field) = read_value(info, *node);
  }
  return network;
}

std::string at(const std::string& path, std::size_t line, const std::string& text) {
  return path + ':' + std::to_string(line) + ": " + text;
}

}  // namespace

std::span<const NetworkFieldInfo> network_fields() {
  return kInfos;
}

base::Result<Network, Mistake> read_network(const std::string& path, std::string_view text) try {
  return read_table(toml::parse(text));
} catch (const toml::parse_error& error) {
  return base::Failure{at(path, error.source().begin.line, std::string(error.description()))};
} catch (const Refused& refused) {
  return base::Failure{at(path, refused.line, refused.text)};
}

// A leading "@" names a file, as in SOFTDAT_PROFILE.
base::Result<Network, Mistake> find_network(const std::string& name_or_file) {
  if (name_or_file.starts_with('@')) {
    const std::string path = name_or_file.substr(1);
    auto text = read_text_file(path, "network");
    if (!text) return base::Failure{text.reason()};
    return read_network(path, text.value());
  }
  std::vector<std::string_view> names;
  for (const BuiltIn& known : built_in_networks()) {
    if (known.name == name_or_file) return read_network(name_or_file + ".toml", known.text);
    names.push_back(known.name);
  }
  const std::string_view nearest = base::nearest_word(name_or_file, names);
  return base::Failure{"there is no network " + quoted(name_or_file) +
                       (nearest.empty() ? "" : ", did you mean " + quoted(nearest) + "?") + "; there are " +
                       built_in_network_names() + ", and @FILE for one of your own"};
}

std::string built_in_network_names() {
  std::string text;
  for (const BuiltIn& known : built_in_networks()) text += (text.empty() ? "" : ", ") + std::string(known.name);
  return text;
}

}  // namespace softdat::simnic::model
