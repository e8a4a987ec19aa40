// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "libdat/registry/conf_file.h"
#include "tools/softdat/child.h"
#include "tools/softdat/doctor/checks.h"
#include "tools/softdat/doctor/worker.h"
#include "tools/softdat/registry_library.h"
#include "verbs/open.h"

namespace softdat::tools::doctor {
namespace {

namespace fs = std::filesystem;

// Adapters of dat.conf that are not shown in full.
constexpr std::size_t kMostNames = 4;

std::string environment_text(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The file that a registry of ours reads, as docs/REGISTRY.md has it.
std::string file_of(const registry::ConfSearch& search) {
  if (!search.override_path.empty()) return search.override_path;
  const auto exists = [](const std::string& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
  };
  const auto found = std::find_if(search.paths.begin(), search.paths.end(), exists);
  return found == search.paths.end() ? "" : *found;
}

std::string names_text(const registry::ConfFile& file, std::uint32_t major) {
  std::vector<std::string> names;
  for (const registry::ConfEntry& entry : file.entries) {
    const bool is_new = std::find(names.begin(), names.end(), entry.ia_name) == names.end();
    if (entry.major == major && is_new) names.push_back(entry.ia_name);
  }
  if (names.empty()) return fmt::format("no adapter of DAT {}", major);
  const std::size_t count = names.size();
  names.resize(std::min(count, kMostNames));
  return fmt::format("{} of DAT {} ({}{})", count, major, fmt::join(names, ", "), count > kMostNames ? ", ..." : "");
}

Findings conf_findings(std::uint32_t major, const std::vector<std::string>& paths) {
  const std::string topic = fmt::format("dat.conf {}", major == 1 ? "1.2" : "2.0");
  const registry::ConfSearch search{environment_text("DAT_OVERRIDE"), paths};
  Findings findings;
  const registry::ConfFile file = registry::find_conf_file(search, [&](const std::string& complaint) {
    findings.push_back({Level::kWarning, topic, complaint, "The rest of the file counts. dat.conf(5) has the format."});
  });
  const std::string name = file_of(search);
  if (name.empty()) return {{Level::kOk, topic, "none; sim0 to sim15 need none", ""}};
  findings.insert(findings.begin(), {Level::kOk, topic, fmt::format("{}: {}", name, names_text(file, major)), ""});
  return findings;
}

// Both, but what both complain of once.
Findings joined(const Findings& one, const Findings& other) {
  const auto is_new = [&](const Finding& finding) {
    return finding.level != Level::kWarning || std::none_of(one.begin(), one.end(), [&](const Finding& known) {
             return known.level == Level::kWarning && known.fact == finding.fact;
           });
  };
  Findings both = one;
  std::copy_if(other.begin(), other.end(), std::back_inserter(both), is_new);
  return both;
}

// What a child that talks to itself over the carrier has to say.
Findings carrier_findings(const std::string& carrier) {
  Child child({"doctor-worker"}, {{"SOFTDAT_TRANSPORT", carrier}, {"SOFTDAT_BACKEND", "sim"}, {"SOFTDAT_ANY_IA", "1"}},
              Child::Mistakes::kToldByEach);
  Findings findings;
  std::string outcome = "it ended without a word";
  while (const auto line = child.read_line()) {
    const bool is_remark = line->starts_with(kRemark);
    if (is_remark) findings.push_back({Level::kWarning, carrier, line->substr(std::string(kRemark).size()), ""});
    if (!is_remark) outcome = *line;
  }
  if (const int status = child.wait(); status != 0 && outcome == kWorks)
    outcome = fmt::format("exit status {}", status);
  if (outcome == kWorks) {
    findings.push_back({Level::kOk, carrier, "sim0 connects with itself and writes by RDMA", ""});
  } else {
    findings.push_back({Level::kProblem, carrier, fmt::format("sim0 does not work: {}", outcome),
                        "What stands above and other findings tell the cause; SOFTDAT_LOG=trace tells more."});
  }
  return findings;
}

}  // namespace

Findings check_libraries() {
  const RegistryLibrary registry = registry_library();
  const std::string directory = own_library_directory();
  Findings findings;
  findings.push_back({Level::kOk, "version", std::string("softdat ") + SOFTDAT_VERSION, ""});
  if (directory.empty()) {
    findings.push_back({Level::kProblem, "libraries", "libsoftdat.so and libdat2.so.2 are not beside softdat",
                        "softdat run cannot lead programs to them. Install SoftDAT again, in one piece."});
    return findings;
  }
  for (const char* const name : {"libdat.so.1", "libdat2.so.2", "libsoftdat.so"}) {
    std::error_code ignored;
    if (fs::exists(fs::path(directory) / name, ignored)) continue;
    findings.push_back({Level::kProblem, "libraries", fmt::format("{}/{} is missing", directory, name),
                        "Programs that need it do not run. Install SoftDAT again, in one piece."});
  }
  findings.push_back({Level::kOk, "libraries", directory, ""});
  if (!registry.is_ours) {
    findings.push_back({Level::kWarning, "registry", fmt::format("softdat itself loads {}", registry.path),
                        fmt::format("It is not SoftDAT's. LD_LIBRARY_PATH={} leads there.", directory)});
  }
  return findings;
}

Findings check_dat_conf() {
  return joined(conf_findings(2, {SOFTDAT_SYSCONFDIR "/dat.conf", "/etc/dat.conf"}),
                conf_findings(1, {"/etc/dat/dat.conf", "/etc/dat.conf"}));
}

Findings check_adapter() {
  return joined(carrier_findings("shm"), carrier_findings("tcp"));
}

Findings check_devices() {
  Findings findings;
  for (const verbs::Listing& device : verbs::list_devices()) {
    if (device.problem.empty()) {
      findings.push_back({Level::kOk, "RDMA device", fmt::format("{}: {}", device.name, device.details), ""});
    } else {
      findings.push_back({Level::kNote, "RDMA device", fmt::format("{}: {}", device.name, device.problem),
                          "The simulator needs none; SOFTDAT_BACKEND=verbs does."});
    }
  }
  if (findings.empty()) {
    findings.push_back({Level::kNote, "RDMA device", "none", "The simulator needs none; SOFTDAT_BACKEND=verbs does."});
  }
  return findings;
}

}  // namespace softdat::tools::doctor
