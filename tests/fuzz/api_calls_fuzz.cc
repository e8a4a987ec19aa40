// SPDX-License-Identifier: BSD-2-Clause
// Sequences of API calls on one adapter over the loop carrier. Each pair of bytes of the input is a call: the first
// chooses the function, the second its objects. A model knows which objects live and who uses them, and so which
// answers (docs/ERRORS.md) are allowed.
//
// The adapter stays open from one input to the next, but nothing else does: at the end of an input every object is
// freed, and each must let itself be freed. An odd last byte below 8 closes the adapter over its live objects instead.
#include <unistd.h>

#include <array>
#include <optional>
#include <vector>

#include "tests/conformance/adapter.h"
#include "tests/conformance/answers.h"
#include "tests/conformance/events.h"
#include "tests/fuzz/fuzz.h"

namespace softdat::fuzz {
namespace {

using namespace softdat::conformance;

constexpr std::size_t kSlots = 4;
constexpr std::size_t kBytes = 4096;
constexpr DAT_COUNT kQueue = 64;
constexpr int kAllStreams = DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG | DAT_EVD_RMR_BIND_FLAG;

// An object that may or may not live, and how many others refer to it.
struct Slot {
  DAT_HANDLE handle = DAT_HANDLE_NULL;
  bool lives = false;
  int uses = 0;
  std::array<Slot*, 4> parents{};
};
using Slots = std::array<Slot, kSlots>;

class World {
 public:
  void obey(Input input) {
    begin();
    for (std::size_t i = 0; i + 1 < input.size(); i += 2) {
      objects_ = std::to_integer<unsigned>(input[i + 1]);
      call(std::to_integer<unsigned>(input[i]));
    }
    const bool is_abrupt = input.size() % 2 == 1 && std::to_integer<unsigned>(input.back()) < 8;
    is_abrupt ? close_abruptly() : free_all();
    count_units("calls", std::exchange(calls_, 0));
  }
  void close() { adapter_.reset(); }

 private:
  Slot& pick(Slots& slots, unsigned shift = 0) { return slots[(objects_ >> shift) % kSlots]; }
  template <typename Function, typename... Arguments>
  DAT_RETURN counted(Function function, Arguments... arguments) {
    ++calls_;
    return function(arguments...);
  }
  bool flag() const { return (objects_ & 0x80) != 0; }

  void call(unsigned function) {
    switch (function % 20) {
      case 0:
        return create_pz();
      case 1:
        return create_evd();
      case 2:
        return create_ep();
      case 3:
        return create_lmr();
      case 4:
        return create_psp();
      case 5:
        return destroy(pick(pzs_), dat_pz_free);
      case 6:
        return destroy(pick(evds_), dat_evd_free);
      case 7:
        return free_ep(pick(eps_));
      case 8:
        return destroy(pick(lmrs_), dat_lmr_free);
      case 9:
        return destroy(pick(psps_), dat_psp_free);
      case 10:
        return connect();
      case 11:
        return disconnect();
      case 12:
        return reset();
      case 13:
        return post(true);
      case 14:
        return post(false);
      case 15:
        return dequeue();
      case 16:
        return wait();
      case 17:
        return answer_request();
      case 18:
        return modify();
      default:
        return write();
    }
  }

