// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/model/profile_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "base/edit_distance.h"
#include "simnic/model/text_file.h"

namespace softdat::simnic::model {
namespace {

// Thrown within this file only.
struct Refused {
  std::size_t line;
  std::string text;
};

constexpr std::string_view kSections[] = {"limits", "features", "rounding", "quirks"};
constexpr std::string_view kTopKeys[] = {"name", "title", "transport", "limits", "features", "rounding", "quirks"};
constexpr std::size_t kMostName = 64;
constexpr std::size_t kMostText = 400;

std::size_t line_of(const toml::node& node) {
  return node.source().begin.line;
}

std::string quoted(std::string_view text) {
  return '"' + std::string(text) + '"';
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = base::nearest_word(word, known);
  return nearest.empty() ? "" : ", did you mean " + quoted(nearest) + "?";
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

std::vector<std::string_view> names_in(std::string_view section) {
  std::vector<std::string_view> names;
  for (const FieldInfo& info : fields()) {
    if (info.section == section) names.emplace_back(info.name);
  }
  return names;
}

std::string allowed_by(const FieldInfo& info) {
  if (info.kind == FieldKind::kFlag) return "true or false";
  if (info.kind == FieldKind::kWord) return quoted(info.words[0]) + " or " + quoted(info.words[1]);
  if (info.most == kUnlimited) return "a whole number from " + std::to_string(info.least) + " on, or \"unlimited\"";
  return "a whole number from " + std::to_string(info.least) + " to " + std::to_string(info.most);
}

std::string shown(const toml::node& node) {
  if (const auto* text = node.as_string()) return quoted(text->get().substr(0, kMostName));
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* fraction = node.as_floating_point()) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", fraction->get());
    return text;
  }
  return node.is_array() ? "an array" : node.is_table() ? "a table" : "a date or time";
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

std::optional<std::uint64_t> number_of(const FieldInfo& info, const toml::node& node) {
  // TOML has types: "1" and 1.0 are no whole numbers, and are refused.
  if (info.kind == FieldKind::kFlag) {
    const auto* const flag = node.as_boolean();
    return flag == nullptr ? std::nullopt : std::optional<std::uint64_t>(flag->get() ? 1 : 0);
  }
  const auto* const text = node.as_string();
  if (info.kind == FieldKind::kWord) {
    for (std::size_t i = 0; text != nullptr && i < info.words.size(); ++i) {
      if (text->get() == info.words[i]) return i;
    }
    return std::nullopt;
  }
  if (text != nullptr && info.most == kUnlimited && text->get() == "unlimited") return kUnlimited;
  const auto* const number = node.as_integer();
  if (number == nullptr || number->get() < 0) return std::nullopt;
  const auto value = static_cast<std::uint64_t>(number->get());
  return value < info.least || value > info.most ? std::nullopt : std::optional(value);
}

// A value stands alone, or in a table with the source that it is known from.
Value read_value(const FieldInfo& info, const toml::node& node) {
  const toml::node* value = &node;
  Value result;
  if (const auto* const table = node.as_table()) {
    for (const auto& [key, part] : *table) {
      if (key.str() == "value" || key.str() == "source") continue;
      throw Refused{key.source().begin.line, quoted(info.name) + " has no part " + quoted(key.str()) +
                                                 "; allowed: { value = ..., source = \"...\" }"};
    }
    value = table->get("value");
    if (value == nullptr) throw Refused{line_of(node), quoted(info.name) + " has no value, as in { value = 1 }"};
    if (const toml::node* const source = table->get("source")) {
      const auto* const text = source->as_string();
      if (text == nullptr || text->get().size() > kMostText || has_control(text->get())) {
        throw Refused{line_of(*source), "the source of " + quoted(info.name) + " is a text of up to " +
                                            std::to_string(kMostText) + " letters in quotes, on one line"};
      }
      result.source = text->get();
    }
  }
  const auto number = number_of(info, *value);
  if (!number) {
    throw Refused{line_of(*value), quoted(info.name) + " is " + shown(*value) + "; it takes " + allowed_by(info)};
  }
  result.number = *number;
  return result;
}

// An unknown key is refused: a slip in its name would silently leave the field at its default.
void read_section(const std::string& section, const toml::node& node, Profile& profile) {
  const auto* const table = node.as_table();
  if (table == nullptr) throw Refused{line_of(node), quoted(section) + " is a table: [" + section + "]"};
  for (const auto& [key, value] : *table) {
    const std::string_view name = key.str();
    const auto is_it = [&](const FieldInfo& info) { return section == info.section && name == info.name; };
    const auto found = std::ranges::find_if(fields(), is_it);
    if (found == fields().end()) {
      const auto names = names_in(section);
      throw Refused{key.source().begin.line, quoted(key.str()) + " is no part of [" + section + "]" +
                                                 suggestion(key.str(), names) + "; allowed: " + joined(names)};
    }
    profile.at(found->field) = read_value(*found, value);
  }
}

std::string read_text(const toml::table& table, const char* key, std::size_t most) {
  const toml::node* const node = table.get(key);
  if (node == nullptr) throw Refused{1, "there is no " + std::string(key) + ", as in " + key + " = \"my-card\""};
  const auto* const text = node->as_string();
  if (text == nullptr || text->get().empty() || text->get().size() > most) {
    throw Refused{line_of(*node), quoted(key) + " is a text of 1 to " + std::to_string(most) + " letters in quotes"};
  }
  if (has_control(text->get())) {
    throw Refused{line_of(*node), quoted(key) + " has a control character; it takes letters on one line"};
  }
  return text->get();
}

Family read_family(const toml::table& table) {
  const toml::node* const node = table.get("transport");
  if (node == nullptr) throw Refused{1, "there is no transport, as in transport = \"infiniband\""};
  const auto* const text = node->as_string();
  if (text != nullptr && text->get() == "infiniband") return Family::kInfiniBand;
  if (text != nullptr && text->get() == "iwarp") return Family::kIwarp;
  throw Refused{line_of(*node),
                "\"transport\" is " + shown(*node) + "; it takes \"infiniband\" (RoCE too) or \"iwarp\""};
}

// Each value may be right and the two together not.
void check_whole(const Profile& profile) {
  const auto check = [&](Field less, Field more) {
    const auto& small = profile.at(less);
    const auto& large = profile.at(more);
    if (!small || !large || small->number <= large->number) return;
    throw Refused{1, quoted(info_of(less).name) + " is " + std::to_string(small->number) + ", more than " +
                         quoted(info_of(more).name) + ", which is " + std::to_string(large->number)};
  };
  check(Field::kMaxReadSge, Field::kMaxSge);
}

// Every mistake is thrown as Refused, with its line; the callers turn it into words.
Profile read_table(const toml::table& table) {
  for (const auto& [key, node] : table) {
    if (std::ranges::find(kTopKeys, key.str()) != std::end(kTopKeys)) continue;
    throw Refused{key.source().begin.line, quoted(key.str()) + " is no part of a profile" +
                                               suggestion(key.str(), kTopKeys) + "; allowed: " + joined(kTopKeys)};
  }
  Profile profile{.name = read_text(table, "name", kMostName),
                  .title = table.contains("title") ? read_text(table, "title", kMostText) : ""};
  if (profile.title.empty()) profile.title = profile.name;
  profile.family = read_family(table);
  for (const std::string_view section : kSections) {
    if (const toml::node* const node = table.get(section)) read_section(std::string(section), *node, profile);
  }
  check_whole(profile);
  return profile;
}

std::string at(const std::string& path, std::size_t line, const std::string& text) {
  return path + ':' + std::to_string(line) + ": " + text;
}

// A basic string of TOML: in quotes, with quotes and backslashes escaped.
std::string toml_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  }
  return result + '"';
}

