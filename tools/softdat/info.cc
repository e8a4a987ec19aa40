// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/info.h"

#include <dat2/udat.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tools/softdat/address.h"
#include "tools/softdat/captured_output.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/figures.h"
#include "tools/softdat/output.h"
#include "verbs/open.h"

namespace softdat::tools {
namespace {

constexpr DAT_COUNT kMostListed = 256;

constexpr const char* kBuiltIn = "sim0";

struct AdapterRow {
  std::string name;
  std::string problem;               // why it cannot be opened; empty if it can
  std::vector<std::string> remarks;  // what the provider printed
  std::string adapter;
  std::string vendor;
  std::string address;
  std::string direct;  // direct access: "auto", "on" or "off"; empty where the adapter does not tell
  DAT_COUNT max_eps = 0;
  DAT_COUNT max_srqs = 0;
  DAT_COUNT max_rmrs = 0;
};

// What the device says of itself by that name, if anything.
std::string named_attribute(DAT_IA_HANDLE ia, std::string_view name) {
  DAT_PROVIDER_ATTR provider{};
  if (dat_ia_query(ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider) != DAT_SUCCESS) return {};
  for (DAT_COUNT i = 0; i < provider.num_provider_specific_attr; ++i) {
    const DAT_NAMED_ATTR& attribute = provider.provider_specific_attr[i];
    if (attribute.name == name) return attribute.value;
  }
  return {};
}

void query(DAT_IA_HANDLE ia, AdapterRow& row) {
  DAT_IA_ATTR attributes{};
  if (const DAT_RETURN result = dat_ia_query(ia, nullptr, DAT_IA_ALL, &attributes, 0, nullptr); result != DAT_SUCCESS) {
    row.problem = describe(result);
    return;
  }
  row.adapter = attributes.adapter_name;
  row.vendor = attributes.vendor_name;
  row.address = address_text(reinterpret_cast<const sockaddr*>(attributes.ia_address_ptr));
  row.max_eps = attributes.max_eps;
  row.max_srqs = attributes.max_srqs;
  row.max_rmrs = attributes.max_rmrs;
  row.direct = named_attribute(ia, "SOFTDAT_DIRECT");
}

AdapterRow open_and_describe(const std::string& name) {
  constexpr DAT_COUNT kAsyncEvents = 8;
  AdapterRow row;
  row.name = name;
  const CapturedOutput captured;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
  std::string mutable_name = name;
  if (const DAT_RETURN opened = dat_ia_open(mutable_name.data(), kAsyncEvents, &async_evd, &ia);
      opened == DAT_SUCCESS) {
    query(ia, row);
    dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
  } else {
    row.problem = describe(opened);
  }
  row.remarks = captured.lines();
  return row;
}

std::vector<std::string> listed_names() {
  std::vector<DAT_PROVIDER_INFO> infos(kMostListed);
  std::vector<DAT_PROVIDER_INFO*> pointers;
  for (DAT_PROVIDER_INFO& info : infos) pointers.push_back(&info);
  DAT_COUNT count = 0;
  require(dat_registry_list_providers(kMostListed, &count, pointers.data()), "dat_registry_list_providers");
  std::vector<std::string> names;
  for (DAT_COUNT i = 0; i < std::min(count, kMostListed); ++i) {
    const DAT_PROVIDER_INFO& info = infos[static_cast<std::size_t>(i)];
    const bool is_known = std::find(names.begin(), names.end(), info.ia_name) != names.end();
    if (info.dapl_version_major == 2 && !is_known) names.emplace_back(info.ia_name);
  }
  return names;
}

// Every IA there is. sim0 needs no dat.conf, so that no registry of ours lists it beside one.
std::vector<AdapterRow> all_rows() {
  std::vector<std::string> names = listed_names();
  if (std::find(names.begin(), names.end(), kBuiltIn) == names.end()) names.insert(names.begin(), kBuiltIn);
  std::vector<AdapterRow> rows;
  for (const std::string& name : names) rows.push_back(open_and_describe(name));
  for (const verbs::Listing& device : verbs::list_devices()) {
    if (device.problem.empty()) {
      rows.push_back(open_and_describe(device.name));
    } else {
      rows.push_back({});
      rows.back().name = device.name;
      rows.back().problem = device.problem;
    }
  }
  return rows;
}

bool is_usable(const AdapterRow& row) {
  return row.problem.empty();
}

std::string text_of(const AdapterRow& row) {
  if (!is_usable(row)) return fmt::format("{:<16} no {}\n", row.name, row.problem);
  const std::string direct = row.direct.empty() ? "" : ", direct access " + row.direct;
  return fmt::format("{:<16}    {}, {}, {}; {} endpoints, {} SRQs, {} windows{}\n", row.name, row.adapter, row.address,
                     row.vendor, row.max_eps, row.max_srqs, row.max_rmrs, direct);
}

std::string json_of(const AdapterRow& row) {
  std::vector<std::string> remarks;
  for (const std::string& remark : row.remarks) remarks.push_back(json_quoted(remark));
  return fmt::format(R"({{"name": {}, "usable": {}, "problem": {}, "remarks": [{}], "adapter": {}, "vendor": {}, )"
                     R"("address": {}, "direct_access": {}, "max_endpoints": {}, "max_srqs": {}, "max_windows": {}}})",
                     json_quoted(row.name), is_usable(row), json_quoted(row.problem), fmt::join(remarks, ", "),
                     json_quoted(row.adapter), json_quoted(row.vendor), json_quoted(row.address),
                     json_quoted(row.direct), row.max_eps, row.max_srqs, row.max_rmrs);
}

void print_json(const std::vector<AdapterRow>& rows) {
  std::vector<std::string> texts;
  for (const AdapterRow& row : rows) texts.push_back(json_of(row));
  print_out(fmt::format("[\n  {}\n]\n", fmt::join(texts, ",\n  ")));
}

void print_text(const std::vector<AdapterRow>& rows, bool all) {
  std::size_t left_out = 0;
  for (const AdapterRow& row : rows) {
    if (!is_usable(row)) continue;
    print_out(text_of(row));
    // Such as a misspelt variable, which is told once in a process.
    for (const std::string& remark : row.remarks) fmt::print(stderr, "{}\n", remark);
  }
  for (const AdapterRow& row : rows) {
    if (is_usable(row)) continue;
    ++left_out;
    if (!all) continue;
    print_out(text_of(row));
    for (const std::string& remark : row.remarks) print_out(fmt::format("{:<20}{}\n", "", remark));
  }
  if (left_out != 0 && !all)
    print_out(fmt::format("{} more cannot be opened: softdat info --all says why\n", left_out));
}

}  // namespace

int run_info(const InfoOutput& output) {
  const std::vector<AdapterRow> rows = all_rows();
  if (output.json) {
    print_json(rows);
  } else {
    print_text(rows, output.all);
  }
  if (std::any_of(rows.begin(), rows.end(), is_usable)) return EXIT_SUCCESS;
  print_error("no adapter can be opened; softdat info --all says why");
  return kExitFailure;
}

}  // namespace softdat::tools
