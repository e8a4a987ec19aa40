// SPDX-License-Identifier: BSD-2-Clause
// The rules of DAT that the sanitizer watches. docs/SANITIZER.md explains each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softdat::sanitize {

enum class Rule : std::uint8_t {
  kChangedBuffer,
  kUnmappedBuffer,
  kFreedRegion,
  kOverlap,
  kMissingFence,
  kPostAfterDisconnect,
  kReceiveNotPosted,
  kEvdTooSmall,
  kWaitRefused,
  kPartialDrain,
  kAsyncUnread,
  kIgnoredCompletion,
  kLeak,
  kRegistrationLoop,
  kKeyMixup,
  kStaleHandle,
  kVoidField,
  kTimeoutTaken,
  kStackBuffer,
  kEarlyAccess,
  kStalePrivateData,
  kLostCompletion,
  kDoubledCompletion,
  kUnusedReceive,
  kUnusedRight,
  kUnorderedRead,
};
inline constexpr std::size_t kRuleCount = 26;

// An error is a breach of the specification. An advice is not: the program works, but wastes or risks something.
enum class Severity : std::uint8_t { kError, kAdvice };

struct RuleText {
  const char* name;  // as suppressions and reports have it
  Severity severity;
  const char* rule;    // a sentence
  const char* remedy;  // a sentence
};

const RuleText& text_of(Rule rule);

}  // namespace softdat::sanitize
