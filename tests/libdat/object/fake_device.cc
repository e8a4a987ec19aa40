// SPDX-License-Identifier: BSD-2-Clause
#include "tests/libdat/object/fake_device.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace softdat::object {
namespace {

template <typename Base>
class Counted : public Base {
 public:
  template <typename... Arguments>
  explicit Counted(std::atomic<int>& count, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), count_(count) {
    count_.fetch_add(1);
  }
  ~Counted() override { count_.fetch_sub(1); }

 private:
  std::atomic<int>& count_;
};

class FakeRegion : public hca::MemoryRegion {
 public:
  explicit FakeRegion(std::uint32_t key) : key_(key) {}
  std::uint32_t lkey() const override { return key_; }
  std::uint32_t rkey() const override { return key_ + 1; }
  hca::Outcome revoke() override { return hca::Done{}; }

 private:
  const std::uint32_t key_;
};

class FakeWindow : public hca::MemoryWindow {
 public:
  explicit FakeWindow(std::uint64_t context) : context_(context) {}
  hca::WindowBinding binding() const override { return {}; }
  std::uint64_t context() const { return context_; }

 private:
  const std::uint64_t context_;
};

class FakeRequest final : public hca::ConnectionRequest {
 public:
  FakeRequest(FakeDevice& device, std::uint64_t service_id, hca::Bytes private_data, std::shared_ptr<FakeAnswer> answer)
      : device_(device),
        service_id_(service_id),
        private_data_(std::move(private_data)),
        answer_(std::move(answer)),
        ird_(device.peer_ird),
        ord_(device.peer_ord) {}
  ~FakeRequest() override {
    if (!answer_->is_accepted && !answer_->is_rejected && !is_handed_off_) answer_->is_dropped = true;
  }
  hca::Address remote_address() const override { return {0x7f000002, 4711}; }
  std::uint64_t service_id() const override { return service_id_; }
  std::span<const std::byte> private_data() const override { return private_data_; }
  std::uint32_t ird() const override { return ird_; }
  std::uint32_t ord() const override { return ord_; }
  hca::Outcome hand_off(std::uint64_t service_id) override {
    if (!device_.arrive(service_id, private_data_, answer_)) return hca::fail(hca::Error::kBadAddress);
    is_handed_off_ = true;
    answer_->is_handed_off = true;
    return hca::Done{};
  }
  hca::Outcome accept(hca::QueuePair& qp, std::span<const std::byte> private_data) override {
    if (qp.state() != hca::QueuePairState::kIdle) return hca::fail(hca::Error::kInvalidState);
    answer_->private_data.assign(private_data.begin(), private_data.end());
    answer_->is_accepted = true;
    dynamic_cast<FakeQueuePair&>(qp).move_to(hca::QueuePairState::kAccepting);
    return hca::Done{};
  }
  hca::Outcome reject(std::span<const std::byte> private_data) override {
    answer_->private_data.assign(private_data.begin(), private_data.end());
    answer_->is_rejected = true;
    return hca::Done{};
  }

 private:
  FakeDevice& device_;
  const std::uint64_t service_id_;
  const hca::Bytes private_data_;
  const std::shared_ptr<FakeAnswer> answer_;
  const std::uint32_t ird_;
  const std::uint32_t ord_;
  bool is_handed_off_ = false;
};

bool wakes(const hca::Completion& completion) {
  return completion.solicited || completion.status != hca::CompletionStatus::kSuccess;
}

hca::CompletionOpcode completion_opcode(hca::SendOpcode opcode) {
  switch (opcode) {
    case hca::SendOpcode::kSend:
    case hca::SendOpcode::kSendInvalidate:
      return hca::CompletionOpcode::kSend;
    case hca::SendOpcode::kWrite:
      return hca::CompletionOpcode::kWrite;
    case hca::SendOpcode::kRead:
    case hca::SendOpcode::kReadToWindow:
      return hca::CompletionOpcode::kRead;
    case hca::SendOpcode::kWriteWithImmediate:
      return hca::CompletionOpcode::kWriteWithImmediate;
    case hca::SendOpcode::kFetchAdd:
      return hca::CompletionOpcode::kFetchAdd;
    case hca::SendOpcode::kCompareSwap:
      return hca::CompletionOpcode::kCompareSwap;
    case hca::SendOpcode::kBind:
      return hca::CompletionOpcode::kBind;
  }
  return hca::CompletionOpcode::kSend;
}

std::uint32_t length_of(const std::vector<hca::Segment>& segments) {
  std::uint32_t sum = 0;
  for (const hca::Segment& segment : segments) sum += segment.length;
  return sum;
}

}  // namespace

