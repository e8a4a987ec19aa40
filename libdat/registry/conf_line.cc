// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/conf_line.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace softdat::registry {
namespace {

constexpr std::size_t kFieldCount = 8;
constexpr std::array<const char*, kFieldCount> kFieldNames{
    "IA name", "API version",      "thread safety", "default or nondefault",
    "library", "provider version", "instance data", "platform data"};

// Where the text of a field stands in its line. An escape inside a quoted field makes later
// characters of `text` stand further right than their index says; messages about such fields point
// at the field.
struct Token {
  std::string text;
  std::size_t column = 1;
};

struct Tokens {
  std::array<Token, kFieldCount> fields;
  std::size_t count = 0;
};

template <typename T>
using OrMistake = std::variant<T, ConfMistake>;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

// Reads the quoted field that starts at `at` and moves `at` past its closing quote.
OrMistake<Token> read_quoted(std::string_view line, std::size_t& at) {
  const std::size_t open = at;
  Token token{{}, open + 1};
  for (++at; at < line.size(); ++at) {
    if (line[at] == '"') {
      ++at;
      return token;
    }
    // A backslash takes the next character as it is.
    if (line[at] == '\\' && at + 1 < line.size()) ++at;
    token.text += line[at];
  }
  return ConfMistake{open + 1, "this quote is never closed"};
}

Token read_plain(std::string_view line, std::size_t& at) {
  const std::size_t start = at;
  while (at < line.size() && !is_blank(line[at])) ++at;
  return Token{std::string(line.substr(start, at - start)), start + 1};
}

OrMistake<Token> read_token(std::string_view line, std::size_t& at) {
  if (line[at] == '"') return read_quoted(line, at);
  return read_plain(line, at);
}

OrMistake<Tokens> split(std::string_view line) {
  Tokens tokens;
  std::size_t at = 0;
  for (;;) {
    while (at < line.size() && is_blank(line[at])) ++at;
    // A comment may follow a field, but "#" within a field belongs to that.
    if (at == line.size() || line[at] == '#') return tokens;
    const std::size_t start = at;
    OrMistake<Token> token = read_token(line, at);
    if (auto* mistake = std::get_if<ConfMistake>(&token)) return std::move(*mistake);
    if (tokens.count == kFieldCount) {
      return ConfMistake{start + 1, "a ninth field; an entry has exactly eight"};
    }
    tokens.fields[tokens.count++] = std::get<Token>(std::move(token));
  }
}

std::optional<ConfMistake> find_missing(const Tokens& tokens, std::string_view line) {
  if (tokens.count == kFieldCount) return std::nullopt;
  return ConfMistake{line.size() + 1, "the line ends after " + std::to_string(tokens.count) +
                                          " of 8 fields; next would come: " + kFieldNames[tokens.count]};
}

// Reads a decimal number at `at` and moves past it; false leaves `at` on the offending character.
bool read_number(std::string_view text, std::size_t& at, std::uint32_t& number) {
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
  if (error != std::errc()) return false;
  at = static_cast<std::size_t>(end - text.data());
  return true;
}

std::optional<ConfMistake> read_name(const Token& token, ConfEntry& entry) {
  if (token.text.empty()) return ConfMistake{token.column, "the IA name is empty"};
  if (token.text.size() > kLongestIaName) {
    return ConfMistake{token.column,
                       "the IA name has " + std::to_string(token.text.size()) + " bytes; at most 255 are allowed"};
  }
  entry.ia_name = token.text;
  return std::nullopt;
}

std::optional<ConfMistake> read_api_version(const Token& token, ConfEntry& entry) {
  const std::string_view text = token.text;
  const auto mistake = [&](std::size_t at) {
    return ConfMistake{token.column + at, "the API version must read u or k, then major.minor, such as u2.0"};
  };
  if (text.empty() || (text[0] != 'u' && text[0] != 'k')) return mistake(0);
  entry.is_kernel = text[0] == 'k';
  std::size_t at = 1;
  if (!read_number(text, at, entry.major)) return mistake(at);
  if (at == text.size() || text[at] != '.') return mistake(at);
  ++at;
  if (!read_number(text, at, entry.minor) || at != text.size()) return mistake(at);
  return std::nullopt;
}

// Existing files abbreviate nothing but do append to these words, so only the start is compared.
std::optional<ConfMistake> read_choice(const Token& token, std::string_view yes, std::string_view no, bool& chosen) {
  const std::string_view text = token.text;
  if (!text.starts_with(yes) && !text.starts_with(no)) {
    return ConfMistake{token.column, "must be " + std::string(yes) + " or " + std::string(no)};
  }
  chosen = text.starts_with(yes);
  return std::nullopt;
}

std::optional<ConfMistake> read_library(const Token& token, ConfEntry& entry) {
  if (token.text.empty()) return ConfMistake{token.column, "the library path is empty"};
  entry.library_path = token.text;
  return std::nullopt;
}

std::optional<ConfMistake> read_provider_version(const Token& token, ConfEntry& entry) {
  const std::string_view text = token.text;
  const ConfMistake mistake{token.column, "the provider version must read id.major.minor, such as softdat.1.0"};
  // From the right, because the id may have dots.
  const std::size_t second = text.rfind('.');
  if (second == std::string_view::npos || second == 0) return mistake;
  const std::size_t first = text.rfind('.', second - 1);
  if (first == std::string_view::npos || first == 0) return mistake;
  std::uint32_t number = 0;
  std::size_t at = first + 1;
  if (!read_number(text, at, number) || at != second) return mistake;
  at = second + 1;
  if (!read_number(text, at, number) || at != text.size()) return mistake;
  entry.provider_version = token.text;
  return std::nullopt;
}

std::optional<ConfMistake> fill(const Tokens& tokens, ConfEntry& entry) {
  const auto& field = tokens.fields;
  if (auto mistake = read_name(field[0], entry)) return mistake;
  if (auto mistake = read_api_version(field[1], entry)) return mistake;
  if (auto mistake = read_choice(field[2], "threadsafe", "nonthreadsafe", entry.is_thread_safe)) {
    return mistake;
  }
  if (auto mistake = read_choice(field[3], "default", "nondefault", entry.is_default)) {
    return mistake;
  }
  if (auto mistake = read_library(field[4], entry)) return mistake;
  if (auto mistake = read_provider_version(field[5], entry)) return mistake;
  entry.instance_data = field[6].text;
  entry.platform_data = field[7].text;
  return std::nullopt;
}

}  // namespace

ConfLine parse_conf_line(std::string_view line) {
  const std::size_t nul = line.find('\0');
  if (nul != std::string_view::npos) return ConfMistake{nul + 1, "a NUL byte in a text file"};
  OrMistake<Tokens> tokens = split(line);
  if (auto* mistake = std::get_if<ConfMistake>(&tokens)) return std::move(*mistake);
  const Tokens& fields = std::get<Tokens>(tokens);
  if (fields.count == 0) return ConfNothing{};
  if (auto mistake = find_missing(fields, line)) return std::move(*mistake);
  ConfEntry entry;
  if (auto mistake = fill(fields, entry)) return std::move(*mistake);
  return entry;
}

}  // namespace softdat::registry
