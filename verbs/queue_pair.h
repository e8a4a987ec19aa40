// SPDX-License-Identifier: BSD-2-Clause
// QueuePair: a queue pair of an RDMA device. Holds its parts together: the work (WorkQueuePair: send queue, receive
// queue, ibv_qp) and the connection (Connection: states, connection manager, events).
//
// Ownership: the caller of create() owns it. The objects named in the config must outlive it.
// Threads and errors: as hca/queue_pair.h says. The parts have the locks.
#pragma once

#include <memory>

#include "hca/counters.h"
#include "hca/device.h"
#include "verbs/connection.h"
#include "verbs/work_queue_pair.h"

namespace softdat::verbs {

class QueuePair final : public hca::QueuePair, public hca::CountingQueuePair {
 public:
  static hca::Result<std::unique_ptr<hca::QueuePair>> create(const DeviceView& device,
                                                             const hca::QueuePairConfig& config);

  const hca::QueuePairLimits& limits() const override { return limits_; }
  hca::Outcome post_send(const hca::SendRequest& request) override;
  hca::Result<std::uint32_t> post_bind(const hca::BindRequest& request) override { return work_.sends().bind(request); }
  hca::Outcome post_recv(const hca::RecvRequest& request) override;
  std::uint32_t sends_outstanding() const override { return work_.sends().outstanding(); }
  std::uint32_t recvs_outstanding() const override { return work_.recvs().outstanding(); }
  void set_recv_limits(std::uint32_t soft, std::uint32_t hard) override;
  hca::Outcome connect(const hca::ConnectParameters& parameters) override { return connection_.connect(parameters); }
  hca::Outcome disconnect(bool graceful) override { return connection_.disconnect(graceful); }
  hca::Outcome reset() override { return connection_.reset(); }
  hca::Address remote_address() const override { return connection_.remote_address(); }
  std::uint16_t local_port() const override { return connection_.local_port(); }
  hca::Outcome inherit_recvs(hca::QueuePair& from) override;
  hca::Outcome retire() override;
  bool has_told_all() const override { return connection_.has_told_all(); }
  hca::TransferCounts transfer_counts() const override { return work_.counters().read(); }

  // See Connection::accept().
  hca::Outcome accept(CmEvent& request, std::span<const std::byte> private_data) {
    return connection_.accept(request, private_data);
  }

  // --- For completion queues, which hold their own lock ---
  std::uint64_t context() const { return context_; }
  // Fast path: a plain success that needs nothing but its completion: of a send or write whose completion is wanted, or
  // of a plain receive, but not the connection's first. Otherwise false, and nothing has happened.
  bool take_usual(WorkEntry& entry, const ibv_wc& wc, hca::Completion& out);
  // All other requests; then on_received(), or FailureRecord::on_work_failed().
  void on_complete(WorkEntry& entry, hca::CompletionStatus status);
  void on_received(const hca::Completion& completion);
  // Before on_complete().
  [[gnu::noinline, gnu::cold]] void report_failed_work(const WorkEntry& entry, const ibv_wc& wc,
                                                       hca::CompletionStatus status);
  FailureRecord& failures() { return connection_.failures(); }
  // Nobody gets the completions that still come.
  bool is_discarding() { return work_.device_pair().is_discarding(); }

 private:
  QueuePair(const DeviceView& device, const hca::QueuePairConfig& config);

  const hca::QueuePairLimits limits_;
  const std::uint64_t context_;
  MemoryTable& memory_;
  WorkQueuePair work_;
  Connection connection_;  // last: its destructor ends the work, too
};

// Inline, because every completion passes through some of them.
inline bool QueuePair::take_usual(WorkEntry& entry, const ibv_wc& wc, hca::Completion& out) {
  const bool is_plain = !entry.is_receive || (opcode_of_receive(wc) == hca::CompletionOpcode::kRecv &&
                                              connection_.withheld().has_heard_peer());
  if (!is_plain || is_discarding()) return false;
  SOFTDAT_DEBUG_CHECK(entry.shared == nullptr && entry.window == nullptr && !entry.is_counted,
                      "a usual request is plain and signaled", static_cast<std::uint64_t>(entry.opcode), entry.flags);
  out = {.wr_id = entry.cookie,
         .qp_context = context_,
         .length = entry.is_receive ? wc.byte_len : entry.length,
         .status = hca::CompletionStatus::kSuccess,
         .opcode = entry.opcode,
         .solicited = false};
  if (!entry.is_receive) {
    work_.sends().ring().complete(entry);
    return true;
  }
  work_.recvs().ring().complete(entry);
  work_.counters().add(hca::Transfer::kRecv, out.length);
  return true;
}

inline void QueuePair::on_complete(WorkEntry& entry, hca::CompletionStatus status) {
  work_.queue_of(entry).complete(entry, status);
}

inline void QueuePair::on_received(const hca::Completion& completion) {
  WithheldEvent& withheld = connection_.withheld();
  if (!withheld.has_heard_peer() && withheld.on_message()) [[unlikely]]
    connection_.wake();
  if (completion.opcode == hca::CompletionOpcode::kRecvInvalidate) [[unlikely]]
    memory_.void_window(completion.invalidated);
  const bool is_immediate = completion.opcode == hca::CompletionOpcode::kRecvWriteImmediate;
  work_.counters().add(is_immediate ? hca::Transfer::kRecvWriteImmediate : hca::Transfer::kRecv, completion.length);
}

}  // namespace softdat::verbs
