// SPDX-License-Identifier: BSD-2-Clause
// What the last failure of an EP was, in words.
#include <cstring>

#include "libdat/api/abi.h"

#if SOFTDAT_ABI == 20

#include "libdat/api/answer.h"
#include "libdat/api/extension.h"
#include "libdat/object/endpoint.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

DAT_RETURN last_failure(DAT_HANDLE handle, va_list arguments) {
  auto* const text = va_arg(arguments, char*);
  const auto size = va_arg(arguments, DAT_COUNT);
  const auto ep = pin_handle<object::Endpoint>(handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (text == nullptr) return refuse_argument(3);
  if (size < 1) return refuse_argument(4);
  return answer_of([&] {
    const std::string sentence = ep->words().last_failure();
    const std::size_t length = sentence.copy(text, static_cast<std::size_t>(size) - 1);
    text[length] = '\0';
    return object::kOk;
  });
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE

#endif
