// SPDX-License-Identifier: BSD-2-Clause
// Several threads that call on the same objects at once, over the loop carrier. Each pair of bytes of the input is a
// call, as in api_calls: the pairs go to the threads in turn. No model can tell which thread comes first; so each
// answer must be one of those that docs/ERRORS.md has for the function, whoever does what meanwhile. When the threads
// have ended, every object can be freed, and an adapter that closes gracefully has lost none.
//
// ThreadSanitizer is what this target is for (tests/fuzz/run --build tsan).
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <optional>
#include <thread>
#include <vector>

#include "tests/conformance/adapter.h"
#include "tests/conformance/answers.h"
#include "tests/conformance/events.h"
#include "tests/fuzz/fuzz.h"

namespace softdat::fuzz {
namespace {

using namespace softdat::conformance;

constexpr unsigned kThreads = 4;
// Each thread makes its calls so many times, because the threads meet differently each time, and because to begin and
// end together takes them longer than some calls do.
constexpr unsigned kRounds = 8;
constexpr std::size_t kSlots = 4;
constexpr std::size_t kBytes = 4096;
constexpr DAT_COUNT kQueue = 64;
constexpr int kStreams =
    DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG | DAT_EVD_RMR_BIND_FLAG | DAT_EVD_SOFTWARE_FLAG;
// One call of eight that may wait does, for so long at most.
constexpr DAT_TIMEOUT kWait_us = 50;

enum Kind { kPz, kCno, kEvd, kSrq, kEp, kLmr, kRmr, kPsp, kCr, kKinds };

// What the threads share: any of them may make, use and free what is in a slot.
struct World {
  std::optional<Adapter> adapter;
  DAT_IA_ADDRESS_PTR address = nullptr;
  DAT_CONN_QUAL qualifier = unused_qualifier();
  std::array<std::array<std::atomic<DAT_HANDLE>, kSlots>, kKinds> slots{};
  std::array<std::atomic<DAT_LMR_CONTEXT>, kSlots> lmr_contexts{};
  std::array<std::atomic<DAT_RMR_CONTEXT>, kSlots> rmr_contexts{};
  alignas(64) std::array<unsigned char, kBytes> memory{};
};

struct Made {
  Kind kind;
  DAT_HANDLE handle;
};

constexpr std::uint64_t mask_of(std::initializer_list<DAT_RETURN_TYPE> types) {
  std::uint64_t mask = 1;  // DAT_SUCCESS
  for (const DAT_RETURN_TYPE type : types) mask |= std::uint64_t{1} << (static_cast<unsigned>(type) >> 16);
  return mask;
}

// One thread's part.
class Actor {
 public:
  explicit Actor(World& world) : world_(world) {}

  void obey(Input input, unsigned turn) {
    for (unsigned round = 0; round < kRounds; ++round) {
      for (std::size_t i = 2 * std::size_t{turn}; i + 1 < input.size(); i += 2 * std::size_t{kThreads}) {
        objects_ = std::to_integer<unsigned>(input[i + 1]);
        call(std::to_integer<unsigned>(input[i]) % std::size(kCalls));
      }
    }
  }
  std::vector<Made>& made() { return made_; }
  std::uint64_t take_calls() { return std::exchange(calls_, 0); }

 private:
  struct Call {
    const char* name;
    DAT_RETURN (Actor::*run)();
    std::uint64_t allowed;
  };
  static const Call kCalls[45];

  void call(std::size_t number) {
    const Call& chosen = kCalls[number];
    ++calls_;
    const DAT_RETURN result = (this->*chosen.run)();
    if ((chosen.allowed >> (static_cast<unsigned>(type_of(result)) >> 16) & 1) != 0) return;
    std::fprintf(stderr, "broken promise: %s answered %s\n", chosen.name, describe(result).c_str());
    std::abort();
  }

