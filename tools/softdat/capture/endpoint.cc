// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/capture/endpoint.h"

#include <dat2/dat_ib_extensions.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "tools/softdat/event_names.h"

namespace softdat::tools::capture {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostSlots = 64;
// A program may send more than was recorded; that is a difference and not a failure of the endpoint.
constexpr std::size_t kSlack = 4096;
constexpr DAT_TIMEOUT kSlice = 50'000;  // us
constexpr DAT_DTO_COOKIE kNoCookie{};

bool is_disconnect(const DAT_EVENT& event) {
  return event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED || event.event_number == DAT_CONNECTION_EVENT_BROKEN;
}

Bytes data_of(const void* data, DAT_COUNT size) {
  const auto* const from = static_cast<const std::byte*>(data);
  return size <= 0 || from == nullptr ? Bytes{} : Bytes(from, from + size);
}

}  // namespace

// Puts the region where the recorded run had it, because the program computes with the addresses it was told.
// MAP_FIXED_NOREPLACE moves nothing of ours away.
RegionAt::RegionAt(const perf::Adapter& adapter, const RecordedRegion& region) : begin_(region.begin) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t first = begin_ / page * page;
  mapped_ = (region.end - first + page - 1) / page * page;
  void* const wanted = reinterpret_cast<void*>(first);
  // A recorded address below the least mappable one is an offset into a zero-based region (DAT_VA_TYPE_ZB).
  const bool counts_from_zero = first == 0;
  const int fixed = counts_from_zero ? 0 : MAP_FIXED_NOREPLACE;
  map_ = ::mmap(counts_from_zero ? nullptr : wanted, mapped_, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  if (map_ == MAP_FAILED || (!counts_from_zero && map_ != wanted)) {
    const int error = map_ == MAP_FAILED ? errno : EEXIST;
    if (map_ != MAP_FAILED) ::munmap(map_, mapped_);
    throw Failure(
        fmt::format("softdat cannot have the memory at 0x{:x} to 0x{:x}, where the recorded run had it: {}; try "
                    "again, as addresses differ from run to run",
                    first, first + mapped_, std::strerror(error)));
  }
  data_ = static_cast<std::byte*>(map_) + (begin_ - first);
  DAT_REGION_DESCRIPTION description{};
  description.for_va = data_;
  int rights = DAT_MEM_PRIV_ALL_FLAG;
  if (adapter.has_atomics()) rights |= int{DAT_IB_MEM_PRIV_REMOTE_ATOMIC};
  DAT_LMR_CONTEXT context = 0;
  const DAT_RETURN made =
      dat_lmr_create(adapter.ia(), DAT_MEM_TYPE_VIRTUAL, description, region.end - region.begin, adapter.pz(),
                     static_cast<DAT_MEM_PRIV_FLAGS>(rights), counts_from_zero ? DAT_VA_TYPE_ZB : DAT_VA_TYPE_VA, &lmr_,
                     &context, &rmr_context_, nullptr, nullptr);
  if (made == DAT_SUCCESS) return;
  ::munmap(map_, mapped_);
  require(made, "dat_lmr_create");
}

RegionAt::~RegionAt() {
  dat_lmr_free(lmr_);
  ::munmap(map_, mapped_);
}

std::span<std::byte> RegionAt::bytes(std::uint64_t address, std::size_t length) const {
  return {data_ + (address - begin_), length};
}

Endpoint::Endpoint(const perf::Adapter& adapter, std::size_t receives, std::size_t longest, double patience_s,
                   std::function<void()> watch)
    : adapter_(adapter),
      patience_s_(patience_s),
      watch_(std::move(watch)),
      slot_size_(longest + kSlack),
      slots_(std::clamp<std::size_t>(receives + 1, 1, kMostSlots)),
      requests_(adapter, 64, DAT_EVD_DTO_FLAG),
      arrivals_(adapter, 2 * kMostSlots, DAT_EVD_DTO_FLAG),
      connections_(adapter, 16, DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG),
      received_(adapter, slot_size_ * slots_) {
  make_endpoint();
}

void Endpoint::make_endpoint() {
  require(dat_ep_create(adapter_.ia(), adapter_.pz(), arrivals_.handle(), requests_.handle(), connections_.handle(),
                        nullptr, &ep_),
          "dat_ep_create");
  for (std::size_t slot = 0; slot < slots_; ++slot) post_receive(slot);
}