class FakeListener : public hca::Listener {
 public:
  FakeListener(FakeDevice& device, std::uint64_t service_id) : device_(device), service_id_(service_id) {}
  ~FakeListener() override {
    std::lock_guard lock(device_.mutex_);
    device_.listeners_.erase(service_id_);
  }
  std::uint64_t service_id() const override { return service_id_; }

 private:
  FakeDevice& device_;
  const std::uint64_t service_id_;
};

void FakeCompletionQueue::add(const hca::Completion& completion, bool is_quiet) {
  bool is_told = false;
  bool overflows = false;
  {
    std::lock_guard lock(mutex_);
    if (completions_.size() == capacity_) {
      overflows = !std::exchange(has_overflowed_, true);
    } else {
      completions_.push_back(completion);
      is_told = !is_quiet && (armed_ == Armed::kAll || (armed_ == Armed::kSolicited && wakes(completion)));
      if (is_told) armed_ = Armed::kNo;
    }
  }
  if (overflows) sink_.on_overflow();
  if (!is_quiet) wake_.notify();
  if (is_told) sink_.on_completion();
}

// Fails the test if another thread polls or resizes the queue meanwhile.
class FakeCompletionQueue::OnlyConsumer {
 public:
  explicit OnlyConsumer(FakeCompletionQueue& queue) : queue_(queue) {
    EXPECT_FALSE(queue_.is_consumed_.exchange(true)) << "two consumers";
  }
  ~OnlyConsumer() { queue_.is_consumed_.store(false); }
  OnlyConsumer(const OnlyConsumer&) = delete;
  OnlyConsumer& operator=(const OnlyConsumer&) = delete;

 private:
  FakeCompletionQueue& queue_;
};

std::size_t FakeCompletionQueue::poll(std::span<hca::Completion> out) {
  const OnlyConsumer consumer(*this);
  std::unique_lock lock(mutex_);
  if (const auto hook = std::exchange(polling_, {})) {
    lock.unlock();
    hook();
    lock.lock();
  }
  std::size_t count = 0;
  for (; count < out.size() && !completions_.empty(); ++count) {
    out[count] = completions_.front();
    completions_.pop_front();
  }
  return count;
}

std::size_t FakeCompletionQueue::size() const {
  const std::size_t count = [this] {
    std::lock_guard lock(mutex_);
    return completions_.size();
  }();
  if (hook_ && std::this_thread::get_id() == counter_) hook_();
  return count;
}

std::size_t FakeCompletionQueue::capacity() const {
  std::lock_guard lock(mutex_);
  return capacity_;
}

hca::Outcome FakeCompletionQueue::resize(std::size_t capacity) {
  const OnlyConsumer consumer(*this);
  std::lock_guard lock(mutex_);
  if (completions_.size() > capacity) return hca::fail(hca::Error::kInvalidState);
  capacity_ = capacity;
  return hca::Done{};
}

void FakeCompletionQueue::arm(bool solicited_only) {
  std::function<void()> hook;
  {
    std::lock_guard lock(mutex_);
    hook = std::exchange(arming_, {});
  }
  if (hook) hook();
  std::lock_guard lock(mutex_);
  armed_ = solicited_only ? Armed::kSolicited : Armed::kAll;
}

void FakeQueuePair::happen(hca::ConnectionEventType type, hca::QueuePairState state, hca::Bytes private_data) {
  state_.store(state);
  if (state == hca::QueuePairState::kError) flush();
  config_.sink->on_connection_event({type, std::move(private_data)});
}

