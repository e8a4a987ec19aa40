// SPDX-License-Identifier: BSD-2-Clause
// DAT_RETURN in tests: matchers that name what they saw, and require() for steps that only prepare.
#pragma once

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>

#include "tests/conformance/api_version.h"

namespace softdat::conformance {

// "DAT_INVALID_HANDLE/DAT_INVALID_HANDLE_EP (0x8005000c)", as dat_strerror spells it.
std::string describe(DAT_RETURN result);

// Matches DAT_SUCCESS.
testing::Matcher<DAT_RETURN> succeeds();

// Matches an error of this type, whatever its subtype; the error class must be set.
testing::Matcher<DAT_RETURN> fails_with(DAT_RETURN_TYPE type);

// Matches an error of this type and subtype; the error class must be set.
testing::Matcher<DAT_RETURN> fails_with(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype);

// Matches DAT_QUEUE_EMPTY with or without the error class: stock programs compare both ways, so
// either is allowed (docs/ERRORS.md).
testing::Matcher<DAT_RETURN> is_empty_queue();

// Matches both of the answers by which a provider says that it lacks a function.
testing::Matcher<DAT_RETURN> is_not_supported();

DAT_RETURN_TYPE type_of(DAT_RETURN result);

// A step that prepares a test failed.
class SetupFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws SetupFailure unless `result` is DAT_SUCCESS.
void require(DAT_RETURN result, const char* what);

}  // namespace softdat::conformance
