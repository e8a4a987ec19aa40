// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/info.h"

#include <arpa/inet.h>
#include <dat2/udat.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tools/softdat/dat_call.h"
#include "verbs/open.h"

namespace softdat::tools {
namespace {

constexpr DAT_COUNT kMostListed = 256;

struct Row {
  std::string name;
  std::string text;
  bool is_open = false;
};

std::string text_of(const DAT_IA_ATTR& attributes) {
  char host[INET6_ADDRSTRLEN] = "no address";
  const auto* const address = reinterpret_cast<const sockaddr*>(attributes.ia_address_ptr);
  if (address != nullptr && address->sa_family == AF_INET) {
    sockaddr_in inet;
    std::memcpy(&inet, address, sizeof inet);
    ::inet_ntop(AF_INET, &inet.sin_addr, host, sizeof host);
  }
  if (address != nullptr && address->sa_family == AF_INET6) {
    sockaddr_in6 inet;
    std::memcpy(&inet, address, sizeof inet);
    ::inet_ntop(AF_INET6, &inet.sin6_addr, host, sizeof host);
  }
  return fmt::format("{}, {}, {}; {} endpoints, {} SRQs, {} windows", attributes.adapter_name, host,
                     attributes.vendor_name, attributes.max_eps, attributes.max_srqs, attributes.max_rmrs);
}

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

Row open_and_describe(const std::string& name) {
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
  std::string mutable_name = name;
  const DAT_RETURN opened = dat_ia_open(mutable_name.data(), 8, &async_evd, &ia);
  if (opened != DAT_SUCCESS) return {name, describe(opened)};
  DAT_IA_ATTR attributes{};
  const DAT_RETURN queried = dat_ia_query(ia, nullptr, DAT_IA_ALL, &attributes, 0, nullptr);
  Row row = queried == DAT_SUCCESS ? Row{name, text_of(attributes), true} : Row{name, describe(queried)};
  const std::string direct = named_attribute(ia, "SOFTDAT_DIRECT");
  if (row.is_open && !direct.empty()) row.text += ", direct access " + direct;
  dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
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

void print(const Row& row) {
  fmt::print("{:<16} {} {}\n", row.name, row.is_open ? "  " : "no", row.text);
}

}  // namespace

int run_info() {
  bool is_any_open = false;
  const auto show = [&](const Row& row) {
    print(row);
    is_any_open = is_any_open || row.is_open;
  };
  for (const std::string& name : listed_names()) show(open_and_describe(name));
  for (const verbs::Listing& device : verbs::list_devices()) {
    if (!device.problem.empty()) {
      show({device.name, device.problem});
    } else {
      show(open_and_describe(device.name));
    }
  }
  return is_any_open ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace softdat::tools
