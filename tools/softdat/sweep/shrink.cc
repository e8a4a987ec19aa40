// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/sweep/shrink.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <sstream>
#include <string_view>

namespace softdat::tools::sweep {
namespace {

using Test = std::function<bool(const Statements&)>;

// Delta debugging: leaves out ever smaller parts, as long as it fails without them.
Statements fewer_statements(Statements statements, const Test& still_fails) {
  std::size_t part = statements.size() / 2;
  while (part > 0 && statements.size() > 1) {
    bool has_shrunk = false;
    for (std::size_t at = 0; at < statements.size() && statements.size() > 1;) {
      const std::size_t end = std::min(at + part, statements.size());
      Statements rest(statements.begin(), statements.begin() + static_cast<std::ptrdiff_t>(at));
      rest.insert(rest.end(), statements.begin() + static_cast<std::ptrdiff_t>(end), statements.end());
      // A run of the program each: as few as possible.
      if (!rest.empty() && still_fails(rest)) {
        statements = std::move(rest);
        has_shrunk = true;
      } else {
        at = end;
      }
    }
    if (part > 1) {
      part = std::min(part / 2, statements.size());
    } else if (!has_shrunk) {
      break;
    }
  }
  return statements;
}

std::vector<std::string> words_of(const std::string& statement) {
  std::istringstream stream(statement);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string statement_of(const std::vector<std::string>& words) {
  std::string statement;
  for (const std::string& word : words) statement += (statement.empty() ? "" : " ") + word;
  return statement;
}

// Keys whose number may be a smaller one.
bool has_number(std::string_view word) {
  for (const std::string_view key : {"nth=", "number=", "every=", "times=", "count=", "endpoint=", "connection="}) {
    if (word.starts_with(key)) return true;
  }
  return false;
}

// Takes keys away, one after the other.
void drop_keys(Statements& statements, std::size_t index, const Test& still_fails) {
  std::vector<std::string> words = words_of(statements[index]);
  // From the last on, so that the places of those before stay; the first word is the fault's name.
  for (std::size_t i = words.size() - 1; i > 0; --i) {
    Statements tried = statements;
    std::vector<std::string> fewer = words;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    tried[index] = statement_of(fewer);
    if (!still_fails(tried)) continue;
    words = std::move(fewer);
    statements = std::move(tried);
  }
}

// Tries 1, then half, then one less of the number of that word.
void lower_number(Statements& statements, std::size_t index, std::size_t word, const Test& still_fails) {
  std::vector<std::string> words = words_of(statements[index]);
  const std::size_t begin = words[word].find('=') + 1;
  const std::string key = words[word].substr(0, begin);
  std::uint64_t number = 0;
  std::from_chars(words[word].data() + begin, words[word].data() + words[word].size(), number);
  const auto try_number = [&](std::uint64_t less) {
    if (less == 0 || less >= number) return false;
    Statements tried = statements;
    words[word] = key + std::to_string(less);
    tried[index] = statement_of(words);
    if (!still_fails(tried)) return false;
    statements = std::move(tried);
    number = less;
    return true;
  };
  if (try_number(1)) return;
  while (try_number(number / 2)) {
  }
  try_number(number - 1);
}

}  // namespace

Statements shrink(Statements statements, const Test& still_fails) {
  statements = fewer_statements(std::move(statements), still_fails);
  for (std::size_t i = 0; i < statements.size(); ++i) {
    drop_keys(statements, i, still_fails);
    const std::vector<std::string> words = words_of(statements[i]);
    for (std::size_t word = 1; word < words.size(); ++word) {
      if (has_number(words[word])) lower_number(statements, i, word, still_fails);
    }
  }
  return statements;
}

std::string joined(const Statements& statements) {
  std::string text;
  for (const std::string& statement : statements) text += (text.empty() ? "" : "; ") + statement;
  return text;
}

Statements split(const std::string& text) {
  Statements statements;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const std::size_t first = std::min(text.find_first_not_of(" \t", begin), end);
    if (first < end) statements.push_back(text.substr(first, end - first));
    begin = end + 1;
  }
  return statements;
}

}  // namespace softdat::tools::sweep
