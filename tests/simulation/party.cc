// SPDX-License-Identifier: BSD-2-Clause
#include "tests/simulation/party.h"

#include <algorithm>

namespace softdat::simnic::simulation {
namespace {

constexpr std::size_t kRecvSize = 600;
constexpr std::size_t kWindowSize = 200;

// Cuts [0, length) of the memory into up to `most` segments, some of them empty.
testing::Segments cut(Random& random, const Memory& memory, std::size_t length, std::size_t most) {
  testing::Segments segments;
  std::size_t at = 0;
  const std::size_t count = 1 + pick(random, most - 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t part = i + 1 == count ? length - at : pick(random, length - at);
    segments.push_back(memory.segment(at, part));
    at += part;
  }
  if (length == 0 && chance(random, 2)) segments.clear();
  return segments;
}

std::size_t pick_length(Random& random) {
  if (chance(random, 8)) return 0;
  return chance(random, 6) ? pick(random, 20'000) : pick(random, 300);
}

}  // namespace

Party::Party(Host& host, const hca::QueuePairLimits& limits, ReceivePool* pool)
    : host_(host),
      pool_(pool),
      send_cq_(testing::expect_ok(host.nic().create_cq(256, completions_))),
      recv_cq_(testing::expect_ok(host.nic().create_cq(256, completions_))) {
  hca::QueuePairConfig config;
  config.pd = &host.pd();
  config.send_cq = send_cq_.get();
  config.recv_cq = recv_cq_.get();
  config.limits = limits;
  config.sink = this;
  config.srq = pool == nullptr ? nullptr : &pool->queue();
  qp_ = testing::expect_ok(host.nic().create_qp(config));
}

Party::~Party() {
  qp_.reset();
}

void Party::begin_life() {
  has_failed_send_ = has_failed_recv_ = false;
  established_ = ended_ = 0;
  has_failed_to_connect_ = false;
  messages_.clear();
  sends_ok_ = recvs_ok_ = 0;
}

Work Party::make(Random& random, Kind kind, std::size_t length) {
  Work work{.wr_id = next_wr_++,
            .kind = kind,
            .is_signaled = !chance(random, 3),
            .expected = {},
            .operand = random(),
            .local = nullptr,
            .remote = nullptr,
            .window = nullptr};
  const hca::AccessMask access = testing::kEverything | (kind == Kind::kBind ? hca::kBindRemoteRead : 0u);
  work.local = std::make_unique<Memory>(host_, testing::pattern(std::max<std::size_t>(length, 1), random()), access);
  if (kind != Kind::kSend && kind != Kind::kRecv && kind != Kind::kBind) {
    work.remote = std::make_unique<Memory>(peer_->host_, testing::pattern(std::max<std::size_t>(length, 1), random()));
  }
  const bool is_fetched = kind == Kind::kRead || kind == Kind::kAtomic;
  const Memory& source = is_fetched ? *work.remote : *work.local;
  work.expected = source.part(0, length);
  return work;
}

void Party::post(Work work, hca::SendOpcode opcode, const testing::Segments& segments, std::uint32_t flags,
                 std::uint64_t remote_address, std::uint32_t rkey) {
  if (work.is_signaled) flags |= hca::kSignaled;
  const auto outcome = qp_->post_send({.wr_id = work.wr_id,
                                       .opcode = opcode,
                                       .flags = flags,
                                       .rkey = rkey,
                                       .remote_address = remote_address,
                                       .local = segments,
                                       .immediate = static_cast<std::uint32_t>(work.operand),
                                       .operand = work.operand});
  if (!outcome) return;
  if (work.kind == Kind::kSend) messages_.push_back({work.expected, std::nullopt});
  if (work.kind == Kind::kWriteImmediate) {
    messages_.push_back({work.expected, static_cast<std::uint32_t>(work.operand)});
  }
  sends_.push_back(std::move(work));
}

void Party::post_send(Random& random) {
  Work work = make(random, Kind::kSend, std::min(pick_length(random), kRecvSize));
  const auto segments = cut(random, *work.local, work.expected.size(), 4);
  post(std::move(work), hca::SendOpcode::kSend, segments, chance(random, 4) ? hca::kSolicited : 0u, 0, 0);
}

// Now and then the transfer goes to what one of the peer's windows covers, by the window's key.
bool Party::take_window(Random& random, Work& work) {
  if (peer_->bound_.empty() || !chance(random, 2)) return false;
  Work& bind = peer_->bound_.front();
  work.remote = std::move(bind.local);
  work.window = std::move(bind.window);
  work.key = bind.key;
  work.is_revoked = bind.is_revoked;
  peer_->bound_.pop_front();
  return true;
}

void Party::post_write(Random& random) {
  Work work = make(random, Kind::kWrite, pick_length(random));
  if (work.expected.size() <= kWindowSize) take_window(random, work);
  const auto segments = cut(random, *work.local, work.expected.size(), 4);
  const std::uint64_t address = work.remote->address();
  const std::uint32_t key = work.window != nullptr ? work.key : work.remote->key();
  post(std::move(work), hca::SendOpcode::kWrite, segments, chance(random, 6) ? hca::kFence : 0u, address, key);
}

void Party::post_read(Random& random) {
  Work work = make(random, Kind::kRead, pick_length(random));
  if (work.expected.size() <= kWindowSize && take_window(random, work)) {
    work.expected = work.remote->part(0, work.expected.size());
  }
  const auto segments = cut(random, *work.local, work.expected.size(), 4);
  const std::uint64_t address = work.remote->address();
  const std::uint32_t key = work.window != nullptr ? work.key : work.remote->key();
  post(std::move(work), hca::SendOpcode::kRead, segments, chance(random, 6) ? hca::kFence : 0u, address, key);
}

void Party::post_write_immediate(Random& random) {
  Work work = make(random, Kind::kWriteImmediate, pick_length(random));
  const auto segments = cut(random, *work.local, work.expected.size(), 4);
  const std::uint64_t address = work.remote->address();
  const std::uint32_t key = work.remote->key();
  post(std::move(work), hca::SendOpcode::kWriteWithImmediate, segments, chance(random, 6) ? hca::kFence : 0u, address,
       key);
}

void Party::post_atomic(Random& random) {
  Work work = make(random, Kind::kAtomic, sizeof(std::uint64_t));
  const auto segments = cut(random, *work.local, work.expected.size(), 4);
  const std::uint64_t address = work.remote->address();
  const std::uint32_t key = work.remote->key();
  post(std::move(work), hca::SendOpcode::kFetchAdd, segments, 0, address, key);
}

void Party::post_bind(Random& random) {
  Work work = make(random, Kind::kBind, kWindowSize);
  work.expected.clear();
  work.window = testing::expect_ok(host_.nic().create_window(host_.pd(), hca::WindowScope::kDomain, 0));
  const auto key =
      qp_->post_bind({.wr_id = work.wr_id,
                      .flags = (work.is_signaled ? hca::kSignaled : 0u) | (chance(random, 6) ? hca::kFence : 0u),
                      .window = work.window.get(),
                      .lkey = work.local->key(),
                      .address = work.local->address(),
                      .length = kWindowSize,
                      .access = hca::kRemoteRead | hca::kRemoteWrite});
  if (!key) return;
  work.key = key.value();
  sends_.push_back(std::move(work));
}

void Party::post_forbidden(Random& random) {
  const bool is_read = chance(random, 2);
  Work work = make(random, is_read ? Kind::kRead : Kind::kWrite, 1 + pick(random, 200));
  work.is_forbidden = true;
  const testing::Segments segments{work.local->segment(0, work.expected.size())};
  const std::uint64_t address = work.remote->address() + (chance(random, 2) ? 1 : 0);
  const std::uint32_t key = address == work.remote->address() ? work.remote->key() ^ 1 : work.remote->key();
  post(std::move(work), is_read ? hca::SendOpcode::kRead : hca::SendOpcode::kWrite, segments, 0, address, key);
}

void Party::post_recv(Random& random) {
  Work work = make(random, Kind::kRecv, kRecvSize);
  const auto segments = cut(random, *work.local, kRecvSize, 4);
  if (pool_ != nullptr) return pool_->post(std::move(work), segments);
  if (qp_->post_recv({.wr_id = work.wr_id, .local = segments})) recvs_.push_back(std::move(work));
}

void Party::revoke_something(Random& random) {
  if (pool_ != nullptr && chance(random, 6)) return pool_->revoke_something(random);
  WorkList& list = chance(random, 3) ? recvs_ : sends_;
  if (list.empty()) return;
  Work& work = list[pick(random, list.size() - 1)];
  // An empty request has nothing to lose.
  if (work.is_revoked || work.expected.empty()) return;
  work.is_revoked = true;
  (work.remote && chance(random, 2) ? work.remote : work.local)->deregister();
}

std::string Party::check() {
  hca::Completion completion{};
  while (send_cq_->poll({&completion, 1}) == 1) {
    if (auto fault = check_send(completion); !fault.empty()) return fault;
  }
  while (recv_cq_->poll({&completion, 1}) == 1) {
    if (auto fault = check_recv(completion); !fault.empty()) return fault;
  }
  if (completions_.overflows > 0) return "a completion queue overflowed";
  if (established_ > 1 || ended_ > 1) return "a connection began or ended twice";
  if (ended_ > 0 && established_ == 0) return "a connection ended that never was";
  if (qp_->sends_outstanding() > sends_.size()) return "more sends outstanding than posted";
  if (pool_ != nullptr && qp_->recvs_outstanding() > 1) return "more than one receive taken at a time";
  if (pool_ == nullptr && qp_->recvs_outstanding() != recvs_.size()) return "receives outstanding are not those posted";
  return {};
}

std::string Party::check_ended() {
  if (auto fault = check(); !fault.empty()) return fault;
  // Unsignaled successes at the end leave no trace of their own.
  while (!sends_.empty() && !sends_.front().is_signaled && !has_failed_send_) {
    if (auto fault = check_success(sends_.front()); !fault.empty()) return fault;
    sends_.pop_front();
  }
  if (!sends_.empty() || !recvs_.empty()) return "work without completion after the end";
  if (established_ != ended_) return "an established connection without its end";
  if (qp_->sends_outstanding() + qp_->recvs_outstanding() > 0) return "work outstanding after the end";
  if (peer_->is_dead || is_dead) return {};
  if (sends_ok_ > peer_->recvs_ok_) return "more sends than receives succeeded";
  return {};
}

std::string Party::describe(const Work& work, CompletionStatus status, const char* what) const {
  return "wr " + std::to_string(work.wr_id) + " of kind " + std::to_string(static_cast<int>(work.kind)) + " (" +
         testing::name_of(status) + "): " + what;
}

std::string Party::check_status(const Work& work, CompletionStatus status, bool& has_failed) const {
  // Memory taken away in mid-message ends the connection at once, whatever before it was unanswered.
  const bool is_torn = status == CompletionStatus::kLocalProtection && work.is_revoked;
  if (has_failed && status != CompletionStatus::kFlushed && !is_torn) {
    return describe(work, status, "not flushed after a failure");
  }
  has_failed = has_failed || status != CompletionStatus::kSuccess;
  switch (status) {
    case CompletionStatus::kSuccess:
      return work.is_forbidden ? describe(work, status, "was forbidden") : "";
    case CompletionStatus::kFlushed:
      return {};
    case CompletionStatus::kRemoteAccess:
      return work.is_forbidden || work.is_revoked ? "" : describe(work, status, "was allowed");
    case CompletionStatus::kLocalProtection:
      return work.is_revoked ? "" : describe(work, status, "had its memory");
    case CompletionStatus::kRemoteOperation:
      // The peer's receive lost its memory.
      return work.kind == Kind::kSend ? "" : describe(work, status, "is not a send");
    default:
      return describe(work, status, "must not be");
  }
}

// Of a request of ours that succeeded.
std::string Party::check_success(Work& work) {
  switch (work.kind) {
    case Kind::kSend:
      ++sends_ok_;
      return {};
    case Kind::kWriteImmediate:
      ++sends_ok_;
      [[fallthrough]];
    case Kind::kWrite:
      return work.remote->part(0, work.expected.size()) == work.expected
                 ? ""
                 : describe(work, CompletionStatus::kSuccess, "wrote other bytes");
    case Kind::kRead:
      return work.local->part(0, work.expected.size()) == work.expected
                 ? ""
                 : describe(work, CompletionStatus::kSuccess, "read other bytes");
    case Kind::kAtomic: {
      std::uint64_t original = 0;
      std::memcpy(&original, work.expected.data(), sizeof original);
      const bool is_right =
          work.local->part(0, sizeof original) == work.expected && work.remote->word(0) == original + work.operand;
      return is_right ? "" : describe(work, CompletionStatus::kSuccess, "added otherwise");
    }
    case Kind::kRecv:
      return {};
    case Kind::kBind:
      if (!work.is_revoked && work.window->binding().rkey != work.key) {
        return describe(work, CompletionStatus::kSuccess, "is not bound");
      }
      bound_.push_back(std::move(work));
      return {};
  }
  return {};
}

std::string Party::check_send(const hca::Completion& completion) {
  // Unsignaled ones before it have succeeded without a word.
  while (!sends_.empty() && sends_.front().wr_id != completion.wr_id) {
    if (sends_.front().is_signaled || has_failed_send_) {
      return describe(sends_.front(), completion.status, "was passed over");
    }
    if (auto fault = check_success(sends_.front()); !fault.empty()) return fault;
    sends_.pop_front();
  }
  if (sends_.empty()) return "a completion for nothing that was posted: " + std::to_string(completion.wr_id);
  Work work = std::move(sends_.front());
  sends_.pop_front();
  if (auto fault = check_status(work, completion.status, has_failed_send_); !fault.empty()) return fault;
  if (completion.status != CompletionStatus::kSuccess) {
    const bool is_bound = work.kind == Kind::kBind && work.window->binding().rkey != 0;
    return is_bound ? describe(work, completion.status, "is bound all the same") : "";
  }
  if (!work.is_signaled) return describe(work, completion.status, "was unsignaled");
  if (completion.length != work.expected.size()) return describe(work, completion.status, "has another length");
  return check_success(work);
}

std::unique_ptr<Work> Party::take_recv(std::uint64_t wr_id) {
  if (pool_ != nullptr) return std::exchange(last_pooled_, wr_id) < wr_id ? pool_->take(wr_id) : nullptr;
  if (recvs_.empty() || recvs_.front().wr_id != wr_id) return nullptr;
  auto work = std::make_unique<Work>(std::move(recvs_.front()));
  recvs_.pop_front();
  return work;
}

std::string Party::check_recv(const hca::Completion& completion) {
  const auto taken = take_recv(completion.wr_id);
  if (!taken) return "a receive completed out of order: " + std::to_string(completion.wr_id);
  const Work& work = *taken;
  if (auto fault = check_status(work, completion.status, has_failed_recv_); !fault.empty()) return fault;
  if (completion.status != CompletionStatus::kSuccess) return {};
  ++recvs_ok_;
  if (peer_->messages_.empty()) return describe(work, completion.status, "received what nobody sent");
  const auto message = std::move(peer_->messages_.front());
  peer_->messages_.pop_front();
  if (message.immediate) {
    const bool is_right = completion.opcode == hca::CompletionOpcode::kRecvWriteImmediate &&
                          completion.length == message.bytes.size() && completion.immediate == *message.immediate;
    return is_right ? "" : describe(work, completion.status, "received other immediate data");
  }
  if (completion.length != message.bytes.size() || work.local->part(0, message.bytes.size()) != message.bytes) {
    return describe(work, completion.status, "received other bytes");
  }
  return {};
}

void Party::on_connection_event(const hca::ConnectionEvent& event) {
  switch (event.type) {
    case hca::ConnectionEventType::kEstablished:
      ++established_;
      return;
    case hca::ConnectionEventType::kDisconnected:
      // Giving up a connect ends what was never established.
      if (established_ == 0) {
        has_failed_to_connect_ = true;
        return;
      }
      ++ended_;
      return;
    case hca::ConnectionEventType::kBroken:
      ++ended_;
      return;
    default:
      has_failed_to_connect_ = true;
  }
}

}  // namespace softdat::simnic::simulation
