// SPDX-License-Identifier: BSD-2-Clause
// Lasting: a global that is there before any constructor runs and is never destroyed.
#pragma once

namespace softdat::base {

template <typename T>
union Lasting {
  constexpr Lasting() : value() {}
  ~Lasting() {}
  T value;
};

}  // namespace softdat::base
