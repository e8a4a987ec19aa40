// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/own_location.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <memory>

namespace softdat::registry {
namespace {

// Any address inside this registry library, to learn from the loader where it lives.
const char kOwnAddress = 0;

struct Free {
  void operator()(char* text) const { ::free(text); }
};

}  // namespace

std::string own_path() {
  Dl_info info{};
  if (::dladdr(&kOwnAddress, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

std::string own_directory() {
  std::string path = own_path();
  const std::unique_ptr<char, Free> resolved(::realpath(path.c_str(), nullptr));
  if (resolved) path = resolved.get();
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

}  // namespace softdat::registry
