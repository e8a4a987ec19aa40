// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/backends/device_settings.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "base/environment.h"
#include "base/fault_plan.h"
#include "base/fault_plan_file.h"
#include "base/local_addresses.h"
#include "base/log.h"
#include "libdat/backends/local_interface.h"
#include "simnic/model/profile_file.h"

namespace softdat::backends {
namespace {

using base::Variable;

// "sim3" is 3; every other name is 0.
std::uint32_t index_of(std::string_view name) {
  if (!name.starts_with("sim")) return 0;
  std::uint32_t index = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 3, end, index);
  return error == std::errc() && stop == end && index < 250 ? index : 0;
}

bool set_address(simnic::NicOptions& options, const std::string& value) {
  const auto address = find_address(value);
  if (!address) return false;
  options.address = *address;
  return true;
}

bool set_transport(simnic::NicOptions& options, std::string_view value) {
  if (value == "auto") options.carrier = transport::CarrierKind::kAuto;
  if (value == "shm") options.carrier = transport::CarrierKind::kShm;
  if (value == "tcp") options.carrier = transport::CarrierKind::kTcp;
  if (value == "loop") options.carrier = transport::CarrierKind::kLoop;
  return value == "auto" || value == "shm" || value == "tcp" || value == "loop";
}

bool set_crc(simnic::NicOptions& options, std::string_view value) {
  options.crc = value == "on";
  return value == "on" || value == "off";
}

bool set_mpa(simnic::NicOptions& options, std::string_view value) {
  if (value == "p2p") options.mpa = transport::MpaStyle::kPeerToPeer;
  if (value == "2") options.mpa = transport::MpaStyle::kEnhanced;
  if (value == "1") options.mpa = transport::MpaStyle::kPlain;
  return value == "p2p" || value == "2" || value == "1";
}

bool set_rnr(simnic::NicOptions& options, std::string_view value) {
  options.rnr = value == "terminate" ? simnic::RnrPolicy::kTerminate : simnic::RnrPolicy::kWait;
  return value == "terminate" || value == "wait";
}

bool set_direct(simnic::NicOptions& options, std::string_view value) {
  using hca::DirectAccess;
  if (value == "off" || value == "0") options.direct = DirectAccess::kNone;
  if (value == "auto") options.direct = DirectAccess::kWhereHarmless;
  if (value == "on" || value == "1") options.direct = DirectAccess::kWhereAble;
  return value == "off" || value == "0" || value == "auto" || value == "on" || value == "1";
}

bool set_tcp_timeout(simnic::NicOptions& options, std::string_view value) {
  const auto seconds = base::read_number(Variable::kTcpTimeout, value);
  if (seconds) options.tcp_timeout = std::chrono::seconds(*seconds);
  return seconds.has_value();
}

bool set_connect_grace(simnic::NicOptions& options, std::string_view value) {
  const auto milliseconds = base::read_number(Variable::kConnectGrace, value);
  if (milliseconds) options.connect_grace = std::chrono::milliseconds(*milliseconds);
  return milliseconds.has_value();
}

bool apply(simnic::NicOptions& options, std::string_view key, const std::string& value) {
  if (key == "address") return set_address(options, value);
  if (key == "transport") return set_transport(options, value);
  if (key == "crc") return set_crc(options, value);
  if (key == "mpa") return set_mpa(options, value);
  if (key == "rnr") return set_rnr(options, value);
  if (key == "direct") return set_direct(options, value);
  if (key == "tcp_timeout") return set_tcp_timeout(options, value);
  if (key == "connect_grace") return set_connect_grace(options, value);
  return false;
}

// As "2...600".
std::string text_of(const base::Limits& limits) {
  return std::to_string(limits.least) + "..." + std::to_string(limits.most);
}

bool apply_instance(simnic::NicOptions& options, const DeviceChoice& choice) {
  std::istringstream words(choice.instance);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    // Words without "=" choose the backend (backend_choice.h), and say nothing here.
    if (equals == std::string::npos) continue;
    if (apply(options, word.substr(0, equals), word.substr(equals + 1))) continue;
    base::log(
        base::LogLevel::kError,
        "IA %s: instance data \"%s\" is not understood; known are address=IP|INTERFACE, transport=auto|shm|tcp|loop, "
        "crc=on|off, mpa=p2p|2|1, rnr=wait|terminate, direct=auto|on|off, tcp_timeout=%s, connect_grace=%s",
        choice.name.c_str(), word.c_str(), text_of(base::limits_of(Variable::kTcpTimeout)).c_str(),
        text_of(base::limits_of(Variable::kConnectGrace)).c_str());
    return false;
  }
  return true;
}

// The text of the plan, or that of the file that @FILE names. Nothing, with the reason logged, if it cannot be read.
std::optional<std::string> read_plan_text(const std::string& value) {
  if (!value.starts_with('@')) return value;
  auto text = base::read_plan_file(value.substr(1));
  if (text) return std::move(text).value();
  base::log(base::LogLevel::kError, "SOFTDAT_FAULTS=%s: the file cannot be read: %s", value.c_str(),
            text.reason().c_str());
  return std::nullopt;
}

const char* name_of(transport::CarrierKind kind) {
  switch (kind) {
    case transport::CarrierKind::kAuto:
      return "auto";
    case transport::CarrierKind::kShm:
      return "shm";
    case transport::CarrierKind::kTcp:
      return "tcp";
    case transport::CarrierKind::kLoop:
      return "loop";
  }
  return "";
}

