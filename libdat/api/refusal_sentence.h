// SPDX-License-Identifier: BSD-2-Clause
// The sentences of docs/ERRORS.md, which are those of the manual pages: when a function gives an answer.
#pragma once

#include <string>
#include <string_view>

namespace softdat::api {

// `type` and `subtype`: the names in dat_error.h without DAT_; `subtype` may be empty. Several sentences are joined by
// "; or ". Empty: the table has none. Throws std::bad_alloc.
std::string refusal_sentence(std::string_view function, std::string_view type, std::string_view subtype, bool is_abi20);

}  // namespace softdat::api