void FakeQueuePair::establish(hca::Bytes private_data) {
  happen(hca::ConnectionEventType::kEstablished, hca::QueuePairState::kConnected, std::move(private_data));
}

void FakeQueuePair::complete(hca::CompletionQueue& queue, const Posted& posted, hca::CompletionOpcode opcode,
                             hca::CompletionStatus status, std::uint32_t length, bool solicited) {
  const bool is_unwanted = opcode == hca::CompletionOpcode::kRecv && !solicited &&
                           config_.recv_wakes == hca::RecvWakes::kIfSolicited &&
                           status == hca::CompletionStatus::kSuccess;
  const bool is_quiet = (posted.flags & hca::kQuiet) != 0 || is_unwanted;
  dynamic_cast<FakeCompletionQueue&>(queue).add({posted.wr_id, config_.context, length, status, opcode, solicited},
                                                is_quiet);
}

void FakeQueuePair::complete_send(hca::CompletionStatus status) {
  const Posted posted = sends.front();
  sends.pop_front();
  const bool is_success = status == hca::CompletionStatus::kSuccess;
  if (is_success && (posted.flags & hca::kSignaled) == 0) return;
  complete(*config_.send_cq, posted, completion_opcode(posted.opcode), status, is_success ? length_of(posted.local) : 0,
           false);
}

void FakeQueuePair::complete_recv(std::uint32_t length, bool solicited, hca::CompletionStatus status) {
  const Posted posted = recvs.front();
  recvs.pop_front();
  complete(*config_.recv_cq, posted, hca::CompletionOpcode::kRecv, status, length, solicited);
}

void FakeQueuePair::flush() {
  while (!sends.empty()) complete_send(hca::CompletionStatus::kFlushed);
  while (!recvs.empty()) complete_recv(0, false, hca::CompletionStatus::kFlushed);
}

hca::Outcome FakeQueuePair::post_send(const hca::SendRequest& request) {
  if (next_refusal) return hca::fail(*std::exchange(next_refusal, std::nullopt));
  const hca::QueuePairState now = state();
  if (now != hca::QueuePairState::kConnected && now != hca::QueuePairState::kError) {
    return hca::fail(hca::Error::kInvalidState);
  }
  if (request.local.size() > config_.limits.send_sge) return hca::fail(hca::Error::kInvalidArgument);
  if (sends.size() == config_.limits.send_wr) return hca::fail(hca::Error::kLimitReached);
  sends.push_back({request.wr_id,
                   request.opcode,
                   request.flags,
                   request.rkey,
                   request.remote_address,
                   {request.local.begin(), request.local.end()}});
  if (now == hca::QueuePairState::kError) flush();
  return hca::Done{};
}

// As a request whose local segment is the piece of memory; its context does not come back.
hca::Result<std::uint32_t> FakeQueuePair::post_bind(const hca::BindRequest& request) {
  const hca::Segment segment{request.address, static_cast<std::uint32_t>(request.length), request.lkey};
  const hca::Outcome outcome = post_send(
      {.wr_id = request.wr_id, .opcode = hca::SendOpcode::kBind, .flags = request.flags, .local = {&segment, 1}});
  if (!outcome) return hca::fail(outcome.reason());
  return request.length == 0 ? 0u : 0xb0b0u;
}

hca::Outcome FakeQueuePair::post_recv(const hca::RecvRequest& request) {
  if (next_refusal) return hca::fail(*std::exchange(next_refusal, std::nullopt));
  if (is_retired_) return hca::fail(hca::Error::kInvalidState);
  if (request.local.size() > config_.limits.recv_sge) return hca::fail(hca::Error::kInvalidArgument);
  if (recvs.size() == config_.limits.recv_wr) return hca::fail(hca::Error::kLimitReached);
  recvs.push_back({request.wr_id, {}, request.flags, 0, 0, {request.local.begin(), request.local.end()}});
  if (state() == hca::QueuePairState::kError) flush();
  return hca::Done{};
}

hca::Outcome FakeQueuePair::inherit_recvs(hca::QueuePair& from) {
  auto& other = dynamic_cast<FakeQueuePair&>(from);
  if (recvs.size() + other.recvs.size() > config_.limits.recv_wr) return hca::fail(hca::Error::kLimitReached);
  recvs.insert(recvs.end(), other.recvs.begin(), other.recvs.end());
  other.recvs.clear();
  other.end_receives();
  return hca::Done{};
}

