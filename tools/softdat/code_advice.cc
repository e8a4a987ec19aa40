// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/code_advice.h"

#include <dat2/dat_ib_extensions.h>
#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace softdat::tools {
namespace {

struct Row {
  unsigned number;
  Advice advice;
};

constexpr unsigned number_of(auto constant) {
  return static_cast<unsigned>(constant);
}

// By type; what the subtype adds is told by its name.
constexpr std::array kReturns{
    Row{number_of(DAT_ABORT),
        {"The call was given up before it could end.", "another thread freed the object that the call waited on",
         "end the waiting threads before the object is freed", "dat_evd_wait(3)"}},
    Row{number_of(DAT_CONN_QUAL_IN_USE),
        {"Another service point listens at that connection qualifier of this adapter.",
         "a second server, or an earlier one that still runs",
         "stop it, take another qualifier, or use dat_psp_create_any(3)", "dat_psp_create(3)"}},
    Row{number_of(DAT_INSUFFICIENT_RESOURCES),
        {"Something of a limited number is used up.",
         "a queue that is full, the descriptors of the process (ulimit -n), or memory",
         "reap completions, free objects that are not used, or ask for longer queues; softdat doctor tells the limits",
         "softdat(1)"}},
    Row{number_of(DAT_INTERNAL_ERROR),
        {"The provider met a state that it cannot explain.", "an error of SoftDAT or of the device's driver",
         "run the program with SOFTDAT_LOG=trace and report what it prints", "softdat(7)"}},
    Row{number_of(DAT_INVALID_HANDLE),
        {"A handle is no handle of a live object of the kind that the call takes.",
         "an object that was freed, was never created, or is of another kind; an EVD whose flags lack the stream",
         "look where that handle was created and freed; an EVD needs the flag of each stream that feeds it",
         "dat_evd_create(3)"}},
    Row{number_of(DAT_INVALID_PARAMETER),
        {"An argument has a value that the call does not take.",
         "a null pointer, an unknown flag, a size beyond the adapter's limits, or a range outside its region",
         "look at the argument that the second name counts; dat_ia_query(3) tells the limits", "dat_ia_query(3)"}},
    Row{number_of(DAT_INVALID_STATE),
        {"The object's present state does not allow the call.",
         "an endpoint that is not connected yet, or not any more; an object that others still use",
         "wait for the event that changes the state, or free the users first", "dat_ep_get_status(3)"}},
    Row{number_of(DAT_LENGTH_ERROR),
        {"The lengths of the call do not fit together.",
         "the local segments hold more than the remote range (write), or less (read); a region of 0 bytes",
         "make the sum of the local segments and the remote length the same", "dat_ep_post_rdma_write(3)"}},
    Row{number_of(DAT_MODEL_NOT_SUPPORTED),
        {"The adapter does not offer this way of doing it.", "an optional feature of DAT",
         "ask dat_ia_query(3) before it is used", "dat_ia_query(3)"}},
    Row{number_of(DAT_PROVIDER_NOT_FOUND),
        {"No adapter of that name can be opened.",
         "a misspelt name, a dat.conf without it, or another DAT library that was loaded first",
         "softdat info lists the names; softdat doctor PROGRAM says which library a program loads", "dat.conf(5)"}},
    Row{number_of(DAT_PRIVILEGES_VIOLATION),
        {"A memory region lacks the right that the operation needs, or the key names no region.",
         "dat_lmr_create without DAT_MEM_PRIV_LOCAL_WRITE_FLAG or the like; an LMR that was freed",
         "register with the right that the second name tells, and use the key that dat_lmr_create gave",
         "dat_lmr_create(3)"}},
    Row{number_of(DAT_PROTECTION_VIOLATION),
        {"A memory region belongs to another protection zone than the endpoint.",
         "two zones, or two adapters, in one program", "create endpoint and region in the same zone",
         "dat_pz_create(3)"}},
    Row{number_of(DAT_QUEUE_EMPTY),
        {"There is no event now.", "nothing has happened yet", "wait with dat_evd_wait(3), or ask again later",
         "dat_evd_dequeue(3)"}},
    Row{number_of(DAT_QUEUE_FULL),
        {"The event queue has no room.", "events that nobody takes out",
         "take events out, or create the EVD with a longer queue", "dat_evd_post_se(3)"}},
    Row{number_of(DAT_TIMEOUT_EXPIRED),
        {"Nothing came within the time.",
         "the peer has not answered; a send that finds no receive waits, and so does its completion",
         "run both sides with SOFTDAT_LOG=notice, which tells what is waited for", "dat_evd_wait(3)"}},
    Row{number_of(DAT_PROVIDER_ALREADY_REGISTERED),
        {"An adapter of that name is registered already.", "a name twice in dat.conf", "give it another name",
         "dat.conf(5)"}},
    Row{number_of(DAT_PROVIDER_IN_USE),
        {"The provider still has open adapters.", "an IA that was not closed", "close every IA first",
         "dat_ia_close(3)"}},
    Row{number_of(DAT_INVALID_ADDRESS),
        {"The remote address cannot be used.", "an address of another family, or none at all",
         "pass a sockaddr_in or sockaddr_in6 of a host", "dat_ep_connect(3)"}},
    Row{number_of(DAT_INTERRUPTED_CALL),
        {"A signal, or the end of the object, ended the wait.", "a handler ran in the waiting thread", "call again",
         "dat_evd_wait(3)"}},
    Row{number_of(DAT_CONN_QUAL_UNAVAILABLE),
        {"No connection qualifier is free.", "all of them are in use", "free a service point",
         "dat_psp_create_any(3)"}},
    Row{number_of(DAT_NOT_IMPLEMENTED),
        {"The provider does not have this function.", "a later version of DAT, or an extension of another vendor",
         "leave it out; dat_ia_query(3) tells which extensions there are", "dat_ib_extensions(3)"}},
};

constexpr const char* kConnect = "dat_ep_connect(3)";

constexpr std::array kEvents{
    Row{number_of(DAT_CONNECTION_EVENT_PEER_REJECTED),
        {nullptr, "the server's program called dat_cr_reject(3)", "ask the server why; private data may tell",
         "dat_cr_reject(3)"}},
    Row{number_of(DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
        {nullptr, "a server that has not started, another port or address, a backlog that is full",
         "start the server first, and compare address and connection qualifier on both sides", kConnect}},
    Row{number_of(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR),
        {nullptr, "the client gave up, its timeout was short, or it died", "wait for the next request",
         "dat_cr_accept(3)"}},
    Row{number_of(DAT_CONNECTION_EVENT_BROKEN),
        {nullptr,
         "an operation that one side must not do (a wrong key, range or right), a full EVD, or a peer that died",
         "run both sides with SOFTDAT_LOG=notice: each says which rule was broken", "dat_ep_post_rdma_write(3)"}},
    Row{number_of(DAT_CONNECTION_EVENT_TIMED_OUT),
        {nullptr, "the server took the request and did not answer, or a firewall drops packets",
         "have the server call dat_cr_accept(3); raise the timeout", kConnect}},
    Row{number_of(DAT_CONNECTION_EVENT_UNREACHABLE),
        {nullptr, "no route, a host that is down, or an adapter that listens on loopback only",
         "set SOFTDAT_ADDRESS on both sides to an address that the other host reaches", "softdat(7)"}},
    Row{number_of(DAT_ASYNC_ERROR_EVD_OVERFLOW),
        {nullptr, "more completions than the EVD has room for", "create the EVD with a longer queue, or reap faster",
         "dat_evd_create(3)"}},
    Row{number_of(DAT_ASYNC_ERROR_IA_CATASTROPHIC),
        {nullptr, "the program closed descriptors of SoftDAT, or a device went away",
         "close the IA and open it again; do not close descriptors that you did not open", "dat_ia_open(3)"}},
    Row{number_of(DAT_ASYNC_ERROR_EP_BROKEN),
        {nullptr, "the peer asked for memory that it may not have, or a receive watermark was passed",
         "run with SOFTDAT_LOG=notice, which tells what the peer asked for", "dat_ep_create(3)"}},
};

constexpr const char* kWrite = "dat_ep_post_rdma_write(3)";
constexpr const char* kSend = "dat_ep_post_send(3)";

constexpr std::array kCompletions{
    Row{number_of(DAT_DTO_ERR_FLUSHED),
        {nullptr, "an earlier operation failed, or a side disconnected", "look at the first completion that failed",
         "dat_ep_disconnect(3)"}},
    Row{number_of(DAT_DTO_ERR_LOCAL_LENGTH),
        {nullptr, "a receive that is shorter than the peer's send", "post receives as long as the longest message",
         "dat_ep_post_recv(3)"}},
    Row{number_of(DAT_DTO_ERR_LOCAL_PROTECTION),
        {nullptr, "the LMR was freed, or its memory unmapped, before the operation completed",
         "keep region and memory until the completion has been taken", "dat_lmr_free(3)"}},
    Row{number_of(DAT_DTO_ERR_BAD_RESPONSE),
        {nullptr, "a peer that is no DAT provider, or a broken one", "capture the traffic and look at it", kWrite}},
    Row{number_of(DAT_DTO_ERR_REMOTE_ACCESS),
        {nullptr,
         "a wrong RMR context (key), a range that leaves the peer's region, a region that was freed or that lacks the "
         "remote right, or one of another protection zone",
         "run both sides with SOFTDAT_LOG=notice, which tells the key and both ranges; send key and address from the "
         "process that registered the memory",
         kWrite}},
    Row{number_of(DAT_DTO_ERR_REMOTE_RESPONDER),
        {nullptr, "the peer's receive is too short or its memory gone; an atomic on eight bytes that are not aligned",
         "post longer receives at the peer", kSend}},
    Row{number_of(DAT_DTO_ERR_TRANSPORT),
        {nullptr, "the peer's host does not answer any more", "look at the network and the peer", "softdat(7)"}},
    Row{number_of(DAT_DTO_ERR_RECEIVER_NOT_READY),
        {nullptr, "a send came before the peer posted a receive, with SOFTDAT_RNR=terminate",
         "post receives before the connection is accepted", "dat_ep_post_recv(3)"}},
    Row{number_of(DAT_RMR_OPERATION_FAILED),
        {nullptr, "the region was freed before a window was bound to it", "free the LMR after the bind has completed",
         "dat_rmr_bind(3)"}},
};

template <typename Rows>
const Advice* find(const Rows& rows, unsigned number) {
  for (const Row& row : rows) {
    if (row.number == number) return &row.advice;
  }
  return nullptr;
}

}  // namespace

const Advice* advice_on_return(DAT_RETURN code) {
  return find(kReturns, code & 0x3fff0000u);
}

const Advice* advice_on_event(DAT_EVENT_NUMBER number) {
  return find(kEvents, number_of(number));
}

const Advice* advice_on_completion(DAT_DTO_COMPLETION_STATUS status) {
  return find(kCompletions, number_of(status));
}

std::string subtype_meaning(const std::string& name) {
  // Longest prefixes first.
  static constexpr std::array<std::pair<std::string_view, const char*>, 13> kFamilies{{
      {"DAT_INVALID_HANDLE_EVD_", "the EVD that serves {}"},
      {"DAT_INVALID_HANDLE_", "the handle of the {}"},
      {"DAT_INVALID_HANDLE", "handle {} of the call, counted from 1"},
      {"DAT_INVALID_ARG", "argument {} of the call, counted from 1"},
      {"DAT_INVALID_STATE_EP_", "the endpoint is {}, or lacks it"},
      {"DAT_INVALID_STATE_", "the state of the object: {}"},
      {"DAT_RESOURCE_", "what ran out: {}"},
      {"DAT_PRIVILEGES_RDMA_", "the right of remote {}"},
      {"DAT_PRIVILEGES_", "the right of local {}"},
      {"DAT_PROTECTION_RDMA_", "for remote {}"},
      {"DAT_PROTECTION_", "for local {}"},
      {"DAT_INVALID_ADDRESS_", "the address is {}"},
      {"DAT_", "{}"},
  }};
  for (const auto& [prefix, format] : kFamilies) {
    if (!name.starts_with(prefix)) continue;
    std::string rest = name.substr(prefix.size());
    for (char& letter : rest) letter = letter == '_' ? ' ' : letter;
    return fmt::format(fmt::runtime(format), rest);
  }
  return "";
}

}  // namespace softdat::tools
