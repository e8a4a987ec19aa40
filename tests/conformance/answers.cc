// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/answers.h"

#include <cstdio>
#include <optional>
#include <ostream>

namespace softdat::conformance {
namespace {

std::string describe_parts(DAT_RETURN_TYPE type, std::optional<DAT_RETURN_SUBTYPE> subtype) {
  const DAT_RETURN result = static_cast<DAT_RETURN>(type) | static_cast<DAT_RETURN>(subtype.value_or(DAT_NO_SUBTYPE));
  const char* major = nullptr;
  const char* minor = nullptr;
  if (dat_strerror(result, &major, &minor) != DAT_SUCCESS || major == nullptr) return "unnamed";
  std::string text = major;
  if (subtype.has_value() && *subtype != DAT_NO_SUBTYPE && minor != nullptr) text += std::string("/") + minor;
  return text;
}

class AnswerMatcher {
 public:
  using is_gtest_matcher = void;

  AnswerMatcher(DAT_RETURN_TYPE type, std::optional<DAT_RETURN_SUBTYPE> subtype, bool class_matters)
      : type_(type), subtype_(subtype), class_matters_(class_matters) {}

  bool MatchAndExplain(DAT_RETURN result, std::ostream* out) const {
    if (out != nullptr) *out << "which is " << describe(result);
    if (type_of(result) != type_) return false;
    if (subtype_ && DAT_GET_SUBTYPE(result) != static_cast<DAT_RETURN>(*subtype_)) return false;
    if (!class_matters_) return true;
    const DAT_RETURN wanted = type_ == DAT_SUCCESS ? 0u : DAT_CLASS_ERROR;
    return (result & 0xc0000000u) == wanted;
  }

  void DescribeTo(std::ostream* out) const { *out << "is " << describe_parts(type_, subtype_); }
  void DescribeNegationTo(std::ostream* out) const { *out << "is not " << describe_parts(type_, subtype_); }

 private:
  DAT_RETURN_TYPE type_;
  std::optional<DAT_RETURN_SUBTYPE> subtype_;
  bool class_matters_;
};

}  // namespace

DAT_RETURN_TYPE type_of(DAT_RETURN result) {
  // DAT 1.2 as OFED spells it: DAT_NOT_IMPLEMENTED carries the class bits in its own value.
  if (static_cast<DAT_RETURN>(DAT_NOT_IMPLEMENTED) == 0xffff0000u && (result & 0x3fff0000u) == 0x3fff0000u)
    return DAT_NOT_IMPLEMENTED;
  return static_cast<DAT_RETURN_TYPE>(DAT_GET_TYPE(result));
}

std::string describe(DAT_RETURN result) {
  char number[16];
  std::snprintf(number, sizeof number, " (0x%08x)", static_cast<unsigned>(result));
  return describe_parts(type_of(result), static_cast<DAT_RETURN_SUBTYPE>(DAT_GET_SUBTYPE(result))) + number;
}

testing::Matcher<DAT_RETURN> succeeds() {
  return AnswerMatcher(DAT_SUCCESS, std::nullopt, true);
}

testing::Matcher<DAT_RETURN> fails_with(DAT_RETURN_TYPE type) {
  return AnswerMatcher(type, std::nullopt, true);
}

testing::Matcher<DAT_RETURN> fails_with(DAT_RETURN_TYPE type, DAT_RETURN_SUBTYPE subtype) {
  return AnswerMatcher(type, subtype, true);
}

testing::Matcher<DAT_RETURN> is_empty_queue() {
  return AnswerMatcher(DAT_QUEUE_EMPTY, std::nullopt, false);
}

testing::Matcher<DAT_RETURN> is_not_supported() {
  return testing::AnyOf(testing::Matcher<DAT_RETURN>(AnswerMatcher(DAT_MODEL_NOT_SUPPORTED, std::nullopt, true)),
                        testing::Matcher<DAT_RETURN>(AnswerMatcher(DAT_NOT_IMPLEMENTED, std::nullopt, false)));
}

void require(DAT_RETURN result, const char* what) {
  if (result != DAT_SUCCESS) throw SetupFailure(std::string(what) + ": " + describe(result));
}

}  // namespace softdat::conformance
