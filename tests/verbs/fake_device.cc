// SPDX-License-Identifier: BSD-2-Clause
#include "tests/verbs/fake_device.h"

#include <endian.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

// The headers have macros of these names.
#undef ibv_query_port
#undef ibv_reg_mr_iova

namespace softdat::fake {
namespace {

struct Queue {
  ibv_cq base{};  // first: the address is that of the whole
  std::vector<ibv_wc> entries;
  std::size_t first = 0;  // taken before it
  bool has_overflowed = false;
};

struct Pair {
  ibv_qp base{};  // first
  std::deque<std::uint64_t> sends;
  std::deque<std::uint64_t> recvs;
};

struct State {
  std::mutex mutex;
  int most_entries = 0;
  bool may_resize = true;
  std::uint32_t last_number = 0;
  ibv_qp* last_pair = nullptr;
  rdma_conn_param last_answer{};
  int last_refusal = 0;
  Given last_send{};
  std::deque<rdma_cm_event*> said;
  rdma_event_channel* channel = nullptr;
};

std::atomic<int> living_ids{0};
std::atomic<int> taken_ports{0};
std::atomic<std::uint32_t> last_window{0x600};
std::atomic<int> removed{0};  // the error with which the device's channels have ended
std::atomic<int> completions_asked{0};

State& state() {
  static State one;
  return one;
}

Queue& whole(ibv_cq* cq) {
  return *reinterpret_cast<Queue*>(cq);
}
Pair& whole(ibv_qp* qp) {
  return *reinterpret_cast<Pair*>(qp);
}

// No call gives an event. Without `error` there is none now; with it the descriptor says at once that there is one.
int give_none(int error) {
  errno = error == 0 ? EAGAIN : error;
  return -1;
}

void ring(int fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof one);
}

void push(ibv_cq* cq, const ibv_wc& wc) {
  Queue& queue = whole(cq);
  if (queue.entries.size() - queue.first >= static_cast<std::size_t>(cq->cqe)) {
    queue.has_overflowed = true;
    return;
  }
  queue.entries.push_back(wc);
}

ibv_wc completion(const ibv_qp& qp, std::uint64_t number, ibv_wc_status status, ibv_wc_opcode opcode,
                  std::uint32_t length) {
  ibv_wc wc{};
  wc.wr_id = number;
  wc.status = status;
  wc.opcode = opcode;
  wc.byte_len = length;
  wc.qp_num = qp.qp_num;
  return wc;
}

std::uint64_t take_oldest(std::deque<std::uint64_t>& numbers) {
  const std::uint64_t oldest = numbers.front();
  numbers.pop_front();
  return oldest;
}

void flush(Pair& pair) {
  for (; !pair.sends.empty(); pair.sends.pop_front()) {
    push(pair.base.send_cq, completion(pair.base, pair.sends.front(), IBV_WC_WR_FLUSH_ERR, IBV_WC_SEND, 0));
  }
  for (; !pair.recvs.empty(); pair.recvs.pop_front()) {
    push(pair.base.recv_cq, completion(pair.base, pair.recvs.front(), IBV_WC_WR_FLUSH_ERR, IBV_WC_RECV, 0));
  }
}

int poll_cq(ibv_cq* cq, int wanted, ibv_wc* out) {
  const std::lock_guard lock(state().mutex);
  Queue& queue = whole(cq);
  int count = 0;
  for (; count < wanted && queue.first < queue.entries.size(); ++count) out[count] = queue.entries[queue.first++];
  if (queue.first == queue.entries.size()) {
    queue.entries.clear();
    queue.first = 0;
  }
  return count;
}

int req_notify_cq(ibv_cq*, int) {
  return 0;
}

int post_send(ibv_qp* qp, ibv_send_wr* work, ibv_send_wr**) {
  const std::lock_guard lock(state().mutex);
  whole(qp).sends.push_back(work->wr_id);
  state().last_send = {*work, work->num_sge == 1 ? *work->sg_list : ibv_sge{}};
  if (qp->state == IBV_QPS_ERR) flush(whole(qp));
  return 0;
}

int post_recv(ibv_qp* qp, ibv_recv_wr* work, ibv_recv_wr**) {
  const std::lock_guard lock(state().mutex);
  whole(qp).recvs.push_back(work->wr_id);
  if (qp->state == IBV_QPS_ERR) flush(whole(qp));
  return 0;
}

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  auto* const window = new ibv_mw{};
  window->context = pd->context;
  window->pd = pd;
  window->rkey = last_window += 0x100;
  window->type = type;
  return window;
}

int dealloc_mw(ibv_mw* window) {
  delete window;
  return 0;
}

}  // namespace

void allow_entries(int most) {
  state().most_entries = most;
}

void allow_resizing(bool is_allowed) {
  state().may_resize = is_allowed;
}

std::size_t sends_pending(const ibv_qp* qp) {
  const std::lock_guard lock(state().mutex);
  return whole(const_cast<ibv_qp*>(qp)).sends.size();
}