  std::size_t number(unsigned shift) const { return (objects_ >> shift) % kSlots; }
  std::atomic<DAT_HANDLE>& slot(Kind kind, unsigned shift = 0) {
    return world_.slots[static_cast<std::size_t>(kind)][number(shift)];
  }
  DAT_HANDLE pick(Kind kind, unsigned shift = 0) { return slot(kind, shift).load(); }
  DAT_HANDLE ia() const { return world_.adapter->handle(); }
  bool flag() const { return (objects_ & 0x80) != 0; }
  DAT_TIMEOUT patience() const { return (objects_ & 0xe0) == 0xe0 ? kWait_us : 0; }
  // Another object that is there already goes on, without a slot.
  DAT_RETURN keep(Kind kind, DAT_RETURN result, DAT_HANDLE handle) {
    if (result != DAT_SUCCESS) return result;
    made_.push_back({kind, handle});
    slot(kind).store(handle);
    return result;
  }
  DAT_LMR_TRIPLET local() const {
    const std::size_t n = number(2);
    return make_local(world_.memory.data() + 64 * n, 64, world_.lmr_contexts[n].load());
  }
  DAT_RMR_TRIPLET remote() const {
    return make_remote(world_.memory.data() + 2048, 64, world_.rmr_contexts[number(4)].load());
  }

  DAT_RETURN create_pz() {
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    const DAT_RETURN result = dat_pz_create(ia(), &pz);
    return keep(kPz, result, pz);
  }
  DAT_RETURN query_pz() {
    DAT_PZ_PARAM param{};
    return dat_pz_query(pick(kPz), DAT_PZ_FIELD_ALL, &param);
  }
  DAT_RETURN free_pz() { return dat_pz_free(pick(kPz)); }

  DAT_RETURN create_cno() {
    DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
    const DAT_RETURN result = dat_cno_create(ia(), DAT_OS_WAIT_PROXY_AGENT{nullptr, nullptr}, &cno);
    return keep(kCno, result, cno);
  }
  DAT_RETURN wait_cno() {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    return dat_cno_wait(pick(kCno), patience(), &evd);
  }
  DAT_RETURN free_cno() { return dat_cno_free(pick(kCno)); }

  DAT_RETURN create_evd() {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    const DAT_HANDLE cno = flag() ? pick(kCno, 2) : DAT_HANDLE_NULL;
    const DAT_RETURN result = dat_evd_create(ia(), kQueue, cno, static_cast<DAT_EVD_FLAGS>(kStreams), &evd);
    return keep(kEvd, result, evd);
  }
  DAT_RETURN query_evd() {
    DAT_EVD_PARAM param{};
    return dat_evd_query(pick(kEvd), DAT_EVD_FIELD_ALL, &param);
  }
  DAT_RETURN resize_evd() { return dat_evd_resize(pick(kEvd), 1 + static_cast<DAT_COUNT>(objects_)); }
  DAT_RETURN modify_evd_cno() { return dat_evd_modify_cno(pick(kEvd), flag() ? pick(kCno, 2) : DAT_HANDLE_NULL); }
  DAT_RETURN enable_evd() { return flag() ? dat_evd_enable(pick(kEvd)) : dat_evd_disable(pick(kEvd)); }
  DAT_RETURN set_unwaitable() {
    return flag() ? dat_evd_set_unwaitable(pick(kEvd)) : dat_evd_clear_unwaitable(pick(kEvd));
  }
  DAT_RETURN post_software_event() {
    DAT_EVENT event{};
    event.event_number = DAT_SOFTWARE_EVENT;
    return dat_evd_post_se(pick(kEvd), &event);
  }
  void take(const DAT_EVENT& event) {
    if (event.event_number != DAT_CONNECTION_REQUEST_EVENT) return;
    keep(kCr, DAT_SUCCESS, event.event_data.cr_arrival_event_data.cr_handle);
  }
  DAT_RETURN dequeue() {
    DAT_EVENT event{};
    const DAT_RETURN result = dat_evd_dequeue(pick(kEvd), &event);
    if (result == DAT_SUCCESS) take(event);
    return result;
  }
  DAT_RETURN wait_evd() {
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    const DAT_RETURN result = dat_evd_wait(pick(kEvd), patience(), 1, &event, &more);
    if (result == DAT_SUCCESS) take(event);
    return result;
  }
  DAT_RETURN free_evd() { return dat_evd_free(pick(kEvd)); }