  // Handles are judged before all else: a dead one is named, live ones are not.
  bool judge(DAT_RETURN result, std::initializer_list<const Slot*> arguments) {
    bool all_live = true;
    for (const Slot* slot : arguments) all_live = all_live && slot->lives;
    expect((type_of(result) == DAT_INVALID_HANDLE) == !all_live, "exactly dead handles are invalid");
    return all_live;
  }
  void adopt(Slot& slot, DAT_HANDLE handle, std::initializer_list<Slot*> parents) {
    forget(handle);
    slot = {.handle = handle, .lives = true, .uses = 0, .parents = {}};
    std::copy(parents.begin(), parents.end(), slot.parents.begin());
    for (Slot* parent : parents) ++parent->uses;
  }
  // Cells of handles are used again, after long: a dead object of the same handle is nobody from now on.
  void forget(DAT_HANDLE handle) {
    for (Slots* slots : {&pzs_, &evds_, &eps_, &lmrs_, &psps_}) {
      for (Slot& slot : *slots) {
        if (!slot.lives && slot.handle == handle) slot.handle = DAT_HANDLE_NULL;
      }
    }
  }
  void abandon(Slot& slot) {
    slot.lives = false;
    for (Slot* parent : slot.parents) {
      if (parent != nullptr) --parent->uses;
    }
    slot.parents = {};
  }
  template <typename Handle>
  void destroy(Slot& slot, DAT_RETURN (*free)(Handle)) {
    const DAT_RETURN result = counted(free, static_cast<Handle>(slot.handle));
    if (!judge(result, {&slot})) return;
    expect((result == DAT_SUCCESS) == (slot.uses == 0), "what nobody uses can be freed, and nothing else");
    expect(result == DAT_SUCCESS || type_of(result) == DAT_INVALID_STATE, "what is used is in the wrong state");
    if (result == DAT_SUCCESS) abandon(slot);
  }

  void create_pz() {
    Slot& slot = pick(pzs_);
    DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
    if (slot.lives) return;
    expect(counted(dat_pz_create, adapter_->handle(), &pz) == DAT_SUCCESS, "a zone can be had");
    adopt(slot, pz, {});
  }
  void create_evd() {
    Slot& slot = pick(evds_);
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    if (slot.lives) return;
    const DAT_RETURN result = counted(dat_evd_create, adapter_->handle(), kQueue, DAT_HANDLE_NULL,
                                      static_cast<DAT_EVD_FLAGS>(kAllStreams), &evd);
    expect(result == DAT_SUCCESS, "a dispatcher can be had");
    adopt(slot, evd, {});
  }
  void create_ep() {
    Slot& slot = pick(eps_);
    Slot& pz = pick(pzs_, 2);
    Slot& evd = pick(evds_, 4);
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    if (slot.lives || evd.handle == DAT_HANDLE_NULL) return;
    const DAT_RETURN result =
        counted(dat_ep_create, adapter_->handle(), pz.handle, evd.handle, evd.handle, evd.handle, nullptr, &ep);
    // A null zone is allowed.
    if (pz.handle == DAT_HANDLE_NULL && result == DAT_SUCCESS) {
      expect(counted(dat_ep_free, ep) == DAT_SUCCESS, "a fresh endpoint can be freed");
      return;
    }
    if (judge(result, {&pz, &evd})) adopt(slot, ep, {&pz, &evd, &evd, &evd});
  }
  void create_lmr() {
    Slot& slot = pick(lmrs_);
    Slot& pz = pick(pzs_, 2);
    if (slot.lives) return;
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_REGION_DESCRIPTION region{};
    region.for_va = memory_.data();
    const std::size_t number = (objects_) % kSlots;
    const DAT_RETURN result = create_lmr_of(region, pz.handle, lmr, lmr_contexts_[number], rmr_contexts_[number]);
    if (judge(result, {&pz})) adopt(slot, lmr, {&pz});
  }
  DAT_RETURN create_lmr_of(const DAT_REGION_DESCRIPTION& region, DAT_PZ_HANDLE pz, DAT_LMR_HANDLE& lmr,
                           DAT_LMR_CONTEXT& local, DAT_RMR_CONTEXT& remote) {
    ++calls_;
    return conformance::create_lmr(adapter_->handle(), DAT_MEM_TYPE_VIRTUAL, region, memory_.size(), pz,
                                   DAT_MEM_PRIV_ALL_FLAG, &lmr, &local, &remote, nullptr, nullptr);
  }
  void create_psp() {
    Slot& slot = pick(psps_);
    Slot& evd = pick(evds_, 4);
    if (slot.lives) return;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    const DAT_RETURN result =
        counted(dat_psp_create, adapter_->handle(), qualifier_of(slot), evd.handle, DAT_PSP_CONSUMER_FLAG, &psp);
    if (judge(result, {&evd}) && result == DAT_SUCCESS) adopt(slot, psp, {&evd});
  }
  DAT_CONN_QUAL qualifier_of(const Slot& psp) const {
    return qualifier_ + static_cast<DAT_CONN_QUAL>(&psp - psps_.data());
  }

