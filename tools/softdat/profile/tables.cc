// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/profile/tables.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace softdat::tools::profile {
namespace {

using simnic::model::FieldInfo;
using simnic::model::FieldKind;
using simnic::model::fields;
using simnic::model::kUnlimited;
using simnic::model::Profile;
using simnic::model::Value;
using Json = nlohmann::ordered_json;

Json json_value(const FieldInfo& info, const Value& value) {
  if (info.kind == FieldKind::kFlag) return value.number != 0;
  if (info.kind == FieldKind::kWord || value.number == kUnlimited) return value_text(info, value.number);
  return value.number;
}

// A value that is not known is null.
Json to_json(const Profile& profile) {
  Json json{{"name", profile.name}, {"title", profile.title}, {"transport", name_of(profile.family)}};
  for (const FieldInfo& info : fields()) {
    const auto& value = profile.at(info.field);
    Json row{{"value", value ? json_value(info, *value) : Json()}, {"source", Json()}, {"meaning", info.meaning}};
    if (value && !value->source.empty()) row["source"] = value->source;
    json[info.section][info.name] = std::move(row);
  }
  return json;
}

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string as_list(const std::vector<Profile>& profiles) {
  std::string text;
  for (const Profile& profile : profiles) {
    text += fmt::format("{:<12} {:<11} {}\n", profile.name, name_of(profile.family), profile.title);
  }
  return text;
}

std::string as_json(const std::vector<Profile>& profiles) {
  Json all = Json::array();
  for (const Profile& profile : profiles) {
    all.push_back({{"name", profile.name}, {"title", profile.title}, {"transport", name_of(profile.family)}});
  }
  return dump(all);
}

std::string as_json(const Profile& profile) {
  return dump(to_json(profile));
}

std::string as_text(const Profile& profile) {
  std::string text = fmt::format("{}: {}, {}\n", profile.name, profile.title, name_of(profile.family));
  std::string_view section;
  for (const FieldInfo& info : fields()) {
    if (section != info.section) text += fmt::format("\n{}\n", section = info.section);
    const auto& value = profile.at(info.field);
    const std::string shown = value ? value_text(info, value->number) : "not known";
    const std::string source = !value ? "" : value->source.empty() ? "no source" : value->source;
    text += fmt::format("  {:<28} {:>12}{}{}\n", info.name, shown, source.empty() ? "" : "  ", source);
  }
  return text;
}

std::string as_markdown(const std::vector<Profile>& profiles) {
  std::string head = "| value |", line = "|---|";
  for (const Profile& profile : profiles) {
    head += fmt::format(" {} |", profile.name);
    line += "---|";
  }
  std::string text = head + '\n' + line + '\n';
  for (const FieldInfo& info : fields()) {
    text += fmt::format("| {} |", info.name);
    for (const Profile& profile : profiles) {
      const auto& value = profile.at(info.field);
      text += fmt::format(" {} |", value ? value_text(info, value->number) : "?");
    }
    text += '\n';
  }
  return text;
}

}  // namespace softdat::tools::profile
