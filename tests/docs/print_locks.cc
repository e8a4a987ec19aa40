// SPDX-License-Identifier: BSD-2-Clause
// Prints the table of locks of docs/THREADS.md from the places that the code checks.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "base/lock_places.h"
#include "hca/lock_places.h"
#include "libdat/backends/lock_places.h"
#include "libdat/object/lock_places.h"
#include "libdat/registry/lock_places.h"
#include "libdat/sanitize/lock_places.h"
#include "memory/lock_places.h"
#include "simnic/lock_places.h"
#include "transport/lock_places.h"
#include "verbs/lock_places.h"

namespace {

using softdat::base::LockPlace;

struct Row {
  const LockPlace* place;
  const char* room;
};

template <std::size_t kCount>
void add(std::vector<Row>& rows, const char* room, const std::array<const LockPlace*, kCount>& places) {
  for (const LockPlace* place : places) rows.push_back({place, room});
}

std::string number_of(const LockPlace& place) {
  return place.place == softdat::base::kLeafPlace ? "leaf" : std::to_string(place.place);
}

}  // namespace

int main() {
  namespace locks = softdat::locks;
  std::vector<Row> rows;
  add(rows, "libdat/backends", locks::kOfBackends);
  add(rows, "libdat/registry", locks::kOfRegistry);
  add(rows, "libdat/object", locks::kOfObject);
  add(rows, "libdat/sanitize", locks::kOfSanitize);
  add(rows, "verbs", locks::kOfVerbs);
  add(rows, "simnic", locks::kOfSimnic);
  add(rows, "hca", locks::kOfHca);
  add(rows, "transport", locks::kOfTransport);
  add(rows, "memory", locks::kOfMemory);
  add(rows, "base", locks::kOfBase);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.place->place < b.place->place; });
  std::puts("| place | lock | room | held while |\n|---|---|---|---|");
  for (const Row& row : rows) {
    std::printf("| %s | `%s`%s | %s | %s |\n", number_of(*row.place).c_str(), row.place->name,
                row.place->is_several ? " (several)" : "", row.room, row.place->held);
  }
}