std::string toml_value(const FieldInfo& info, std::uint64_t number) {
  if (info.kind == FieldKind::kFlag) return number != 0 ? "true" : "false";
  if (info.kind == FieldKind::kWord || number == kUnlimited) return toml_text(value_text(info, number));
  return std::to_string(number);
}

}  // namespace

base::Result<Profile, Mistake> read_profile(const std::string& path, std::string_view text) try {
  return read_table(toml::parse(text));
} catch (const toml::parse_error& error) {
  return base::Failure{at(path, error.source().begin.line, std::string(error.description()))};
} catch (const Refused& refused) {
  return base::Failure{at(path, refused.line, refused.text)};
}

base::Result<Profile, Mistake> read_profile_file(const std::string& path) {
  auto text = read_text_file(path, "profile");
  if (!text) return base::Failure{text.reason()};
  return read_profile(path, text.value());
}

base::Result<Profile, Mistake> find_profile(const std::string& name_or_file) {
  if (name_or_file.starts_with('@')) return read_profile_file(name_or_file.substr(1));
  std::vector<std::string_view> names;
  for (const BuiltIn& known : built_in_profiles()) {
    if (known.name == name_or_file) return read_profile(name_or_file + ".toml", known.text);
    names.push_back(known.name);
  }
  return base::Failure{"there is no profile \"" + name_or_file + '"' + suggestion(name_or_file, names) +
                       "; there are " + joined(names) + ", and @FILE for one of your own"};
}

std::string built_in_names() {
  std::string text;
  for (const BuiltIn& known : built_in_profiles()) text += (text.empty() ? "" : ", ") + std::string(known.name);
  return text;
}

// read_profile() reads it back.
std::string write_profile(const Profile& profile) {
  std::string text = "name = " + toml_text(profile.name) + "\ntitle = " + toml_text(profile.title) +
                     "\ntransport = " + toml_text(name_of(profile.family)) + '\n';
  std::string_view section;
  for (const FieldInfo& info : fields()) {
    if (section != info.section) text += "\n[" + std::string(section = info.section) + "]\n";
    const auto& value = profile.at(info.field);
    if (!value) {
      text += "# " + std::string(info.name) + ": not known\n";
      continue;
    }
    text += std::string(info.name) + " = { value = " + toml_value(info, value->number);
    if (!value->source.empty()) text += ", source = " + toml_text(value->source);
    text += " }\n";
  }
  return text;
}

}  // namespace softdat::simnic::model