hca::Outcome FakeQueuePair::retire() {
  if (is_retired_ || !recvs.empty() || state() != hca::QueuePairState::kIdle) {
    return hca::fail(hca::Error::kInvalidState);
  }
  end_receives();
  return hca::Done{};
}

void FakeQueuePair::end_receives() {
  is_retired_ = true;
  if (const auto hook = std::exchange(after_retiring, {})) hook();
}

hca::Outcome FakeQueuePair::connect(const hca::ConnectParameters& parameters) {
  if (state() != hca::QueuePairState::kIdle) return hca::fail(hca::Error::kInvalidState);
  connected_to = parameters;
  connect_data.assign(parameters.private_data.begin(), parameters.private_data.end());
  state_.store(hca::QueuePairState::kConnecting);
  return hca::Done{};
}

hca::Outcome FakeQueuePair::disconnect(bool graceful) {
  using enum hca::QueuePairState;
  const hca::QueuePairState now = state();
  if (now == kIdle) return hca::fail(hca::Error::kInvalidState);
  if (now == kError) return hca::Done{};
  was_graceful = graceful;
  if (graceful && (now == kConnected || now == kDisconnecting)) {
    state_.store(kDisconnecting);
    return hca::Done{};
  }
  happen(hca::ConnectionEventType::kDisconnected, kError);
  return hca::Done{};
}

hca::Outcome FakeQueuePair::reset() {
  if (next_refusal) return hca::fail(*std::exchange(next_refusal, std::nullopt));
  const hca::QueuePairState now = state();
  if (now != hca::QueuePairState::kIdle && now != hca::QueuePairState::kError) {
    return hca::fail(hca::Error::kInvalidState);
  }
  state_.store(hca::QueuePairState::kIdle);
  return hca::Done{};
}

hca::Outcome FakeSharedReceiveQueue::post_recv(const hca::RecvRequest& request) {
  if (next_refusal) return hca::fail(*std::exchange(next_refusal, std::nullopt));
  if (posted.size() == capacity_) return hca::fail(hca::Error::kLimitReached);
  posted.push_back(request.wr_id);
  return hca::Done{};
}

hca::Outcome FakeSharedReceiveQueue::resize(std::uint32_t capacity) {
  if (next_refusal) return hca::fail(*std::exchange(next_refusal, std::nullopt));
  if (posted.size() > capacity) return hca::fail(hca::Error::kInvalidState);
  capacity_ = capacity;
  return hca::Done{};
}

hca::SharedReceiveCounts FakeSharedReceiveQueue::counts() const {
  const auto count = static_cast<std::uint32_t>(posted.size());
  return {.available = count, .outstanding = count};
}

FakeDevice::FakeDevice()
    : limits{.name = "fake0",
             .vendor = "a test",
             .address = {0x7f000001, 0},
             .max_qp = 1000,
             .max_wr = 1000,
             .max_sge = 8,
             .max_cq = 1000,
             .max_cqe = 100000,
             .max_mr = 1000,
             .max_pd = 1000,
             .max_mr_size = std::uint64_t{1} << 40,
             .max_message_size = std::uint32_t{1} << 31,
             .max_ird = 16,
             .max_ord = 16,
             .max_private_data = 64,
             .max_srq = 100,
             .max_srq_wr = 1000,
             .max_srq_sge = 8,
             .max_mw = 1000,
             .max_read_sge = 8,
             .has_atomics = true,
             .has_immediate = true,
             .has_zero_based = true} {}

FakeDevice::~FakeDevice() = default;

std::shared_ptr<FakeAnswer> FakeDevice::arrive(std::uint64_t service_id, hca::Bytes private_data) {
  auto answer = std::make_shared<FakeAnswer>();
  return arrive(service_id, std::move(private_data), answer) ? answer : nullptr;
}