// Which fault of the plan the carrier cannot make, if there is one.
bool can_make(const base::FaultRule& rule, const simnic::NicOptions& options) {
  const std::string_view needed = base::transport_of(rule);
  if (needed.empty() || needed == name_of(options.carrier)) return true;
  base::log(base::LogLevel::kError, "SOFTDAT_FAULTS, line %zu: %s; take SOFTDAT_TRANSPORT=tcp", rule.line,
            base::wire_text(rule, name_of(options.carrier)).c_str());
  return false;
}

// False, with the reason logged, if the plan makes no sense here.
bool apply_faults(simnic::NicOptions& options) {
  const std::string value(base::environment(Variable::kFaults));
  if (value.empty()) return true;
  const auto text = read_plan_text(value);
  if (!text) return false;
  auto plan = base::read_fault_plan(*text);
  if (!plan) {
    base::log(base::LogLevel::kError, "SOFTDAT_FAULTS, line %zu: %s", plan.reason().line, plan.reason().text.c_str());
    return false;
  }
  options.faults = std::move(plan).value();
  const auto& rules = options.faults.rules;
  return std::all_of(rules.begin(), rules.end(), [&](const auto& rule) { return can_make(rule, options); });
}

// A wrong value has been reported and reads as unset.
void apply_nasty(simnic::NicOptions& options) {
  options.nasty = base::read_number(Variable::kNasty, base::environment(Variable::kNasty)).value_or(0);
}

// What the device does, unless the program's user says otherwise.
void apply_profile_quirks(simnic::NicOptions& options) {
  // An explicit SOFTDAT_RNR wins over the profile.
  const simnic::model::Profile& profile = *options.profile;
  const auto& no_receive = profile.at(simnic::model::Field::kNoReceive);
  if (!no_receive || !base::environment(Variable::kRnr).empty()) return;
  const bool terminates = no_receive->number == static_cast<std::uint64_t>(simnic::model::NoReceive::kTerminate);
  options.rnr = terminates ? simnic::RnrPolicy::kTerminate : simnic::RnrPolicy::kWait;
}

// False, with the reason logged, if there is no such profile, or it makes no sense.
bool apply_profile(simnic::NicOptions& options) {
  const std::string value(base::environment(Variable::kProfile));
  if (value.empty()) return true;
  auto profile = simnic::model::find_profile(value);
  if (!profile) {
    base::log(base::LogLevel::kError, "SOFTDAT_PROFILE=%s: %s", value.c_str(), profile.reason().c_str());
    return false;
  }
  options.profile = std::make_shared<const simnic::model::Profile>(std::move(profile).value());
  apply_profile_quirks(options);
  return true;
}

// An unknown value of the others has been reported and reads as unset.
bool apply_environment(simnic::NicOptions& options) {
  const auto apply_variable = [&](Variable variable, std::string_view key) {
    const std::string value(base::environment(variable));
    return value.empty() || apply(options, key, value);
  };
  apply_variable(Variable::kTransport, "transport");
  apply_variable(Variable::kCrc, "crc");
  apply_variable(Variable::kMpa, "mpa");
  apply_variable(Variable::kRnr, "rnr");
  apply_variable(Variable::kDirect, "direct");
  apply_variable(Variable::kTcpTimeout, "tcp_timeout");
  apply_variable(Variable::kConnectGrace, "connect_grace");
  // The address of the host belongs to one adapter; the others stay where they are.
  if (index_of(options.name) != 0 || apply_variable(Variable::kAddress, "address")) return true;
  base::log(base::LogLevel::kError,
            "SOFTDAT_ADDRESS=\"%s\" is neither an IP address, localhost, nor an interface of this host that has one; "
            "\"ip -brief address\" lists both",
            std::string(base::environment(Variable::kAddress)).c_str());
  return false;
}

// Asked now, for later it would be a service point that cannot be had, and nobody would know why.
bool has_own_address(const simnic::NicOptions& options) {
  if (is_single_host(options.address) && is_local_address(options.address)) return true;
  const bool is_wildcard = !options.address.is_set();
  base::log(base::LogLevel::kError, "IA %s: this host has no address %s%s; \"ip -brief address\" lists what it has",
            options.name.c_str(), text_of(options.address).c_str(),
            is_wildcard ? ", which stands for all, and an adapter has one" : "");
  return false;
}

}  // namespace

std::optional<simnic::NicOptions> settle_options(const DeviceChoice& choice) {
  constexpr std::uint32_t kLoopback = 0x7f000001;
  base::report_environment_mistakes();
  simnic::NicOptions options;
  options.name = choice.name;
  // sim0 is 127.0.0.1, sim1 127.0.0.2, and so on, unless a setting names another address.
  options.address.ipv4 = kLoopback + index_of(choice.name);
  // In this order, so that the environment wins over dat.conf.
  if (!apply_instance(options, choice) || !apply_environment(options)) return std::nullopt;
  if (!has_own_address(options) || !apply_faults(options) || !apply_profile(options)) return std::nullopt;
  apply_nasty(options);
  SOFTDAT_DEBUG_CHECK(options.address.port == 0, "the address of an adapter has no port", options.address.port);
  return options;
}

}  // namespace softdat::backends
