// SPDX-License-Identifier: BSD-2-Clause
// Posts under the sanitizer. The consumer's segments have lmr_contexts with a mark, which is taken off here.
#include <cstdarg>
#include <optional>

#include "libdat/api/iov.h"
#include "libdat/api/numbers.h"
#include "libdat/api/watched_call.h"
#include "libdat/object/memory_probe.h"
#include "libdat/sanitize/marks.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using sanitize::Ledger;
using sanitize::LedgerPosts;
using sanitize::OperationKind;
using sanitize::Post;

// A copy of the consumer's vector with the adapter's keys. An argument that the entry point will refuse is left as it
// is.
class PlainIov {
 public:
  PlainIov(const DAT_LMR_TRIPLET* triplets, DAT_COUNT count) {
    if (triplets == nullptr || count < 0 || count > api::kLargestIov) return;
    std::copy_n(triplets, count, copy_.begin());
    for (DAT_LMR_TRIPLET& each : std::span(copy_).first(static_cast<std::size_t>(count))) {
      each.lmr_context ^= sanitize::kLocalMark;
      // The void length of an event of DAT 1.2 is too long for any segment, and may have been cut to an int on its way.
      has_void_length_ |= static_cast<std::uint32_t>(each.segment_length) == sanitize::kVoidWord;
    }
    is_read_ = iov_.read(copy_.data(), count).ok();
    is_copied_ = true;
  }

  DAT_LMR_TRIPLET* triplets(const DAT_LMR_TRIPLET* given) {
    return is_copied_ ? copy_.data() : const_cast<DAT_LMR_TRIPLET*>(given);
  }
  std::span<const object::Segment> segments() const {
    return is_read_ ? iov_.segments() : std::span<const object::Segment>();
  }
  bool has_void_length() const { return has_void_length_; }

 private:
  std::array<DAT_LMR_TRIPLET, api::kLargestIov> copy_;
  Iov iov_;
  bool is_copied_ = false;
  bool is_read_ = false;
  bool has_void_length_ = false;
};

std::uint32_t context_of(const DAT_RMR_TRIPLET* remote) {
  return remote == nullptr ? 0 : remote->rmr_context;
}

// Keeps the post in the ledger unless next(arguments...) refuses it.
template <typename Next, typename... Arguments>
// Noted before the post, because another thread may dequeue the completion before the post returns.
DAT_RETURN make_post(const WatchedCall& call, const Post& post, const Next& next, Arguments... arguments) {
  std::optional<LedgerPosts::Posting> posting;
  note([&](Ledger& ledger) { posting.emplace(ledger.posts(), post); });
  // Without memory. From now on a completion without an operation proves nothing.
  if (!posting) Ledger::instance().posts().miss_post();
  const DAT_RETURN answer = next(arguments...);
  if (answer == DAT_SUCCESS && posting) posting->accept();
  note([&](Ledger&) { posting.reset(); });
  return call.finish(answer, {post.queue});
}

template <auto kSlot, Literal kName, OperationKind kKind, typename... Rest>
DAT_RETURN post_local(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* iov, DAT_DTO_COOKIE cookie,
                      DAT_COMPLETION_FLAGS flags, Rest... rest) {
  const WatchedCall call(kName.text, __builtin_return_address(0));
  PlainIov local(iov, count);
  const Post post{.kind = kKind,
                  .queue = ep,
                  .local = local.segments(),
                  .has_void_length = local.has_void_length(),
                  .cookie = cookie.as_64,
                  .flags = number_of_argument(flags),
                  .site = call.site()};
  return make_post(call, post, next_entries.*kSlot, ep, count, local.triplets(iov), cookie, flags, rest...);
}