  DAT_EP_STATE state_of(const Slot& ep) {
    DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
    if (ep.lives)
      expect(counted(dat_ep_get_status, ep.handle, &state, nullptr, nullptr) == DAT_SUCCESS, "a live one has a state");
    return state;
  }
  // The answer of a call on an endpoint must fit its state. Another thread may change that during the call, so only a
  // state that was the same before and after counts.
  template <typename Call, typename Allows>
  void judge_by_state(Slot& ep, const Call& call, const Allows& allows) {
    const DAT_EP_STATE before = state_of(ep);
    const bool lived = ep.lives;
    const DAT_RETURN result = call();
    if (!lived) return;
    const DAT_EP_STATE after = type_of(result) == DAT_INVALID_STATE ? state_of(ep) : before;
    if (type_of(result) == DAT_INVALID_STATE)
      expect(before != after || !allows(before), "no state is refused that fits");
    if (result == DAT_SUCCESS && is_stable(before)) expect(allows(before), "no state is taken that does not fit");
  }
  static bool is_stable(DAT_EP_STATE state) {
    return state == DAT_EP_STATE_UNCONNECTED || state == DAT_EP_STATE_DISCONNECTED;
  }
  static bool is_held(DAT_EP_STATE state) {
    return state == DAT_EP_STATE_RESERVED || state == DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING;
  }

