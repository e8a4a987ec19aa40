// SPDX-License-Identifier: BSD-2-Clause
#include "base/process_start.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "base/uncancelled.h"
#include "base/unique_fd.h"

namespace softdat::base {
namespace {

constexpr int kStartField = 22;  // proc(5) counts from 1
constexpr int kStateField = 3;   // the first one behind the program's name

}  // namespace

std::optional<std::uint64_t> read_process_start(const char* stat_path) {
  const Uncancelled guard;
  const UniqueFd file(::open(stat_path, O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text;  // numbers, and a name of 16 bytes
  ssize_t got = -1;
  do {
    got = file ? ::read(file.get(), text.data(), text.size()) : -1;
  } while (got < 0 && file && errno == EINTR);
  if (got <= 0) return std::nullopt;
  std::string_view rest(text.data(), static_cast<std::size_t>(got));
  // The name may hold spaces and parentheses.
  const std::size_t name_end = rest.rfind(')');
  if (name_end == rest.npos) return std::nullopt;
  rest.remove_prefix(name_end + 1);
  for (int field = kStateField; field <= kStartField; ++field) {
    const std::size_t space = rest.find(' ');
    if (space == rest.npos) return std::nullopt;
    rest.remove_prefix(space + 1);
  }
  std::uint64_t start = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), start);
  return error == std::errc() ? std::optional(start) : std::nullopt;
}

}  // namespace softdat::base