template <auto kSlot, Literal kName, OperationKind kKind>
DAT_RETURN post_remote(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* iov, DAT_DTO_COOKIE cookie,
                       const DAT_RMR_TRIPLET* remote, DAT_COMPLETION_FLAGS flags) {
  const WatchedCall call(kName.text, __builtin_return_address(0));
  PlainIov local(iov, count);
  const Post post{.kind = kKind,
                  .queue = ep,
                  .local = local.segments(),
                  .has_void_length = local.has_void_length(),
                  .cookie = cookie.as_64,
                  .flags = number_of_argument(flags),
                  .rmr_context = context_of(remote),
                  .site = call.site()};
  return make_post(call, post, next_entries.*kSlot, ep, count, local.triplets(iov), cookie, remote, flags);
}

DAT_RETURN post_shared(DAT_SRQ_HANDLE srq, DAT_COUNT count, DAT_LMR_TRIPLET* iov, DAT_DTO_COOKIE cookie) {
  const WatchedCall call("dat_srq_post_recv", __builtin_return_address(0));
  PlainIov local(iov, count);
  const Post post{.kind = OperationKind::kReceive,
                  .queue = srq,
                  .local = local.segments(),
                  .has_void_length = local.has_void_length(),
                  .cookie = cookie.as_64,
                  .site = call.site()};
  return make_post(call, post, next_entries.srq_post_recv_func, srq, count, local.triplets(iov), cookie);
}

#if SOFTDAT_ABI == 20

// Its local side is named by an rmr_context.
DAT_RETURN post_read_to_rmr(DAT_EP_HANDLE ep, const DAT_RMR_TRIPLET* local, DAT_DTO_COOKIE cookie,
                            const DAT_RMR_TRIPLET* remote, DAT_COMPLETION_FLAGS flags) {
  const WatchedCall call("dat_ep_post_rdma_read_to_rmr", __builtin_return_address(0));
  std::optional<object::Segment> sink;
  if (local != nullptr && object::is_readable(reinterpret_cast<std::uintptr_t>(local), sizeof *local)) {
    note([&](Ledger& ledger) {
      sink = ledger.regions().find_sink(local->virtual_address, local->segment_length, local->rmr_context);
    });
  }
  const Post post{.kind = OperationKind::kRead,
                  .queue = ep,
                  .local = sink ? std::span<const object::Segment>(&*sink, 1) : std::span<const object::Segment>(),
                  .cookie = cookie.as_64,
                  .flags = number_of_argument(flags),
                  .rmr_context = context_of(remote),
                  .site = call.site()};
  return make_post(call, post, next_entries.ep_post_rdma_read_to_rmr_func, ep, local, cookie, remote, flags);
}

// Makes an argument list of its own.
DAT_RETURN extend(DAT_HANDLE handle, DAT_EXTENDED_OP operation, ...) {
  va_list arguments;
  va_start(arguments, operation);
  const DAT_RETURN answer = next_entries.handle_extendedop_func(handle, operation, arguments);
  va_end(arguments);
  return answer;
}

DAT_RETURN post_atomic(const WatchedCall& call, DAT_HANDLE ep, DAT_EXTENDED_OP operation, va_list arguments) {
  const bool has_two = static_cast<int>(operation) == DAT_IB_CMP_AND_SWAP_OP;
  const auto first = va_arg(arguments, DAT_UINT64);
  const auto second = has_two ? va_arg(arguments, DAT_UINT64) : DAT_UINT64{0};
  const auto* const given = va_arg(arguments, const DAT_LMR_TRIPLET*);
  const auto cookie = va_arg(arguments, DAT_DTO_COOKIE);
  const auto* const remote = va_arg(arguments, const DAT_RMR_TRIPLET*);
  const auto flags = va_arg(arguments, std::uint32_t);
  PlainIov local(given, 1);
  const Post post{.kind = OperationKind::kAtomic,
                  .queue = ep,
                  .local = local.segments(),
                  .has_void_length = local.has_void_length(),
                  .cookie = cookie.as_64,
                  .flags = flags,
                  .rmr_context = context_of(remote),
                  .site = call.site()};
  return make_post(call, post, [&] {
    if (!has_two) return extend(ep, operation, first, local.triplets(given), cookie, remote, flags);
    return extend(ep, operation, first, second, local.triplets(given), cookie, remote, flags);
  });
}

