// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/shell_text.h"

namespace softdat::tools::run {
namespace {

constexpr const char* kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%";

std::string quoted(const std::string& text, const std::string& escaped) {
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return text;
  std::string result = "'";
  for (const char letter : text) {
    // A quote, or a letter that counts inside quotes, stands outside of them behind a backslash.
    if (escaped.find(letter) == escaped.npos) {
      result += letter;
    } else {
      result += std::string("'\\") + letter + "'";
    }
  }
  return result + "'";
}

}  // namespace

std::string shell_quoted(const std::string& text) {
  return quoted(text, "'");
}

std::string csh_quoted(const std::string& text) {
  return quoted(text, "'!");
}

}  // namespace softdat::tools::run
