// SPDX-License-Identifier: BSD-2-Clause
#include "base/call.h"

#include <utility>

namespace softdat::base {
namespace {

// initial-exec: reading it never calls the dynamic linker, which could allocate.
[[gnu::tls_model("initial-exec")]] constinit thread_local Call* t_call = nullptr;

}  // namespace

Call::Call(const char* name, const void* caller) : name_(name), caller_(caller), outer_(t_call) {
  t_call = this;
}

Call::~Call() {
  t_call = outer_;
}

void Call::refuse(std::string reason) {
  // The first reason is the one found nearest to the cause.
  if (reason_.empty()) reason_ = std::move(reason);
}

Call* current_call() {
  return t_call;
}

const void* calling_place() {
  return t_call == nullptr ? nullptr : t_call->caller();
}

}  // namespace softdat::base
