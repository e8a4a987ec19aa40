// SPDX-License-Identifier: BSD-2-Clause
// RuledQueuePair: a queue pair that refuses what the device of a profile cannot carry out. Without a profile there is a
// plain QueuePair, so rules cost nothing.
#pragma once

#include <cstdint>

#include "simnic/model/device_rules.h"
#include "simnic/queue_pair.h"

namespace softdat::simnic {

// What a post may ask for. By itself it allows all.
struct PostRules {
  bool has_atomics = true;
  bool has_immediate = true;
  bool has_send_with_invalidate = true;
  bool needs_remote_write_to_read = false;
  std::uint32_t max_read_sge = ~std::uint32_t{0};
  std::uint64_t max_message_size = ~std::uint64_t{0};
};

PostRules post_rules_of(const model::DeviceRules& rules, const hca::DeviceAttributes& attributes);

class RuledQueuePair : public QueuePair {
 public:
  // As QueuePair. Throws std::bad_alloc.
  RuledQueuePair(const NicView& nic, const hca::QueuePairConfig& config, const PostRules& rules);
  ~RuledQueuePair() override;

  hca::Outcome post_send(const hca::SendRequest& request) override;
  using QueuePair::explain;
  hca::Failure explain(const hca::SendRequest& request) const override;

 private:
  // The rule that refuses the request; kUnknown: none.
  hca::Failure refusal_of(const hca::SendRequest& request) const;

  // Fixed after construction.
  const PostRules rules_;
  const MemoryView view_;
};

}  // namespace softdat::simnic