bool FakeDevice::arrive(std::uint64_t service_id, hca::Bytes private_data, const std::shared_ptr<FakeAnswer>& answer) {
  hca::ListenerSink* sink = nullptr;
  {
    std::lock_guard lock(mutex_);
    const auto listener = listeners_.find(service_id);
    if (listener == listeners_.end()) return false;
    sink = listener->second;
  }
  sink->on_request(std::make_unique<FakeRequest>(*this, service_id, std::move(private_data), answer));
  return true;
}

void FakeDevice::on_progress(std::function<void()> work) {
  std::lock_guard lock(mutex_);
  work_.push_back(std::move(work));
}

hca::Result<std::unique_ptr<hca::ProtectionDomain>> FakeDevice::create_pd() {
  return std::unique_ptr<hca::ProtectionDomain>(std::make_unique<Counted<hca::ProtectionDomain>>(live_objects));
}

hca::Result<std::unique_ptr<hca::MemoryRegion>> FakeDevice::register_memory(hca::ProtectionDomain&, std::uint64_t,
                                                                            std::uint64_t, hca::AccessMask) {
  static std::atomic<std::uint32_t> next_key{2};
  return std::unique_ptr<hca::MemoryRegion>(std::make_unique<Counted<FakeRegion>>(live_objects, next_key.fetch_add(2)));
}

hca::Result<std::unique_ptr<hca::MemoryWindow>> FakeDevice::create_window(hca::ProtectionDomain&, hca::WindowScope,
                                                                          std::uint64_t context) {
  return std::unique_ptr<hca::MemoryWindow>(std::make_unique<Counted<FakeWindow>>(live_objects, context));
}

// Key 0 is none, every other one covers everything.
hca::Outcome FakeDevice::check_memory(std::uint32_t lkey, std::uint64_t, std::uint64_t) const {
  if (lkey == 0) return hca::fail(hca::Error::kBadKey);
  return hca::Done{};
}

hca::Result<std::unique_ptr<hca::CompletionQueue>> FakeDevice::create_cq(std::size_t capacity,
                                                                         hca::CompletionSink& sink) {
  auto queue = std::make_unique<Counted<FakeCompletionQueue>>(live_objects, capacity, sink);
  queues.push_back(queue.get());
  return std::unique_ptr<hca::CompletionQueue>(std::move(queue));
}

hca::Result<std::unique_ptr<hca::QueuePair>> FakeDevice::create_qp(const hca::QueuePairConfig& config) {
  auto queue_pair = std::make_unique<Counted<FakeQueuePair>>(live_objects, config);
  queue_pairs.push_back(queue_pair.get());
  return std::unique_ptr<hca::QueuePair>(std::move(queue_pair));
}

hca::Result<std::unique_ptr<hca::SharedReceiveQueue>> FakeDevice::create_srq(
    const hca::SharedReceiveQueueConfig& config) {
  if (next_srq_refusal) return hca::fail(*std::exchange(next_srq_refusal, std::nullopt));
  auto queue = std::make_unique<Counted<FakeSharedReceiveQueue>>(live_objects, config);
  shared_queues.push_back(queue.get());
  return std::unique_ptr<hca::SharedReceiveQueue>(std::move(queue));
}

hca::Result<std::unique_ptr<hca::Listener>> FakeDevice::listen(std::uint64_t service_id, std::uint32_t,
                                                               hca::ListenerSink& sink) {
  std::lock_guard lock(mutex_);
  ++listen_calls;
  if (service_id >= first_taken || !listeners_.emplace(service_id, &sink).second)
    return hca::fail(hca::Error::kAddressInUse);
  return std::unique_ptr<hca::Listener>(std::make_unique<Counted<FakeListener>>(live_objects, *this, service_id));
}

bool FakeDevice::progress() {
  progress_calls.fetch_add(1);
  std::function<void()> work;
  {
    std::lock_guard lock(mutex_);
    if (work_.empty()) return false;
    work = std::move(work_.front());
    work_.pop_front();
  }
  work();
  return true;
}

base::WakeReason FakeDevice::sleep(base::EventCount& count, base::EventCount::Ticket ticket, base::Time deadline) {
  return count.wait_cancellably(ticket, deadline);
}

}  // namespace softdat::object
