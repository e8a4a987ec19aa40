// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/model/capture.h"

#include <algorithm>
#include <limits>

namespace softdat::simnic::model {
namespace {

// TOML has no larger number.
constexpr std::uint64_t kMostWritten = std::numeric_limits<std::int64_t>::max();

}  // namespace

Profile capture(const hca::DeviceAttributes& attributes, const std::string& name, const std::string& source) {
  Profile profile{.name = name,
                  .title = attributes.vendor + " (" + attributes.name + ')',
                  .family = attributes.transport == hca::Transport::kIwarp ? Family::kIwarp : Family::kInfiniBand};
  const auto set = [&](Field field, std::uint64_t number) {
    const FieldInfo& info = info_of(field);
    // A device that reports nonsense, such as 0 queue pairs: the field stays unknown.
    if (info.kind == FieldKind::kNumber && number < info.least) return;
    const bool is_beyond = info.most == kUnlimited && number > kMostWritten;
    profile.at(field) = Value{is_beyond ? kUnlimited : std::min(number, info.most), source};
  };
  set(Field::kMaxQp, attributes.max_qp);
  set(Field::kMaxWr, attributes.max_wr);
  set(Field::kMaxSge, attributes.max_sge);
  set(Field::kMaxReadSge, std::min(attributes.max_read_sge, attributes.max_sge));
  set(Field::kMaxCq, attributes.max_cq);
  set(Field::kMaxCqe, attributes.max_cqe);
  set(Field::kMaxMr, attributes.max_mr);
  set(Field::kMaxMrSize, attributes.max_mr_size);
  set(Field::kMaxPd, attributes.max_pd);
  set(Field::kMaxMessageSize, attributes.max_message_size);
  set(Field::kMaxReadsIn, attributes.max_ird);
  set(Field::kMaxReadsOut, attributes.max_ord);
  set(Field::kMaxPrivateData, attributes.max_private_data);
  set(Field::kMaxSrq, attributes.max_srq);
  if (attributes.max_srq > 0) {
    set(Field::kMaxSrqWr, attributes.max_srq_wr);
    set(Field::kMaxSrqSge, attributes.max_srq_sge);
  }
  set(Field::kMaxMw, attributes.max_mw);
  set(Field::kAtomics, attributes.has_atomics ? 1 : 0);
  set(Field::kImmediate, attributes.has_immediate ? 1 : 0);
  set(Field::kDatagrams, attributes.has_datagrams ? 1 : 0);
  set(Field::kZeroBased, attributes.has_zero_based ? 1 : 0);
  return profile;
}

}  // namespace softdat::simnic::model
