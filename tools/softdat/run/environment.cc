// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/environment.h"

#include <fmt/format.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/ip_address.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/registry_library.h"

namespace softdat::tools::run {
namespace {

std::string own_value(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

// As SOFTDAT_BACKEND has it, which is case-sensitive.
void check_backend(const std::string& backend) {
  constexpr std::string_view kDevice = "verbs:";
  const bool is_device = backend.starts_with(kDevice) && backend.size() > kDevice.size();
  if (backend.empty() || backend == "sim" || backend == "verbs" || is_device) return;
  throw UsageError(fmt::format("--backend \"{}\" is none of: sim, verbs, verbs:DEVICE", backend));
}

// The program may run where other interfaces are, in a container say, so only the form is judged.
void check_address(const std::string& address) {
  const bool has_form_of_address =
      address.find_first_not_of("0123456789.") == address.npos || address.find(':') != address.npos;
  const bool has_form_of_interface =
      !has_form_of_address && address.size() < IFNAMSIZ && address.find_first_of("/ \t\n") == address.npos;
  if (address.empty() || has_form_of_interface || base::read_ip_address(address)) return;
  throw UsageError(fmt::format(
      "--address \"{}\" is neither an IP address nor the name of a network interface; \"ip -brief address\" "
      "lists both",
      address));
}

}  // namespace

void EnvironmentOptions::add_to(Subcommand& options) {
  options.set_group("Adapter");
  options.add_text("--backend", "NAME", backend, "sim, verbs or verbs:DEVICE, as SOFTDAT_BACKEND");
  options.add_word("--transport", {"auto", "shm", "tcp", "loop"}, transport,
                   "What carries RDMA: auto, shm, tcp or loop, as SOFTDAT_TRANSPORT");
  options.add_text("--address", "ADDRESS", address, "IP address or interface of the adapter, as SOFTDAT_ADDRESS");
  options.add_texts("--env", "NAME=VALUE", assignments_, "A variable for the program; may be given again");
}

Variables EnvironmentOptions::variables() const {
  return read_assignments(assignments_);
}

Variables read_assignments(const std::vector<std::string>& assignments) {
  Variables result;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == 0 || equals == assignment.npos) {
      throw UsageError(fmt::format("--env \"{}\" is not NAME=VALUE", assignment));
    }
    result.emplace_back(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  return result;
}

void Environment::put(const std::string& name, const std::string& value) {
  std::erase(unset, name);
  std::erase_if(set, [&](const auto& variable) { return variable.first == name; });
  set.emplace_back(name, value);
}

// As the program will see it: options first, then our own environment.
std::string Environment::value_of(const std::string& name) const {
  for (const auto& [known, value] : set) {
    if (known == name) return value;
  }
  return std::find(unset.begin(), unset.end(), name) == unset.end() ? own_value(name) : "";
}

std::vector<std::string> Environment::merged() const {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const std::string name = text.substr(0, text.find('='));
    const bool is_set =
        std::any_of(set.begin(), set.end(), [&](const auto& variable) { return variable.first == name; });
    if (!is_set && std::find(unset.begin(), unset.end(), name) == unset.end()) result.push_back(text);
  }
  for (const auto& [name, value] : set) result.push_back(name + '=' + value);
  return result;
}

std::string library_directory() {
  const std::string found = own_library_directory();
  if (!found.empty()) return found;
  throw Failure(
      "SoftDAT's libraries (libsoftdat.so, libdat2.so.2, libdat.so.1) are not beside softdat; install it again");
}

std::string put_first(const std::string& word, const std::string& list, char separator) {
  std::string result = word;
  std::istringstream words(list);
  for (std::string next; std::getline(words, next, separator);) {
    if (!next.empty() && next != word) result += separator + next;
  }
  return result;
}

Environment make_environment(const EnvironmentOptions& options) {
  check_backend(options.backend);
  check_address(options.address);
  Environment result;
  // DAT_OVERRIDE of the user's shell names another dat.conf, whose adapters this run does not want.
  result.unset.emplace_back("DAT_OVERRIDE");
  result.put("SOFTDAT_ANY_IA", "1");
  if (own_value("SOFTDAT_LOG").empty()) result.put("SOFTDAT_LOG", "notice");
  if (!options.backend.empty()) result.put("SOFTDAT_BACKEND", options.backend);
  if (!options.transport.empty()) result.put("SOFTDAT_TRANSPORT", options.transport);
  if (!options.address.empty()) result.put("SOFTDAT_ADDRESS", options.address);
  // These come last, so that --env overrides an option; but ours stays the first of the library directories.
  for (const auto& [name, value] : options.variables()) result.put(name, value);
  result.put("LD_LIBRARY_PATH", put_first(library_directory(), result.value_of("LD_LIBRARY_PATH"), ':'));
  return result;
}

}  // namespace softdat::tools::run