void complete_sends(ibv_qp* qp, std::size_t count) {
  const std::lock_guard lock(state().mutex);
  Pair& pair = whole(qp);
  for (; count > 0; --count, pair.sends.pop_front()) {
    push(qp->send_cq, completion(*qp, pair.sends.front(), IBV_WC_SUCCESS, IBV_WC_SEND, 0));
  }
}

void fail_send(ibv_qp* qp, ibv_wc_status status, std::uint32_t vendor_error) {
  const std::lock_guard lock(state().mutex);
  ibv_wc wc = completion(*qp, take_oldest(whole(qp).sends), status, IBV_WC_SEND, 0);
  wc.vendor_err = vendor_error;
  push(qp->send_cq, wc);
}

void receive(ibv_qp* qp, std::uint32_t length) {
  const std::lock_guard lock(state().mutex);
  push(qp->recv_cq, completion(*qp, take_oldest(whole(qp).recvs), IBV_WC_SUCCESS, IBV_WC_RECV, length));
}

void receive(ibv_qp* qp, ibv_wc_opcode opcode, unsigned flags, std::uint32_t value) {
  const std::lock_guard lock(state().mutex);
  ibv_wc wc = completion(*qp, take_oldest(whole(qp).recvs), IBV_WC_SUCCESS, opcode, 0);
  wc.wc_flags = flags;
  wc.imm_data = htobe32(value);
  if ((flags & IBV_WC_WITH_INV) != 0) wc.invalidated_rkey = value;  // in the same place
  push(qp->recv_cq, wc);
}

Given last_send() {
  const std::lock_guard lock(state().mutex);
  return state().last_send;
}

ibv_qp* last_queue_pair() {
  return state().last_pair;
}

bool has_overflowed(const ibv_cq* cq) {
  const std::lock_guard lock(state().mutex);
  return whole(const_cast<ibv_cq*>(cq)).has_overflowed;
}

void say(rdma_cm_id* id, rdma_cm_event_type type) {
  auto event = std::make_unique<rdma_cm_event>();
  event->id = id;
  event->event = type;
  {
    const std::lock_guard lock(state().mutex);
    state().said.push_back(event.get());
  }
  static_cast<void>(event.release());
  ring(id->channel->fd);
}

void remove_device(const ibv_context* context, const ibv_comp_channel* channel) {
  removed = EIO;
  ring(channel->fd);
  ring(context->async_fd);
}

int times_asked_for_completions() {
  return completions_asked;
}

void take_ports(int count) {
  taken_ports = count;
}

int ports_taken() {
  return taken_ports;
}

int ids_alive() {
  return living_ids;
}

rdma_cm_id* make_id() {
  auto* const id = new rdma_cm_id{};
  ++living_ids;
  id->channel = state().channel;
  id->route.addr.src_addr.sa_family = AF_INET;
  id->route.addr.dst_addr.sa_family = AF_INET;
  return id;
}

int last_refusal() {
  const std::lock_guard lock(state().mutex);
  return state().last_refusal;
}

rdma_conn_param last_answer() {
  const std::lock_guard lock(state().mutex);
  return state().last_answer;
}

}  // namespace softdat::fake

using namespace softdat::fake;

extern "C" {
#pragma GCC visibility push(default)

ibv_device** ibv_get_device_list(int*) {
  return nullptr;
}
void ibv_free_device_list(ibv_device**) {}

ibv_context* ibv_open_device(ibv_device*) {
  auto* const context = new ibv_context{};
  removed = 0;
  context->ops.poll_cq = poll_cq;
  context->ops.req_notify_cq = req_notify_cq;
  context->ops.post_send = post_send;
  context->ops.post_recv = post_recv;
  context->ops.alloc_mw = alloc_mw;
  context->ops.dealloc_mw = dealloc_mw;
  context->async_fd = ::eventfd(0, EFD_CLOEXEC);
  return context;
}
int ibv_close_device(ibv_context* context) {
  ::close(context->async_fd);
  delete context;
  return 0;
}
int ibv_get_async_event(ibv_context*, ibv_async_event*) {
  return give_none(removed);
}
void ibv_ack_async_event(ibv_async_event*) {}
int ibv_query_device(ibv_context*, ibv_device_attr*) {
  return ENOSYS;
}
int ibv_query_port(ibv_context*, std::uint8_t, _compat_ibv_port_attr*) {
  return ENOSYS;
}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  auto* const pd = new ibv_pd{};
  pd->context = context;
  return pd;
}
int ibv_dealloc_pd(ibv_pd* pd) {
  delete pd;
  return 0;
}
ibv_mr* ibv_reg_mr_iova(ibv_pd*, void*, std::size_t, std::uint64_t, int) {
  errno = ENOSYS;
  return nullptr;
}
int ibv_dereg_mr(ibv_mr*) {
  return ENOSYS;
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  auto* const channel = new ibv_comp_channel{};
  channel->context = context;
  channel->fd = ::eventfd(0, EFD_CLOEXEC);
  return channel;
}
int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  ::close(channel->fd);
  delete channel;
  return 0;
}
ibv_cq* ibv_create_cq(ibv_context* context, int entries, void*, ibv_comp_channel*, int) {
  const int most = state().most_entries;
  if (most != 0 && entries > most) {
    errno = EINVAL;
    return nullptr;
  }
  auto* const queue = new Queue;
  queue->base.context = context;
  queue->base.cqe = entries;
  return &queue->base;
}
int ibv_resize_cq(ibv_cq* cq, int entries) {
  if (!state().may_resize) return EOPNOTSUPP;
  cq->cqe = entries;
  return 0;
}
int ibv_destroy_cq(ibv_cq* cq) {
  delete &whole(cq);
  return 0;
}
int ibv_get_cq_event(ibv_comp_channel*, ibv_cq**, void**) {
  ++completions_asked;
  return give_none(removed);
}
void ibv_ack_cq_events(ibv_cq*, unsigned) {}

