// SPDX-License-Identifier: BSD-2-Clause
// An environment variable for as long as a test needs it.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace softdat::conformance {

// Sets the variable, and puts back what was there when it goes. An adapter reads it when it is opened first.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value, 1);
  }
  ~Setting() {
    if (before_) ::setenv(name_, before_->c_str(), 1);
    if (!before_) ::unsetenv(name_);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

}  // namespace softdat::conformance