  void free_ep(Slot& ep) {
    const DAT_RETURN result = counted(dat_ep_free, ep.handle);
    if (!judge(result, {&ep})) return;
    expect(result == DAT_SUCCESS, "an endpoint that no service point holds can be freed");
    abandon(ep);
  }
  void connect() {
    Slot& ep = pick(eps_);
    Slot& psp = pick(psps_, 2);
    const auto call = [&] {
      const DAT_RETURN result = counted(dat_ep_connect, ep.handle, address_, qualifier_of(psp), 1'000'000, 0, nullptr,
                                        DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
      judge(result, {&ep});
      return result;
    };
    judge_by_state(ep, call, [](DAT_EP_STATE state) { return state == DAT_EP_STATE_UNCONNECTED; });
  }
  void disconnect() {
    Slot& ep = pick(eps_);
    const auto call = [&] {
      const DAT_RETURN result =
          counted(dat_ep_disconnect, ep.handle, flag() ? DAT_CLOSE_GRACEFUL_FLAG : DAT_CLOSE_ABRUPT_FLAG);
      judge(result, {&ep});
      return result;
    };
    judge_by_state(ep, call, [](DAT_EP_STATE state) { return state != DAT_EP_STATE_UNCONNECTED && !is_held(state); });
  }
  void reset() {
    Slot& ep = pick(eps_);
    const auto call = [&] {
      const DAT_RETURN result = counted(dat_ep_reset, ep.handle);
      judge(result, {&ep});
      return result;
    };
    judge_by_state(ep, call, [](DAT_EP_STATE state) { return is_stable(state); });
  }

  DAT_LMR_TRIPLET local(std::size_t number) const {
    return make_local(memory_.data() + 64 * number, 64, lmr_contexts_[number]);
  }
  // A segment of a freed or foreign region is a violation, a full queue a matter of resources.
  static bool is_answer_to_post(DAT_RETURN result) {
    const DAT_RETURN_TYPE type = type_of(result);
    return result == DAT_SUCCESS || type == DAT_INVALID_HANDLE || type == DAT_INVALID_STATE ||
           type == DAT_PRIVILEGES_VIOLATION || type == DAT_PROTECTION_VIOLATION || type == DAT_INSUFFICIENT_RESOURCES;
  }
  void post(bool is_send) {
    Slot& ep = pick(eps_);
    DAT_LMR_TRIPLET segment = local((objects_ >> 2) % kSlots);
    const auto function = is_send ? dat_ep_post_send : dat_ep_post_recv;
    const auto call = [&] {
      const DAT_RETURN result =
          counted(function, ep.handle, 1, &segment, make_cookie(++posted_), DAT_COMPLETION_DEFAULT_FLAG);
      judge(result, {&ep});
      expect(is_answer_to_post(result), "a post answers what its page says");
      if (result != DAT_SUCCESS) --posted_;
      return result;
    };
    judge_by_state(ep, call, [&](DAT_EP_STATE state) {
      return !is_send || state == DAT_EP_STATE_CONNECTED || state == DAT_EP_STATE_DISCONNECTED;
    });
  }
  void write() {
    Slot& ep = pick(eps_);
    DAT_LMR_TRIPLET segment = local((objects_ >> 2) % kSlots);
    const std::size_t number = (objects_ >> 4) % kSlots;
    const DAT_RMR_TRIPLET target = make_remote(memory_.data() + 2048, 64, rmr_contexts_[number]);
    const auto function = flag() ? dat_ep_post_rdma_read : dat_ep_post_rdma_write;
    const auto call = [&] {
      const DAT_RETURN result =
          counted(function, ep.handle, 1, &segment, make_cookie(++posted_), &target, DAT_COMPLETION_DEFAULT_FLAG);
      judge(result, {&ep});
      expect(is_answer_to_post(result), "a post answers what its page says");
      if (result != DAT_SUCCESS) --posted_;
      return result;
    };
    judge_by_state(ep, call, [](DAT_EP_STATE state) {
      return state == DAT_EP_STATE_CONNECTED || state == DAT_EP_STATE_DISCONNECTED;
    });
  }

  void take(const Slot& evd, const DAT_EVENT& event) {
    expect(event.evd_handle == evd.handle, "an event knows its dispatcher");
    if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
      requests_.push_back(event.event_data.cr_arrival_event_data.cr_handle);
    } else if (event.event_number == DAT_DTO_COMPLETION_EVENT) {
      ++completed_;
      const std::uint64_t cookie = event.event_data.dto_completion_event_data.user_cookie.as_64;
      expect(cookie >= 1 && completed_ <= posted_, "nothing completes that was not posted");
    }
  }
  void dequeue() {
    Slot& evd = pick(evds_);
    DAT_EVENT event{};
    const DAT_RETURN result = counted(dat_evd_dequeue, evd.handle, &event);
    if (!judge(result, {&evd})) return;
    expect(result == DAT_SUCCESS || type_of(result) == DAT_QUEUE_EMPTY, "a queue has an event or is empty");
    if (result == DAT_SUCCESS) take(evd, event);
  }
  void wait() {
    Slot& evd = pick(evds_);
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    // Few: a sequence is to spend its time in calls.
    const bool blocks = (objects_ & 0xf0) == 0xf0;
    const DAT_RETURN result = counted(dat_evd_wait, evd.handle, blocks ? 100 : 0, 1, &event, &more);
    if (!judge(result, {&evd})) return;
    expect(result == DAT_SUCCESS || type_of(result) == DAT_TIMEOUT_EXPIRED, "a wait has an event or runs out of time");
    expect(more >= 0 && more < kQueue, "the number of events left is one");
    if (result == DAT_SUCCESS) take(evd, event);
  }
  void reject() {
    ++calls_;
    expect(reject_cr(requests_.back()) == DAT_SUCCESS, "a request can be rejected");
    requests_.pop_back();
  }
  void answer_request() {
    if (requests_.empty()) return;
    const DAT_CR_HANDLE cr = requests_.back();
    Slot& ep = pick(eps_);
    if (flag()) {
      return reject();
    }
    if (!ep.lives) return;
    const bool fits = state_of(ep) == DAT_EP_STATE_UNCONNECTED;
    const DAT_RETURN result = counted(dat_cr_accept, cr, ep.handle, 0, nullptr);
    expect((result == DAT_SUCCESS) == fits, "an unconnected endpoint, and no other, can accept");
    if (result == DAT_SUCCESS) requests_.pop_back();
  }
  void modify() {
    Slot& ep = pick(eps_);
    Slot& evd = pick(evds_, 4);
    DAT_EP_PARAM wish{};
    wish.recv_evd_handle = evd.handle;
    if (evd.handle == DAT_HANDLE_NULL) return;
    const DAT_RETURN result = counted(dat_ep_modify, ep.handle, DAT_EP_FIELD_RECV_EVD_HANDLE, &wish);
    if (!judge(result, {&ep})) return;
    if (!evd.lives) return expect(type_of(result) == DAT_INVALID_PARAMETER, "a dead dispatcher is a bad parameter");
    expect(result == DAT_SUCCESS || type_of(result) == DAT_INVALID_STATE,
           "a modification is made or refused for the state");
    if (result != DAT_SUCCESS) return;
    --ep.parents[1]->uses;
    ep.parents[1] = &evd;
    ++evd.uses;
  }