ibv_srq* ibv_create_srq(ibv_pd*, ibv_srq_init_attr*) {
  errno = ENOSYS;
  return nullptr;
}
int ibv_modify_srq(ibv_srq*, ibv_srq_attr*, int) {
  return ENOSYS;
}
int ibv_destroy_srq(ibv_srq*) {
  return ENOSYS;
}

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* wish) {
  auto* const pair = new Pair;
  pair->base.context = pd->context;
  pair->base.send_cq = wish->send_cq;
  pair->base.recv_cq = wish->recv_cq;
  pair->base.qp_num = ++state().last_number;
  pair->base.state = IBV_QPS_RESET;
  state().last_pair = &pair->base;
  return &pair->base;
}
int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int) {
  const std::lock_guard lock(state().mutex);
  qp->state = attributes->qp_state;
  if (qp->state == IBV_QPS_ERR) flush(whole(qp));
  return 0;
}
int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int, ibv_qp_init_attr*) {
  attributes->qp_state = qp->state;
  return 0;
}
int ibv_destroy_qp(ibv_qp* qp) {
  delete &whole(qp);
  return 0;
}
const char* ibv_wc_status_str(ibv_wc_status) {
  return "";
}

rdma_event_channel* rdma_create_event_channel(void) {
  state().channel = new rdma_event_channel{::eventfd(0, EFD_CLOEXEC)};
  return state().channel;
}
void rdma_destroy_event_channel(rdma_event_channel* channel) {
  for (const rdma_cm_event* unheard : state().said) delete unheard;
  state().said.clear();
  ::close(channel->fd);
  delete channel;
}
int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t taken = ::read(channel->fd, &rings, sizeof rings);
  const std::lock_guard lock(state().mutex);
  if (state().said.empty()) return give_none(0);
  *event = state().said.front();
  state().said.pop_front();
  return 0;
}
int rdma_ack_cm_event(rdma_cm_event* event) {
  delete event;
  return 0;
}
int rdma_create_id(rdma_event_channel*, rdma_cm_id** id, void*, rdma_port_space) {
  *id = make_id();
  return 0;
}
int rdma_destroy_id(rdma_cm_id* id) {
  --living_ids;
  delete id;
  return 0;
}
int rdma_bind_addr(rdma_cm_id*, sockaddr*) {
  return 0;
}
int rdma_resolve_addr(rdma_cm_id* id, sockaddr*, sockaddr*, int) {
  say(id, RDMA_CM_EVENT_ADDR_RESOLVED);
  return 0;
}
int rdma_resolve_route(rdma_cm_id* id, int) {
  say(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
  return 0;
}
int rdma_listen(rdma_cm_id*, int) {
  return 0;
}
// The peer is always there.
int rdma_connect(rdma_cm_id* id, rdma_conn_param*) {
  if (taken_ports > 0) {
    --taken_ports;
    errno = EADDRINUSE;
    return -1;
  }
  say(id, RDMA_CM_EVENT_ESTABLISHED);
  return 0;
}
int rdma_establish(rdma_cm_id*) {
  return 0;
}
int rdma_accept(rdma_cm_id* id, rdma_conn_param* answer) {
  {
    const std::lock_guard lock(state().mutex);
    state().last_answer = *answer;
  }
  say(id, RDMA_CM_EVENT_ESTABLISHED);
  return 0;
}
int rdma_reject(rdma_cm_id*, const void*, std::uint8_t length) {
  const std::lock_guard lock(state().mutex);
  state().last_refusal = length;
  return 0;
}
int rdma_reject_ece(rdma_cm_id*, const void*, std::uint8_t) {
  const std::lock_guard lock(state().mutex);
  state().last_refusal = kNotByConsumer;
  return 0;
}
int rdma_disconnect(rdma_cm_id*) {
  return 0;
}
int rdma_init_qp_attr(rdma_cm_id*, ibv_qp_attr*, int*) {
  return 0;
}
int rdma_notify(rdma_cm_id*, ibv_event_type) {
  return 0;
}
const char* rdma_event_str(rdma_cm_event_type) {
  return "";
}

#pragma GCC visibility pop
}
