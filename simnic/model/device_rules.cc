// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/model/device_rules.h"

#include <algorithm>

namespace softdat::simnic::model {
namespace {

template <typename Number>
void lower(const Profile& profile, Field field, Number& attribute) {
  if (!profile.at(field)) return;
  // A profile only takes away: the simulator cannot do more than it can.
  attribute = static_cast<Number>(std::min<std::uint64_t>(attribute, profile.at(field)->number));
}

void lower(const Profile& profile, Field field, bool& attribute) {
  if (profile.at(field)) attribute = attribute && profile.at(field)->number != 0;
}

}  // namespace

DeviceRules rules_of(const Profile& profile) {
  const auto says = [&](Field field, std::uint64_t otherwise) { return profile.number(field, otherwise) != 0; };
  return {.has_send_with_invalidate = says(Field::kSendWithInvalidate, 1),
          .has_cq_resize = says(Field::kCqResize, 1),
          .has_srq_resize = says(Field::kSrqResize, 1),
          .needs_remote_write_to_read = says(Field::kReadSinkNeedsRemoteWrite, 0)};
}

// Fields that the profile does not know stay the simulator's.
void apply(const Profile& profile, hca::DeviceAttributes& attributes) {
  attributes.vendor = "SoftDAT, as " + profile.title;
  attributes.profile = profile.name;
  lower(profile, Field::kMaxQp, attributes.max_qp);
  lower(profile, Field::kMaxWr, attributes.max_wr);
  lower(profile, Field::kMaxSge, attributes.max_sge);
  lower(profile, Field::kMaxReadSge, attributes.max_read_sge);
  attributes.max_read_sge = std::min(attributes.max_read_sge, attributes.max_sge);
  lower(profile, Field::kMaxCq, attributes.max_cq);
  lower(profile, Field::kMaxCqe, attributes.max_cqe);
  lower(profile, Field::kMaxMr, attributes.max_mr);
  lower(profile, Field::kMaxMrSize, attributes.max_mr_size);
  lower(profile, Field::kMaxPd, attributes.max_pd);
  lower(profile, Field::kMaxMessageSize, attributes.max_message_size);
  lower(profile, Field::kMaxReadsIn, attributes.max_ird);
  lower(profile, Field::kMaxReadsOut, attributes.max_ord);
  lower(profile, Field::kMaxPrivateData, attributes.max_private_data);
  lower(profile, Field::kMaxSrq, attributes.max_srq);
  lower(profile, Field::kMaxSrqWr, attributes.max_srq_wr);
  lower(profile, Field::kMaxSrqSge, attributes.max_srq_sge);
  lower(profile, Field::kMaxMw, attributes.max_mw);
  lower(profile, Field::kAtomics, attributes.has_atomics);
  lower(profile, Field::kImmediate, attributes.has_immediate);
  lower(profile, Field::kDatagrams, attributes.has_datagrams);
  lower(profile, Field::kZeroBased, attributes.has_zero_based);
  attributes.needs_remote_write_to_read = profile.number(Field::kReadSinkNeedsRemoteWrite, 0) != 0;
}

}  // namespace softdat::simnic::model
