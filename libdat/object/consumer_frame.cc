// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/consumer_frame.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <array>
#include <string_view>

#include "base/place.h"

namespace softdat::object {

bool is_our_code(const void* address) {
  Dl_info found{};
  if (::dladdr(address, &found) == 0) return false;
  const std::string_view name = base::file_name(found.dli_fname);
  return name.starts_with("libsoftdat.so") || name.starts_with("libdat.so") || name.starts_with("libdat2.so");
}

// The first frame above ours. A sanitizer's backtrace() begins with frames of its own.
const void* find_consumer_frame() {
  std::array<void*, 32> frames;
  const int depth = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  bool is_above = false;
  for (int i = 0; i < depth; ++i) {
    void* const frame = frames[static_cast<std::size_t>(i)];
    if (is_our_code(frame)) {
      is_above = true;
    } else if (is_above) {
      return frame;
    }
  }
  return nullptr;
}

}  // namespace softdat::object