DAT_RETURN post_immediate(const WatchedCall& call, DAT_HANDLE ep, DAT_EXTENDED_OP operation, va_list arguments) {
  const auto count = va_arg(arguments, DAT_COUNT);
  const auto* const given = va_arg(arguments, const DAT_LMR_TRIPLET*);
  const auto cookie = va_arg(arguments, DAT_DTO_COOKIE);
  const auto* const remote = va_arg(arguments, const DAT_RMR_TRIPLET*);
  const auto immediate = va_arg(arguments, DAT_UINT32);
  const auto flags = va_arg(arguments, std::uint32_t);
  PlainIov local(given, count);
  const Post post{.kind = OperationKind::kWrite,
                  .queue = ep,
                  .local = local.segments(),
                  .has_void_length = local.has_void_length(),
                  .cookie = cookie.as_64,
                  .flags = flags,
                  .rmr_context = context_of(remote),
                  .site = call.site()};
  return make_post(call, post, [&] {
    return extend(ep, operation, count, local.triplets(given), cookie, remote, immediate, flags);
  });
}

DAT_RETURN post_datagram(const WatchedCall& call, DAT_HANDLE ep, DAT_EXTENDED_OP operation, va_list arguments) {
  const auto count = va_arg(arguments, DAT_COUNT);
  const auto* const given = va_arg(arguments, const DAT_LMR_TRIPLET*);
  const auto* const to = va_arg(arguments, const DAT_IB_ADDR_HANDLE*);
  const auto cookie = va_arg(arguments, DAT_DTO_COOKIE);
  const auto flags = va_arg(arguments, std::uint32_t);
  PlainIov local(given, count);
  const Post post{.kind = OperationKind::kSend,
                  .queue = ep,
                  .local = local.segments(),
                  .has_void_length = local.has_void_length(),
                  .cookie = cookie.as_64,
                  .flags = flags,
                  .site = call.site()};
  return make_post(call, post, [&] { return extend(ep, operation, count, local.triplets(given), to, cookie, flags); });
}

DAT_RETURN extended(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments) {
  const WatchedCall call("dat_extension_op", __builtin_return_address(0));
  switch (static_cast<int>(operation)) {
    case DAT_IB_FETCH_AND_ADD_OP:
    case DAT_IB_CMP_AND_SWAP_OP:
      return post_atomic(call, handle, operation, arguments);
    case DAT_IB_RDMA_WRITE_IMMED_OP:
      return post_immediate(call, handle, operation, arguments);
    case DAT_IB_UD_SEND_OP:
      return post_datagram(call, handle, operation, arguments);
    default:
      return call.finish(next_entries.handle_extendedop_func(handle, operation, arguments), {handle});
  }
}

#endif

}  // namespace

#define SOFTDAT_WATCH_POST(slot, function, kind) \
  table.slot##_func = function<&DAT_PROVIDER::slot##_func, "dat_" #slot, OperationKind::kind>

void watch_posts(DAT_PROVIDER& table) {
  SOFTDAT_WATCH_POST(ep_post_send, post_local, kSend);
  SOFTDAT_WATCH_POST(ep_post_recv, post_local, kReceive);
  SOFTDAT_WATCH_POST(ep_post_rdma_read, post_remote, kRead);
  SOFTDAT_WATCH_POST(ep_post_rdma_write, post_remote, kWrite);
  table.srq_post_recv_func = post_shared;
#if SOFTDAT_ABI == 20
  SOFTDAT_WATCH_POST(ep_post_send_with_invalidate, post_local, kSend);
  table.ep_post_rdma_read_to_rmr_func = post_read_to_rmr;
  table.handle_extendedop_func = extended;
#endif
}

#undef SOFTDAT_WATCH_POST

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
