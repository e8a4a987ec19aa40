// SPDX-License-Identifier: BSD-2-Clause
// Whether two IAs can stand in for each other (DAT 2.0, high availability).
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "libdat/registry/entry/dispatch.h"
#include "libdat/registry/self_memory.h"

namespace softdat::registry {
namespace {

bool is_registered(const std::string& ia_name) {
  const auto same = [&](const ProviderKey& key) { return key.ia_name == ia_name; };
  const auto listed = process_registry().list();
  const auto declared = process_registry().list_declared();
  return std::any_of(listed.begin(), listed.end(), same) || std::any_of(declared.begin(), declared.end(), same);
}

// What the provider behind an open IA called `ia_name` says about `other`. No IA of that name being
// open, or no opinion, is no answer.
std::optional<bool> ask(const std::string& ia_name, std::string other) {
  for (const IaTable::Found& ia : process_ias().find_by_name(ia_name)) {
    DAT_BOOLEAN answer = DAT_FALSE;
    const DAT_IA_HANDLE object = ia.object;
    const DAT_RETURN status = call_slot(ia.table, &DAT_PROVIDER::ia_ha_related_func, object, other.data(), &answer);
    if (status == DAT_SUCCESS) return answer != DAT_FALSE;
  }
  return std::nullopt;
}

DAT_HA_RELATIONSHIP relate(const std::string& first, const std::string& second) {
  if (first == second) return DAT_HA_TRUE;
  const std::optional<bool> there = ask(first, second);
  const std::optional<bool> back = ask(second, first);
  if (!there && !back) return DAT_HA_UNKNOWN;
  if (there && back && *there != *back) return DAT_HA_CONFLICTING;
  return there.value_or(back.value_or(false)) ? DAT_HA_TRUE : DAT_HA_FALSE;
}

DAT_RETURN answer_related(const char* first, const char* second, DAT_HA_RELATIONSHIP* answer) {
  const auto first_name = read_text(first, kLongestIaName);
  if (!first_name) return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
  const auto second_name = read_text(second, kLongestIaName);
  if (!second_name) return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
  if (answer == nullptr) return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
  if (!is_registered(*first_name) || !is_registered(*second_name)) {
    return refuse(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
  }
  *answer = relate(*first_name, *second_name);
  return DAT_SUCCESS;
}

}  // namespace
}  // namespace softdat::registry

using namespace softdat::registry;

extern "C" DAT_RETURN dat_registry_providers_related(const DAT_NAME_PTR first, const DAT_NAME_PTR second,
                                                     DAT_HA_RELATIONSHIP* answer) {
  return answer_with([&] { return answer_related(first, second, answer); });
}
