// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/model/profile.h"

namespace softdat::simnic::model {
namespace {

using enum Field;
using enum FieldKind;

// The largest value of a DAT_COUNT.
constexpr std::uint64_t kMostCount = 0x7fff'ffff;

constexpr std::array<FieldInfo, kFields> kInfos{{
    {kMaxQp, "limits", "max_qp", kNumber, 1, kMostCount, {}, "endpoints at a time (max_eps)"},
    {kMaxWr, "limits", "max_wr", kNumber, 1, kMostCount, {}, "requests, and receives, of an endpoint (max_dto_per_ep)"},
    {kMaxSge, "limits", "max_sge", kNumber, 1, kMostCount, {}, "segments of a request (max_iov_segments_per_dto)"},
    {kMaxReadSge,
     "limits",
     "max_read_sge",
     kNumber,
     1,
     kMostCount,
     {},
     "segments of an RDMA read (max_iov_segments_per_rdma_read)"},
    {kMaxCq, "limits", "max_cq", kNumber, 1, kMostCount, {}, "completion queues at a time (max_evds)"},
    {kMaxCqe, "limits", "max_cqe", kNumber, 1, kMostCount, {}, "completions of a queue (max_evd_qlen)"},
    {kMaxMr, "limits", "max_mr", kNumber, 1, kMostCount, {}, "memory regions at a time (max_lmrs)"},
    {kMaxMrSize, "limits", "max_mr_size", kNumber, 1, kUnlimited, {}, "bytes of a memory region (max_lmr_block_size)"},
    {kMaxPd, "limits", "max_pd", kNumber, 1, kMostCount, {}, "protection zones at a time (max_pzs)"},
    {kMaxMessageSize,
     "limits",
     "max_message_size",
     kNumber,
     1,
     kUnlimited,
     {},
     "bytes of a message or RDMA transfer (max_message_size, max_rdma_size)"},
    {kMaxReadsIn,
     "limits",
     "max_ird",
     kNumber,
     0,
     kMostCount,
     {},
     "RDMA reads that an endpoint answers at a time (max_rdma_read_per_ep_in)"},
    {kMaxReadsOut,
     "limits",
     "max_ord",
     kNumber,
     0,
     kMostCount,
     {},
     "RDMA reads that an endpoint asks for at a time (max_rdma_read_per_ep_out)"},
    {kMaxPrivateData,
     "limits",
     "max_private_data",
     kNumber,
     0,
     kMostCount,
     {},
     "bytes of private data (max_private_data_size)"},
    {kMaxSrq, "limits", "max_srq", kNumber, 0, kMostCount, {}, "shared receive queues at a time; 0: none (max_srqs)"},
    {kMaxSrqWr,
     "limits",
     "max_srq_wr",
     kNumber,
     1,
     kMostCount,
     {},
     "receives of a shared receive queue (max_recv_per_srq)"},
    {kMaxSrqSge, "limits", "max_srq_sge", kNumber, 1, kMostCount, {}, "segments of a receive of a shared queue"},
    {kMaxMw, "limits", "max_mw", kNumber, 0, kMostCount, {}, "memory windows at a time; 0: none (max_rmrs)"},
    {kAtomics, "features", "atomics", kFlag, 0, 1, {}, "fetch and add, compare and swap"},
    {kImmediate, "features", "immediate", kFlag, 0, 1, {}, "RDMA write with immediate data"},
    {kDatagrams, "features", "datagrams", kFlag, 0, 1, {}, "the datagram service"},
    {kZeroBased, "features", "zero_based", kFlag, 0, 1, {}, "regions whose addresses count from 0 (zb_supported)"},
    {kSendWithInvalidate, "features", "send_with_invalidate", kFlag, 0, 1, {}, "dat_ep_post_send_with_invalidate"},
    {kCqResize, "features", "cq_resize", kFlag, 0, 1, {}, "growing a completion queue (dat_evd_resize)"},
    {kSrqResize, "features", "srq_resize", kFlag, 0, 1, {}, "growing a shared receive queue (dat_srq_resize)"},
    {kWorkQueue,
     "rounding",
     "work_queue",
     kWord,
     0,
     0,
     {"exact", "power-of-two"},
     "the size of an endpoint's queues: as asked for, or rounded up, as the simulator always does"},
    {kReadSinkNeedsRemoteWrite,
     "quirks",
     "read_sink_needs_remote_write",
     kFlag,
     0,
     1,
     {},
     "an RDMA read wants its own memory to grant remote write (rdma_write_for_rdma_read_req)"},
    {kNoReceive,
     "quirks",
     "no_receive",
     kWord,
     0,
     0,
     {"wait", "terminate"},
     "what a message does that finds no receive posted, as SOFTDAT_RNR"},
}};

// info_of() indexes the table by the enumeration.
constexpr bool are_in_order() {
  for (std::size_t i = 0; i < kFields; ++i) {
    if (static_cast<std::size_t>(kInfos[i].field) != i) return false;
  }
  return true;
}
static_assert(are_in_order());

}  // namespace

std::span<const FieldInfo> fields() {
  return kInfos;
}

const FieldInfo& info_of(Field field) {
  return kInfos[static_cast<std::size_t>(field)];
}

const char* name_of(Family family) {
  return family == Family::kIwarp ? "iwarp" : "infiniband";
}

std::string value_text(const FieldInfo& info, std::uint64_t number) {
  if (info.kind == kFlag) return number != 0 ? "yes" : "no";
  if (info.kind == kWord) return std::string(info.words[number != 0 ? 1 : 0]);
  return number == kUnlimited ? "unlimited" : std::to_string(number);
}

}  // namespace softdat::simnic::model