  DAT_RETURN create_srq() {
    DAT_SRQ_ATTR attributes{.max_recv_dtos = 16, .max_recv_iov = 1, .low_watermark = 0};
    DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
    const DAT_RETURN result = dat_srq_create(ia(), pick(kPz, 2), &attributes, &srq);
    return keep(kSrq, result, srq);
  }
  DAT_RETURN query_srq() {
    DAT_SRQ_PARAM param{};
    return dat_srq_query(pick(kSrq), DAT_SRQ_FIELD_ALL, &param);
  }
  DAT_RETURN resize_srq() { return dat_srq_resize(pick(kSrq), 1 + static_cast<DAT_COUNT>(objects_)); }
  DAT_RETURN post_to_srq() {
    DAT_LMR_TRIPLET segment = local();
    return dat_srq_post_recv(pick(kSrq), 1, &segment, make_cookie(objects_));
  }
  DAT_RETURN free_srq() { return dat_srq_free(pick(kSrq)); }

  DAT_RETURN create_ep() {
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    const DAT_HANDLE evd = pick(kEvd, 4);
    const DAT_RETURN result = dat_ep_create(ia(), pick(kPz, 2), evd, evd, evd, nullptr, &ep);
    return keep(kEp, result, ep);
  }
  DAT_RETURN query_ep() {
    DAT_EP_PARAM param{};
    return dat_ep_query(pick(kEp), DAT_EP_FIELD_ALL, &param);
  }
  DAT_RETURN get_status() {
    DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
    return dat_ep_get_status(pick(kEp), &state, nullptr, nullptr);
  }
  DAT_RETURN query_receives() { return dat_ep_recv_query(pick(kEp), nullptr, nullptr); }
  DAT_RETURN modify_ep() {
    DAT_EP_PARAM wish{};
    wish.recv_evd_handle = pick(kEvd, 4);
    wish.pz_handle = pick(kPz, 2);
    return dat_ep_modify(pick(kEp), flag() ? DAT_EP_FIELD_RECV_EVD_HANDLE : DAT_EP_FIELD_PZ_HANDLE, &wish);
  }
  DAT_RETURN connect() {
    return dat_ep_connect(pick(kEp), world_.address, world_.qualifier + number(2), 1'000'000, 0, nullptr,
                          DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
  }
  DAT_RETURN dup_connect() {
    return dat_ep_dup_connect(pick(kEp), pick(kEp, 2), 1'000'000, 0, nullptr, DAT_QOS_BEST_EFFORT);
  }
  DAT_RETURN disconnect() {
    return dat_ep_disconnect(pick(kEp), flag() ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG);
  }
  DAT_RETURN reset() { return dat_ep_reset(pick(kEp)); }
  DAT_RETURN post_send() {
    DAT_LMR_TRIPLET segment = local();
    return dat_ep_post_send(pick(kEp), 1, &segment, make_cookie(objects_), DAT_COMPLETION_DEFAULT_FLAG);
  }
  DAT_RETURN post_recv() {
    DAT_LMR_TRIPLET segment = local();
    return dat_ep_post_recv(pick(kEp), 1, &segment, make_cookie(objects_), DAT_COMPLETION_DEFAULT_FLAG);
  }
  DAT_RETURN post_write() {
    DAT_LMR_TRIPLET segment = local();
    const DAT_RMR_TRIPLET target = remote();
    return dat_ep_post_rdma_write(pick(kEp), 1, &segment, make_cookie(objects_), &target, DAT_COMPLETION_DEFAULT_FLAG);
  }
  DAT_RETURN post_read() {
    DAT_LMR_TRIPLET segment = local();
    const DAT_RMR_TRIPLET source = remote();
    return dat_ep_post_rdma_read(pick(kEp), 1, &segment, make_cookie(objects_), &source, DAT_COMPLETION_DEFAULT_FLAG);
  }
  DAT_RETURN free_ep() { return dat_ep_free(pick(kEp)); }

  DAT_RETURN create_lmr() {
    DAT_REGION_DESCRIPTION region{};
    region.for_va = world_.memory.data();
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_LMR_CONTEXT own = 0;
    DAT_RMR_CONTEXT others = 0;
    const DAT_RETURN result =
        conformance::create_lmr(ia(), DAT_MEM_TYPE_VIRTUAL, region, world_.memory.size(), pick(kPz, 2),
                                DAT_MEM_PRIV_ALL_FLAG, &lmr, &own, &others, nullptr, nullptr);
    if (result == DAT_SUCCESS) {
      world_.lmr_contexts[number(0)].store(own);
      world_.rmr_contexts[number(0)].store(others);
    }
    return keep(kLmr, result, lmr);
  }
  DAT_RETURN query_lmr() {
    DAT_LMR_PARAM param{};
    return dat_lmr_query(pick(kLmr), DAT_LMR_FIELD_ALL, &param);
  }
  DAT_RETURN free_lmr() { return dat_lmr_free(pick(kLmr)); }
  DAT_RETURN create_rmr() {
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    const DAT_RETURN result = dat_rmr_create(pick(kPz, 2), &rmr);
    return keep(kRmr, result, rmr);
  }
  DAT_RETURN bind() {
    const DAT_LMR_TRIPLET triplet = local();
    DAT_RMR_CONTEXT context = 0;
    const DAT_RETURN result = bind_rmr(pick(kRmr), pick(kLmr, 2), &triplet, DAT_MEM_PRIV_ALL_FLAG, pick(kEp, 4),
                                       DAT_RMR_COOKIE{.as_64 = 1}, DAT_COMPLETION_DEFAULT_FLAG, &context);
    if (result == DAT_SUCCESS) world_.rmr_contexts[number(0)].store(context);
    return result;
  }
  DAT_RETURN free_rmr() { return dat_rmr_free(pick(kRmr)); }

  DAT_RETURN create_psp() {
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    const DAT_RETURN result =
        dat_psp_create(ia(), world_.qualifier + number(0), pick(kEvd, 4), DAT_PSP_CONSUMER_FLAG, &psp);
    return keep(kPsp, result, psp);
  }
  DAT_RETURN query_psp() {
    DAT_PSP_PARAM param{};
    return dat_psp_query(pick(kPsp), DAT_PSP_FIELD_ALL, &param);
  }
  DAT_RETURN free_psp() { return dat_psp_free(pick(kPsp)); }
  DAT_RETURN query_cr() {
    DAT_CR_PARAM param{};
    return dat_cr_query(pick(kCr), DAT_CR_FIELD_ALL, &param);
  }
  DAT_RETURN accept() { return dat_cr_accept(pick(kCr), pick(kEp, 2), 0, nullptr); }
  DAT_RETURN reject() { return reject_cr(pick(kCr)); }

  World& world_;
  unsigned objects_ = 0;
  std::uint64_t calls_ = 0;
  std::vector<Made> made_;
};

// What docs/ERRORS.md has. Memory and handles do run out when others hold on to what they made.
constexpr std::uint64_t kHandle = mask_of({DAT_INVALID_HANDLE});
constexpr std::uint64_t kState = mask_of({DAT_INVALID_HANDLE, DAT_INVALID_STATE});
constexpr std::uint64_t kCreate = mask_of({DAT_INVALID_HANDLE, DAT_INSUFFICIENT_RESOURCES});
constexpr std::uint64_t kResize = kState | kCreate;
constexpr std::uint64_t kPost = kResize | mask_of({DAT_PRIVILEGES_VIOLATION, DAT_PROTECTION_VIOLATION});
constexpr std::uint64_t kWait = kState | mask_of({DAT_TIMEOUT_EXPIRED, DAT_INTERRUPTED_CALL, DAT_ABORT});

const Actor::Call Actor::kCalls[45] = {
    {"dat_pz_create", &Actor::create_pz, kCreate},
    {"dat_pz_query", &Actor::query_pz, kHandle},
    {"dat_pz_free", &Actor::free_pz, kState},
    {"dat_cno_create", &Actor::create_cno, kCreate},
    {"dat_cno_wait", &Actor::wait_cno, mask_of({DAT_INVALID_HANDLE, DAT_QUEUE_EMPTY, DAT_INTERRUPTED_CALL})},
    {"dat_cno_free", &Actor::free_cno, kState},
    {"dat_evd_create", &Actor::create_evd, kCreate},
    {"dat_evd_query", &Actor::query_evd, kHandle},
    {"dat_evd_resize", &Actor::resize_evd, kResize},
    {"dat_evd_modify_cno", &Actor::modify_evd_cno, kHandle},
    {"dat_evd_enable", &Actor::enable_evd, kHandle},
    {"dat_evd_set_unwaitable", &Actor::set_unwaitable, kHandle},
    {"dat_evd_post_se", &Actor::post_software_event, kHandle | mask_of({DAT_QUEUE_FULL})},
    {"dat_evd_dequeue", &Actor::dequeue, kState | mask_of({DAT_QUEUE_EMPTY})},
    {"dat_evd_wait", &Actor::wait_evd, kWait},
    {"dat_evd_free", &Actor::free_evd, kState},
    {"dat_srq_create", &Actor::create_srq, kCreate},
    {"dat_srq_query", &Actor::query_srq, kHandle},
    {"dat_srq_resize", &Actor::resize_srq, kResize},
    {"dat_srq_post_recv", &Actor::post_to_srq, kPost},
    {"dat_srq_free", &Actor::free_srq, kState},
    {"dat_ep_create", &Actor::create_ep, kCreate},
    {"dat_ep_query", &Actor::query_ep, kHandle},
    {"dat_ep_get_status", &Actor::get_status, kHandle},
    {"dat_ep_recv_query", &Actor::query_receives, kHandle},
    {"dat_ep_modify", &Actor::modify_ep, kResize | mask_of({DAT_INVALID_PARAMETER})},
    {"dat_ep_connect", &Actor::connect, kResize},
    {"dat_ep_dup_connect", &Actor::dup_connect, kResize},
    {"dat_ep_disconnect", &Actor::disconnect, kResize},
    {"dat_ep_reset", &Actor::reset, kState},
    {"dat_ep_post_send", &Actor::post_send, kPost},
    {"dat_ep_post_recv", &Actor::post_recv, kPost},
    {"dat_ep_post_rdma_write", &Actor::post_write, kPost},
    {"dat_ep_post_rdma_read", &Actor::post_read, kPost},
    {"dat_ep_free", &Actor::free_ep, kState},
    {"dat_lmr_create", &Actor::create_lmr, kCreate},
    {"dat_lmr_query", &Actor::query_lmr, kHandle},
    {"dat_lmr_free", &Actor::free_lmr, kState},
    {"dat_rmr_create", &Actor::create_rmr, kCreate},
    {"dat_rmr_bind", &Actor::bind, kPost | mask_of({DAT_INVALID_PARAMETER})},
    {"dat_rmr_free", &Actor::free_rmr, kHandle},
    {"dat_psp_create", &Actor::create_psp, kCreate | mask_of({DAT_CONN_QUAL_IN_USE})},
    {"dat_psp_free", &Actor::free_psp, kHandle},
    {"dat_cr_accept", &Actor::accept, kResize},
    {"dat_cr_reject", &Actor::reject, kCreate},
};

// Frees what the input has left, in the order of use. What is not there any more is an invalid handle.
class Undertaker {
 public:
  explicit Undertaker(World& world) : world_(world) {}
  void free_all(std::vector<Made> made) {
    for (const Kind kind : {kEp, kCr, kPsp, kRmr, kLmr, kSrq, kEvd, kCno, kPz}) {
      for (const Made& one : made) {
        if (one.kind == kind) free_one(one);
      }
    }
    drain_async();
  }
  std::uint64_t take_calls() { return std::exchange(calls_, 0); }

