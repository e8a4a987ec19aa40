// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/profile/command.h"

#include <fmt/format.h>

#include <algorithm>

#include "simnic/model/capture.h"
#include "simnic/model/profile_file.h"
#include "tools/softdat/output.h"
#include "tools/softdat/profile/tables.h"
#include "verbs/open.h"

namespace softdat::tools::profile {
namespace {

using simnic::model::Profile;

Profile find(const std::string& name_or_file) {
  auto profile = simnic::model::find_profile(name_or_file);
  if (!profile) throw UsageError(profile.reason());
  return std::move(profile).value();
}

std::vector<Profile> all_built_in() {
  std::vector<Profile> profiles;
  for (const auto& known : simnic::model::built_in_profiles()) profiles.push_back(find(std::string(known.name)));
  return profiles;
}

}  // namespace

void check_profile(const std::string& name_or_file) {
  static_cast<void>(find(name_or_file));
}

Command::Command(CommandLine& line)
    : options_(line.add("profile", "Tell what the devices can do that an adapter can be simulated as")) {
  options_.set_footer(
      "ACTION is one of:\n"
      "  list     the built-in profiles\n"
      "  table    what each of them says, as a table in Markdown\n"
      "  show     the values of the profile NAME (or @FILE), with their sources\n"
      "  capture  write a profile of an RDMA device of this machine, as TOML");
  options_.add_operand("action", action_, "list, table, show or capture");
  options_.add_operand("name", name_, "Of show: a built-in profile, or @FILE for one of your own");
  options_.add_flag("--json", is_json_, "Of list and show: JSON on standard output");
  options_.add_flag("--toml", is_toml_, "Of show: a file that --profile @FILE takes");
  options_.add_text("--device", "DEVICE", device_, "Of capture: an RDMA device, an interface or an address");
}

void Command::check() const {
  const bool is_show = action_ == "show";
  if (action_ != "list" && action_ != "table" && action_ != "capture" && !is_show) {
    throw UsageError(action_.empty() ? "softdat profile needs list, table, show or capture"
                                     : fmt::format("\"{}\" is no action of softdat profile; it takes list, table, "
                                                   "show or capture",
                                                   action_));
  }
  if (is_show && name_.empty()) {
    throw UsageError("softdat profile show needs a profile: " + simnic::model::built_in_names() + ", or @FILE");
  }
  if (!is_show && !name_.empty()) throw UsageError(fmt::format("softdat profile {} takes no name", action_));
  if (is_toml_ && !is_show) throw UsageError("--toml goes with softdat profile show");
  if (is_json_ && is_toml_) throw UsageError("--json does not go with --toml");
  if (is_json_ && !is_show && action_ != "list") throw UsageError("--json goes with softdat profile list and show");
  if (!device_.empty() && action_ != "capture") throw UsageError("--device goes with softdat profile capture");
}

void Command::show() const {
  const Profile profile = find(name_);
  if (is_toml_) return print_out(simnic::model::write_profile(profile));
  print_out(is_json_ ? as_json(profile) : as_text(profile));
}

void Command::capture() const {
  const auto device = verbs::open_device(device_);
  if (!device) throw Failure("there is no device to make a profile of: " + device.reason());
  const auto& attributes = device.value()->attributes();
  std::string name = attributes.name.substr(attributes.name.find(':') + 1);
  print_out(
      simnic::model::write_profile(simnic::model::capture(attributes, name, "ibv_query_device of " + attributes.name)));
}

int Command::run() const {
  check();
  if (action_ == "list") print_out(is_json_ ? as_json(all_built_in()) : as_list(all_built_in()));
  if (action_ == "table") print_out(as_markdown(all_built_in()));
  if (action_ == "show") show();
  if (action_ == "capture") capture();
  return 0;
}

}  // namespace softdat::tools::profile