  void begin() {
    if (!adapter_) {
      calls_ += 2;
      adapter_.emplace();
      address_ = adapter_->address();
    }
    for (Slots* slots : {&pzs_, &evds_, &eps_, &lmrs_, &psps_}) *slots = {};
    lmr_contexts_ = {};
    rmr_contexts_ = {};
    requests_.clear();
    posted_ = completed_ = 0;
    qualifier_ += kSlots;
  }
  // Users before what they use. Then nothing of this input is left.
  void free_all() {
    for (Slot& ep : eps_) {
      if (ep.lives) free_ep(ep);
    }
    while (!requests_.empty()) reject();
    free_live(psps_, dat_psp_free);
    free_live(lmrs_, dat_lmr_free);
    free_live(evds_, dat_evd_free);
    free_live(pzs_, dat_pz_free);
    DAT_EVENT event{};
    while (counted(dat_evd_dequeue, adapter_->async_evd(), &event) == DAT_SUCCESS) {
    }
  }
  template <typename Handle>
  void free_live(Slots& slots, DAT_RETURN (*free)(Handle)) {
    for (Slot& slot : slots) {
      if (!slot.lives) continue;
      destroy(slot, free);
      expect(!slot.lives, "what has lost its users can be freed");
    }
  }
  void close_abruptly() {
    expect(counted(dat_ia_close, adapter_->handle(), DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS,
           "an adapter can be closed abruptly");
    adapter_->release();
    adapter_.reset();
    for (const Slot& ep : eps_) {
      expect(type_of(counted(dat_ep_free, ep.handle)) == DAT_INVALID_HANDLE, "endpoints end with it");
    }
    for (const Slot& evd : evds_) {
      expect(type_of(counted(dat_evd_free, evd.handle)) == DAT_INVALID_HANDLE, "dispatchers end with it");
    }
  }

  std::vector<unsigned char> memory_ = std::vector<unsigned char>(kBytes);
  std::optional<Adapter> adapter_;
  DAT_IA_ADDRESS_PTR address_ = nullptr;
  DAT_CONN_QUAL qualifier_ = unused_qualifier();  // the first of kSlots that only this input uses
  std::uint64_t calls_ = 0;
  unsigned objects_ = 0;
  Slots pzs_, evds_, eps_, lmrs_, psps_;
  std::array<DAT_LMR_CONTEXT, kSlots> lmr_contexts_{};
  std::array<DAT_RMR_CONTEXT, kSlots> rmr_contexts_{};
  std::vector<DAT_CR_HANDLE> requests_;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
};

// Never destroyed: it is closed by finish().
World& world() {
  static auto* const world = new World;
  return *world;
}

}  // namespace

void prepare() {
  ::setenv("SOFTDAT_TRANSPORT", "loop", 1);
  ::setenv("SOFTDAT_LOG", "error", 1);
}

void run_input(Input input) {
  world().obey(input);
}

void finish() {
  world().close();
}

}  // namespace softdat::fuzz
