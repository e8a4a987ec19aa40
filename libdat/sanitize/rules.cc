// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/rules.h"

#include <array>

namespace softdat::sanitize {
namespace {

constexpr Severity kError = Severity::kError;
constexpr Severity kAdvice = Severity::kAdvice;

// In the order of enum Rule.
constexpr std::array<RuleText, kRuleCount> kTexts{{
    {"changed-buffer", kError,
     "The provider may read the buffer of a send or write until the program has dequeued its completion.",
     "Dequeue the completion before you write to the buffer, or use a second buffer."},
    {"unmapped-buffer", kError, "Memory must stay mapped as long as an operation uses it.",
     "Dequeue the completion, and free the LMR, before you unmap or free the memory."},
    {"freed-region", kError, "An LMR must not be freed while an operation uses it.",
     "Dequeue the completions of all operations that use the LMR before you free it."},
    {"overlap", kError, "While an operation stores into bytes, no other operation may use them.",
     "Give each outstanding operation bytes of its own, or dequeue the first completion before you post the second."},
    {"missing-fence", kError,
     "A request may begin before an earlier RDMA read of the same endpoint has stored its data.",
     "Post the request with DAT_COMPLETION_BARRIER_FENCE_FLAG, or dequeue the completion of the read first."},
    {"post-after-disconnect", kError, "After a disconnect every posted operation is flushed, and no data moves.",
     "Stop posting when you disconnect or dequeue a disconnect event; reset the endpoint before you use it again."},
    {"receive-not-posted", kError, "A message can arrive only if the receiver has posted a receive for it.",
     "Post receives before you accept or connect, and post a new one for each that completes."},
    {"evd-too-small", kError, "An EVD must have room for the completions of all outstanding operations that feed it.",
     "Create the EVD with a larger evd_min_qlen, post less at a time, or suppress completions."},
    {"wait-refused", kError,
     "An EVD is waited on in one way: directly, by one thread, with a threshold that its notification model allows, "
     "or through its CNO.",
     "Choose one model for the EVD, and see dat_evd_wait(3) for what goes together."},
    {"partial-drain", kError,
     "One wake-up of a CNO may stand for several events; no other one follows for those that are left.",
     "Dequeue until DAT_QUEUE_EMPTY before you wait on the CNO again."},
    {"async-unread", kError, "Asynchronous errors are told through the asynchronous EVD only.",
     "Dequeue the asynchronous EVD, at least before you close the adapter."},
    {"ignored-completion", kError,
     "An operation that was not suppressed has a completion that the program must dequeue.",
     "Dequeue each completion and look at its status, or post with DAT_COMPLETION_SUPPRESS_FLAG."},
    {"leak", kError, "Each object that a program creates must be freed before a graceful close of its adapter.",
     "Free the object, in the reverse order of creation."},
    {"registration-loop", kAdvice, "A registration costs more than the transfer of a small message.",
     "Register the memory once, and keep the LMR."},
    {"key-mixup", kError,
     "An lmr_context names memory to the local adapter, an rmr_context to a peer. They are different numbers on many "
     "devices, and always under the sanitizer.",
     "Use lmr_context in local segments, and send rmr_context to peers."},
    {"stale-handle", kError,
     "A handle ends with the call that frees its object; a cr_handle ends with accept, reject or "
     "hand-off.",
     "Do not use the handle after that call; set the variable to DAT_HANDLE_NULL."},
    {"void-field", kError,
     "The fields of an event are valid only after success, and only those of its kind; the rest is undefined.",
     "Look at the return code, event_number and status before you use other fields."},
    {"timeout-taken", kError, "DAT_TIMEOUT_EXPIRED and DAT_QUEUE_EMPTY mean that there is no event.",
     "Look at the return code, and wait again until the completion has come."},
    {"stack-buffer", kError, "The memory of a function's local variables ends when the function returns.",
     "Use memory that lives until the completion is dequeued: static, allocated, or of an outer function."},
    {"early-access", kError,
     "The buffer of a receive or read belongs to the provider until the completion is dequeued.",
     "Do not read, write or free the buffer before you have dequeued the completion."},
    {"stale-private-data", kError,
     "The private data of a request ends with accept, reject or hand-off; that of a connection with the reset or the "
     "end of its EP.",
     "Copy the private data before that call."},
    {"lost-completion", kError, "Each operation that is not suppressed completes, also when its connection ends.",
     "This is a mistake of the provider, or of what stands between it and the program: report it."},
    {"doubled-completion", kError, "Each operation completes once.",
     "This is a mistake of the provider, or of what stands between it and the program: report it."},
    {"unused-receive", kAdvice, "Receives that never complete hold memory and queue entries.",
     "Post as many receives as the peer sends messages."},
    {"unused-right", kAdvice, "A right that is never used lets mistakes pass that the adapter would catch.",
     "Register the memory with the privileges that are needed."},
    {"unordered-read", kAdvice,
     "A peer's RDMA write may be stored late and in any order. An event that follows it, as the completion of a "
     "message, tells that all of it is there.",
     "Let the peer send a message behind the write, and dequeue its completion before you read the data."},
}};

}  // namespace

const RuleText& text_of(Rule rule) {
  return kTexts[static_cast<std::size_t>(rule)];
}

}  // namespace softdat::sanitize
