// SPDX-License-Identifier: BSD-2-Clause
// Profile: the limits, features and quirks of a device, each with its source. A plain value; built in, read from a file
// (profile_file.h) or made from a device's attributes (capture.h). docs/PROFILES.md is the reference.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace softdat::simnic::model {

// What a profile can say, in the order of fields().
enum class Field : std::uint8_t {
  kMaxQp,
  kMaxWr,
  kMaxSge,
  kMaxReadSge,
  kMaxCq,
  kMaxCqe,
  kMaxMr,
  kMaxMrSize,
  kMaxPd,
  kMaxMessageSize,
  kMaxReadsIn,
  kMaxReadsOut,
  kMaxPrivateData,
  kMaxSrq,
  kMaxSrqWr,
  kMaxSrqSge,
  kMaxMw,
  kAtomics,
  kImmediate,
  kDatagrams,
  kZeroBased,
  kSendWithInvalidate,
  kCqResize,
  kSrqResize,
  kWorkQueue,
  kReadSinkNeedsRemoteWrite,
  kNoReceive,
};
inline constexpr std::size_t kFields = static_cast<std::size_t>(Field::kNoReceive) + 1;

enum class FieldKind : std::uint8_t { kNumber, kFlag, kWord };

// A number that stands for no limit; a file says "unlimited".
inline constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

struct FieldInfo {
  Field field;
  const char* section;  // the table of the file
  const char* name;
  FieldKind kind;
  std::uint64_t least;                      // of a number
  std::uint64_t most;                       // of a number; kUnlimited: "unlimited" is allowed too
  std::array<std::string_view, 2> words{};  // of a word; a value is the index
  const char* meaning;                      // for people
};

// All fields, in the order of Field.
std::span<const FieldInfo> fields();
const FieldInfo& info_of(Field field);

enum class NoReceive : std::uint8_t { kWait, kTerminate };
enum class Family : std::uint8_t { kInfiniBand, kIwarp };

struct Value {
  std::uint64_t number = 0;  // 0 and 1 of a flag, an index of a word
  std::string source{};
};

struct Profile {
  std::string name;
  std::string title;
  Family family = Family::kInfiniBand;
  std::array<std::optional<Value>, kFields> values{};  // by Field; nothing: not known

  const std::optional<Value>& at(Field field) const { return values[static_cast<std::size_t>(field)]; }
  std::optional<Value>& at(Field field) { return values[static_cast<std::size_t>(field)]; }
  // The number, or what holds where the profile says nothing.
  std::uint64_t number(Field field, std::uint64_t otherwise) const { return at(field) ? at(field)->number : otherwise; }
};

const char* name_of(Family family);
// "32768", "yes", "power-of-two", "unlimited".
std::string value_text(const FieldInfo& info, std::uint64_t number);

}  // namespace softdat::simnic::model