 private:
  void free_one(const Made& made) {
    ++calls_;
    const DAT_RETURN result = free(made);
    if (result == DAT_SUCCESS || type_of(result) == DAT_INVALID_HANDLE) return;
    std::fprintf(stderr, "broken promise: object of kind %d cannot be freed: %s\n", made.kind,
                 describe(result).c_str());
    std::abort();
  }
  static DAT_RETURN free(const Made& made) {
    switch (made.kind) {
      case kPz:
        return dat_pz_free(made.handle);
      case kCno:
        return dat_cno_free(made.handle);
      case kEvd:
        return dat_evd_free(made.handle);
      case kSrq:
        return dat_srq_free(made.handle);
      case kEp:
        return dat_ep_free(made.handle);
      case kLmr:
        return dat_lmr_free(made.handle);
      case kRmr:
        return dat_rmr_free(made.handle);
      case kPsp:
        return dat_psp_free(made.handle);
      default:
        return reject_cr(made.handle);
    }
  }
  void drain_async() {
    DAT_EVENT event{};
    do {
      ++calls_;
    } while (dat_evd_dequeue(world_.adapter->async_evd(), &event) == DAT_SUCCESS);
  }

  World& world_;
  std::uint64_t calls_ = 0;
};

// The threads live as long as the process; each input is one round of theirs.
class Stage {
 public:
  Stage() {
    for (unsigned i = 1; i < kThreads; ++i) threads_.emplace_back([this, i] { run(i); });
  }
  ~Stage() {
    is_over_ = true;
    begin_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }

