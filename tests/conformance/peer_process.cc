// SPDX-License-Identifier: BSD-2-Clause
// The other process of the tests that need two: listens on the qualifier given as its argument,
// accepts one peer, gives it address and key of its memory, and then does what it is told on its
// standard input. While it waits to be told, it sleeps in read(), outside of DAT. With a second argument, whatever that
// is, it accepts nobody: it is told to connect.
#include <arpa/inet.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include "base/unjudged.h"
#include "tests/conformance/peer.h"
#include "tests/conformance/remote_peer.h"
#include "tests/conformance/shared_region.h"

namespace softdat::conformance {
namespace {

constexpr std::size_t kMemory = 1 << 20;

void say(const std::string& line) {
  std::cout << line << std::endl;
}

// What a device stores, or another process: TSan would take it for a store of one of our own threads.
SOFTDAT_UNJUDGED unsigned char look_at(const unsigned char* byte) {
  return __atomic_load_n(byte, __ATOMIC_ACQUIRE);
}

unsigned char tail_byte(const DAT_LMR_TRIPLET& range) {
  return look_at(reinterpret_cast<const unsigned char*>(range.virtual_address + range.segment_length - 1));
}

class Server {
 public:
  explicit Server(DAT_CONN_QUAL qualifier) {
    peer_.psp = peer_.adapter.make_psp(qualifier, peer_.cr_evd);
    const DAT_IA_ADDRESS_PTR address = peer_.adapter.address();
    const bool is_ipv6 = address->sa_family == AF_INET6;
    const void* number = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
    if (is_ipv6) number = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    char text[INET6_ADDRSTRLEN];
    say(std::string("listening ") + inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, number, text, sizeof text));
  }