void Endpoint::post_receive(std::size_t slot) {
  DAT_LMR_TRIPLET segment = received_.local(slot * slot_size_, slot_size_);
  require(dat_ep_post_recv(ep_, 1, &segment, kNoCookie, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_recv");
}

// Waits in slices, because the program may end meanwhile: watch_() notices, and throws.
Endpoint::Waited Endpoint::wait(perf::EventQueue& queue, double seconds) {
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  Waited waited;
  do {
    DAT_COUNT more = 0;
    const DAT_RETURN result = dat_evd_wait(queue.handle(), kSlice, 1, &waited.event, &more);
    if (result == DAT_SUCCESS) {
      waited.is_there = true;
      return waited;
    }
    const auto type = DAT_GET_TYPE(result);
    if (type != DAT_TIMEOUT_EXPIRED && type != DAT_INTERRUPTED_CALL) require(result, "dat_evd_wait");
    watch_();
  } while (Clock::now() < end);
  return waited;
}

DAT_EVENT Endpoint::await(perf::EventQueue& queue, const std::string& what) {
  const Waited waited = wait(queue, patience_s_);
  if (waited.is_there) return waited.event;
  throw Difference(fmt::format("{} does not come within {} s (--patience)", what, patience_s_));
}

void Endpoint::listen(std::uint64_t service) {
  const DAT_RETURN made = dat_psp_create(adapter_.ia(), service, connections_.handle(), DAT_PSP_CONSUMER_FLAG, &psp_);
  if (made == DAT_SUCCESS) return;
  throw Failure(
      fmt::format("cannot listen at service {}: {}; give another one with --service, if the program has it as an "
                  "argument",
                  service, describe(made)));
}

Bytes Endpoint::await_request() {
  const DAT_EVENT event = await(connections_, "the program's connection request");
  request_ = event.event_data.cr_arrival_event_data.cr_handle;
  DAT_CR_PARAM parameters;
  require(dat_cr_query(request_, DAT_CR_FIELD_ALL, &parameters), "dat_cr_query");
  return data_of(parameters.private_data, parameters.private_data_size);
}

void Endpoint::answer(const Bytes& private_data, bool is_rejected) {
  const auto size = static_cast<DAT_COUNT>(private_data.size());
  auto* const data = const_cast<std::byte*>(private_data.data());
  if (is_rejected) return require(dat_cr_reject(request_, size, data), "dat_cr_reject");
  require(dat_cr_accept(request_, ep_, size, data), "dat_cr_accept");
  const DAT_EVENT event = await(connections_, "the connection");
  if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) return;
  throw Difference(fmt::format("instead of the connection came {}", event_text(event.event_number)));
}

// The program may not listen yet, so a refusal is tried again until the patience ends.
std::optional<Bytes> Endpoint::connect(const std::string& address, std::uint64_t service, const Bytes& private_data) {
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(address.c_str(), nullptr, nullptr, &found); error != 0) {
    throw Failure(fmt::format("the address \"{}\": {}", address, ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, ::freeaddrinfo);
  const auto end = Clock::now() + std::chrono::duration<double>(patience_s_);
  for (;;) {
    require(dat_ep_connect(ep_, reinterpret_cast<DAT_IA_ADDRESS_PTR>(found->ai_addr), service, 5'000'000,
                           static_cast<DAT_COUNT>(private_data.size()), const_cast<std::byte*>(private_data.data()),
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            "dat_ep_connect");
    const DAT_EVENT event = await(connections_, "an answer of the program's to the connection request");
    if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) {
      const auto& data = event.event_data.connect_event_data;
      return data_of(data.private_data, data.private_data_size);
    }
    if (event.event_number == DAT_CONNECTION_EVENT_PEER_REJECTED) return std::nullopt;
    if (Clock::now() >= end) {
      throw Difference(fmt::format("the program does not listen at service {} of {} within {} s (--patience): {}",
                                   service, address, patience_s_, event_text(event.event_number)));
    }
    watch_();
    // The receives were flushed with the attempt.
    require(dat_ep_free(ep_), "dat_ep_free");
    while (wait(arrivals_, 0).is_there) {
    }
    make_endpoint();
  }
}

// One buffer for all requests: each is awaited before the next is posted.
DAT_LMR_TRIPLET Endpoint::staged(std::size_t length) {
  if (!staged_ || staged_->size() < length) {
    staged_.reset();
    staged_ = std::make_unique<perf::Region>(adapter_, std::max<std::size_t>(length, 4096));
  }
  return staged_->local(0, length);
}

void Endpoint::await_done(const std::string& what) {
  const DAT_EVENT event = await(requests_, fmt::format("the completion of {}", what));
  const DAT_DTO_COMPLETION_STATUS status = event.event_data.dto_completion_event_data.status;
  if (status != DAT_DTO_SUCCESS) throw Difference(fmt::format("{} fails: {}", what, completion_status_text(status)));
}

void Endpoint::send(const Bytes& bytes, const std::string& what) {
  DAT_LMR_TRIPLET segment = staged(bytes.size());
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(staged_->data()));
  require(dat_ep_post_send(ep_, 1, &segment, kNoCookie, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_send");
  await_done(what);
}

void Endpoint::write(const Bytes& bytes, std::uint32_t key, std::uint64_t address, const std::string& what) {
  DAT_LMR_TRIPLET segment = staged(bytes.size());
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(staged_->data()));
  DAT_RMR_TRIPLET target{};
  target.rmr_context = key;
  target.virtual_address = address;
  target.segment_length = static_cast<DAT_SEG_LENGTH>(bytes.size());
  require(dat_ep_post_rdma_write(ep_, 1, &segment, kNoCookie, &target, DAT_COMPLETION_DEFAULT_FLAG),
          "dat_ep_post_rdma_write");
  await_done(what);
}

Bytes Endpoint::read(std::size_t length, std::uint32_t key, std::uint64_t address, const std::string& what) {
  DAT_LMR_TRIPLET segment = staged(length);
  DAT_RMR_TRIPLET source{};
  source.rmr_context = key;
  source.virtual_address = address;
  source.segment_length = static_cast<DAT_SEG_LENGTH>(length);
  require(dat_ep_post_rdma_read(ep_, 1, &segment, kNoCookie, &source, DAT_COMPLETION_DEFAULT_FLAG),
          "dat_ep_post_rdma_read");
  await_done(what);
  return data_of(staged_->data(), static_cast<DAT_COUNT>(length));
}

Bytes Endpoint::change(const Message& message, std::uint32_t key, std::uint64_t address, const std::string& what) {
  DAT_LMR_TRIPLET segment = staged(sizeof(std::uint64_t));
  DAT_RMR_TRIPLET target{};
  target.rmr_context = key;
  target.virtual_address = address;
  target.segment_length = sizeof(std::uint64_t);
  if (message.is_swap) {
    require(dat_ib_post_cmp_and_swap(ep_, message.compare, message.operand, &segment, kNoCookie, &target,
                                     DAT_COMPLETION_DEFAULT_FLAG),
            "dat_ib_post_cmp_and_swap");
  } else {
    require(dat_ib_post_fetch_and_add(ep_, message.operand, &segment, kNoCookie, &target, DAT_COMPLETION_DEFAULT_FLAG),
            "dat_ib_post_fetch_and_add");
  }
  await_done(what);
  return data_of(staged_->data(), sizeof(std::uint64_t));
}

Bytes Endpoint::receive(const std::string& what) {
  const DAT_EVENT event = await(arrivals_, what);
  const auto& done = event.event_data.dto_completion_event_data;
  if (done.status == DAT_DTO_ERR_LOCAL_LENGTH) {
    throw Difference(fmt::format("{} has more than {} bytes", what, slot_size_));
  }
  if (done.status != DAT_DTO_SUCCESS) {
    throw Difference(
        fmt::format("{} does not come, because the connection ends: {}", what, completion_status_text(done.status)));
  }
  const std::size_t slot = std::exchange(next_, (next_ + 1) % slots_);
  Bytes bytes = data_of(received_.data() + slot * slot_size_, static_cast<DAT_COUNT>(done.transfered_length));
  post_receive(slot);
  return bytes;
}

// Receives that were flushed by the end of the connection do not count.
bool Endpoint::has_more() {
  for (;;) {
    DAT_EVENT event;
    if (!arrivals_.try_take(event)) return false;
    if (event.event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS) return true;
  }
}

bool Endpoint::await_disconnect() {
  const DAT_EVENT event = await(connections_, "the end of the connection");
  return event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED;
}

// Refused when the program has disconnected first, which is right as well.
void Endpoint::disconnect() {
  if (dat_ep_disconnect(ep_, DAT_CLOSE_GRACEFUL_FLAG) != DAT_SUCCESS) return;
  for (;;) {
    const Waited waited = wait(connections_, patience_s_);
    if (!waited.is_there || is_disconnect(waited.event)) return;
  }
}

}  // namespace softdat::tools::capture