  void play(Input input) {
    prepare();
    input_ = input;
    begin_.arrive_and_wait();
    actors_[0].obey(input, 0);
    end_.arrive_and_wait();
    clear_up(input);
  }

 private:
  void run(unsigned number) {
    for (;;) {
      begin_.arrive_and_wait();
      if (is_over_) return;
      actors_[number].obey(input_, number);
      end_.arrive_and_wait();
    }
  }
  void prepare() {
    if (!world_.adapter) {
      world_.adapter.emplace();
      world_.address = world_.adapter->address();
    }
    world_.qualifier += kSlots;
    for (auto& slots : world_.slots) {
      for (auto& slot : slots) slot.store(DAT_HANDLE_NULL);
    }
  }
  // An odd last byte below 8 closes the adapter over what is there; one below 16 gracefully, when nothing is left.
  void clear_up(Input input) {
    const unsigned last = input.size() % 2 == 1 ? std::to_integer<unsigned>(input.back()) : ~0u;
    std::vector<Made> made;
    std::uint64_t calls = 0;
    for (Actor& actor : actors_) {
      made.insert(made.end(), actor.made().begin(), actor.made().end());
      actor.made().clear();
      calls += actor.take_calls();
    }
    if (last >= 8) undertaker_.free_all(std::move(made));
    if (last < 16) close(last < 8 ? DAT_CLOSE_ABRUPT_FLAG : DAT_CLOSE_GRACEFUL_FLAG);
    count_units("calls", calls + undertaker_.take_calls());
  }
  void close(DAT_CLOSE_FLAGS flags) {
    const DAT_RETURN result = dat_ia_close(world_.adapter->handle(), flags);
    if (result != DAT_SUCCESS) std::fprintf(stderr, "dat_ia_close: %s\n", describe(result).c_str());
    expect(result == DAT_SUCCESS, "an adapter closes abruptly, and gracefully when all is freed");
    world_.adapter->release();
    world_.adapter.reset();
  }

  World world_;
  std::array<Actor, kThreads> actors_{Actor(world_), Actor(world_), Actor(world_), Actor(world_)};
  Undertaker undertaker_{world_};
  // Written by the first thread before it arrives at begin_.
  Input input_;
  bool is_over_ = false;
  std::barrier<> begin_{kThreads};
  std::barrier<> end_{kThreads};
  std::vector<std::thread> threads_;
};

std::optional<Stage> stage;

}  // namespace

void prepare() {
  ::setenv("SOFTDAT_TRANSPORT", "loop", 1);
  ::setenv("SOFTDAT_LOG", "error", 1);
}

void run_input(Input input) {
  if (!stage) stage.emplace();
  stage->play(input);
}

void finish() {
  stage.reset();
}

}  // namespace softdat::fuzz