  void accept() {
    const DAT_CR_HANDLE cr = peer_.next_request();
    MemoryOffer offer{reinterpret_cast<std::uintptr_t>(peer_.memory->data()), peer_.memory->rmr_context()};
    require(dat_cr_accept(cr, peer_.ep, sizeof offer, &offer), "dat_cr_accept");
    next_event(peer_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    say("connected");
  }

  // Does one command; false when it was the last.
  bool obey(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    std::size_t offset = 0;
    std::size_t length = 0;
    std::uint64_t value = 0;
    words >> verb >> offset >> length >> value;
    if (verb == "exit") _exit(0);
    if (verb == "abort") std::abort();
    if (verb == "storm") storm();
    if (verb == "bombard") bombard(make_remote(offset, length, static_cast<DAT_RMR_CONTEXT>(value)));
    if (verb == "fire") fire(offset);
    if (verb == "fork") leave_child();
    if (verb == "quit") return false;
    if (verb == "fill") peer_.memory->fill(offset, length, static_cast<unsigned>(value));
    if (verb == "recv") require(peer_.post_recv(offset, length, value), "dat_ep_post_recv");
    if (verb == "send") require(peer_.post_send(offset, length, value), "dat_ep_post_send");
    if (verb == "connect") connect(static_cast<in_addr_t>(offset), value);
    if (verb == "await-recv") return say_completion(peer_.recv_evd);
    if (verb == "await-request") return say_completion(peer_.request_evd);
    if (verb == "await-connection") return say_connection();
    if (verb == "holds") return say_holds(offset, length, static_cast<unsigned>(value));
    if (verb == "watch") return watch(offset, length, static_cast<unsigned>(value));
    if (verb == "share") return share(length, value);
    if (verb == "peek") return say(std::to_string(look_at(shared_ + offset))), true;
    if (verb == "state") return say(std::to_string(peer_.state())), true;
    say("done");
    return true;
  }

 private:
  // It lives until the other end of our standard input is closed.
  static void leave_child() {
    if (::fork() != 0) return;
    pollfd input = {STDIN_FILENO, 0, 0};
    ::poll(&input, 1, -1);
    ::_exit(0);
  }

  // From a new endpoint; await-connection tells what becomes of it.
  void connect(in_addr_t ipv4, DAT_CONN_QUAL qualifier) {
    peer_.ep = DAT_HANDLE_NULL;  // the old one stays connected
    peer_.renew_endpoint();
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(ipv4);
    require(dat_ep_connect(peer_.ep, reinterpret_cast<DAT_IA_ADDRESS_PTR>(&address), qualifier, kPatience, 0, nullptr,
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
            "dat_ep_connect");
  }

  bool say_completion(DAT_EVD_HANDLE evd) {
    const auto completion = next_completion(evd);
    say(std::to_string(completion.status) + " " + std::to_string(completion.user_cookie.as_64) + " " +
        std::to_string(completion.transfered_length));
    return true;
  }

  bool say_connection() {
    say(std::to_string(next_event(peer_.connect_evd).event_number));
    return true;
  }

  bool say_holds(std::size_t offset, std::size_t length, unsigned seed) {
    say(peer_.memory->holds(offset, length, seed) ? "yes" : "no");
    return true;
  }

  // Spins on the last byte of the range until it changes, without any call of DAT, then says
  // whether everything before it had come.
  bool watch(std::size_t offset, std::size_t length, unsigned seed) {
    const DAT_LMR_TRIPLET range = peer_.memory->local(offset, length);
    const unsigned char before = tail_byte(range);
    say("watching");
    while (tail_byte(range) == before) continue;
    return say_holds(offset, length, seed);
  }

  // Registers the shared memory that the number names, and tells where, or why not.
  bool share(std::size_t length, std::uint64_t number) {
    shared_ = map_shared(number, length);
    SharedRegion region(peer_.adapter.handle(), peer_.pz, shared_, length, number);
    if (region.answer == DAT_SUCCESS) {
      say(std::to_string(reinterpret_cast<std::uintptr_t>(shared_)) + " " + std::to_string(region.rmr_context));
    } else {
      say("refused " + std::to_string(type_of(region.answer)));
    }
    return true;
  }

  // Traffic in both directions until somebody kills us.
  [[noreturn]] void storm() {
    for (std::uint64_t round = 0;; ++round) {
      static_cast<void>(peer_.post_recv(0, 512, round));
      static_cast<void>(peer_.post_send(512, 512, round));
      drain(peer_.recv_evd);
      drain(peer_.request_evd);
    }
  }

  // Writes into the peer's memory until somebody kills us.
  [[noreturn]] void bombard(const DAT_RMR_TRIPLET& target) {
    peer_.memory->fill(0, target.segment_length, 1);
    for (;;) write_once(target);
  }

  // So many times: when the connection has ended, takes another, and writes into the memory that its
  // request names for as long as it lasts.
  void fire(std::size_t rounds) {
    for (std::size_t round = 0; round < rounds; ++round) {
      start_over();
      const DAT_CR_HANDLE cr = peer_.next_request();
      DAT_CR_PARAM request{};
      require(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request), "dat_cr_query");
      MemoryOffer offer{};
      std::memcpy(&offer, request.private_data, sizeof offer);
      require(dat_cr_accept(cr, peer_.ep, 0, nullptr), "dat_cr_accept");
      next_event(peer_.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
      const DAT_RMR_TRIPLET target = make_remote(offer.address, kFired, offer.context);
      peer_.memory->fill(0, kFired, 1);
      while (peer_.state() == DAT_EP_STATE_CONNECTED) write_once(target);
    }
  }

  void write_once(const DAT_RMR_TRIPLET& target) {
    static_cast<void>(peer_.post_write(0, target.segment_length, target));
    drain(peer_.request_evd);
  }

  void start_over() {
    next_event(peer_.connect_evd);
    const bool is_idle = eventually([&] {
      DAT_BOOLEAN recv_idle = DAT_FALSE;
      DAT_BOOLEAN request_idle = DAT_FALSE;
      drain(peer_.recv_evd);
      drain(peer_.request_evd);
      require(dat_ep_get_status(peer_.ep, nullptr, &recv_idle, &request_idle), "dat_ep_get_status");
      return recv_idle == DAT_TRUE && request_idle == DAT_TRUE;
    });
    if (!is_idle) throw SetupFailure("an endpoint that is not idle");
    require(dat_ep_reset(peer_.ep), "dat_ep_reset");
  }

  static PeerOptions options() {
    PeerOptions options;
    options.memory = kMemory;
    return options;
  }

  Peer peer_{kServerName, options()};
  unsigned char* shared_ = nullptr;
};

void serve(DAT_CONN_QUAL qualifier, bool accepts) {
  Server server(qualifier);
  if (accepts) server.accept();
  std::string line;
  while (std::getline(std::cin, line))
    if (!server.obey(line)) break;
}

}  // namespace
}  // namespace softdat::conformance

int main(int count, char** arguments) {
  if (count != 2 && count != 3) return 2;
  try {
    softdat::conformance::serve(std::strtoull(arguments[1], nullptr, 10), count == 2);
  } catch (const std::exception& failure) {
    std::cout << "failed: " << failure.what() << std::endl;
    return 1;
  }
  return 0;
}
