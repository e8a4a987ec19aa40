// SPDX-License-Identifier: BSD-2-Clause
// A whole life of two adapters of one process: open, connect, talk, disconnect, close. Whatever fails, it gives up in
// order. Exits with 0 after all of it, with 3 after a refusal, and dies of SIGALRM when it hangs. Its two marks tell a
// tracer where the part that counts begins and ends.
//   chaos_session [K]    the allocation number K (from 0) of all threads fails; prints how many there were
#include <sys/ioctl.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/chaos/session_marks.h"
#include "tests/conformance/api_version.h"
#include "tests/conformance/memory_shortage.h"

namespace softdat::chaos {
namespace {

using namespace softdat::conformance;

constexpr DAT_TIMEOUT kPatience = 2'000'000;
constexpr DAT_CONN_QUAL kQualifierBase = DAT_CONN_QUAL{0x5da7} << 32;
constexpr unsigned kSecondsToHang = 200;

// Takes no memory.
struct Refused {
  const char* what;
};

void require(DAT_RETURN result, const char* what) {
  if (result != DAT_SUCCESS) throw Refused{what};
}

struct Side {
  explicit Side(const char* ia_name) : name(ia_name) {}
  void open() {
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    require(dat_ia_open(const_cast<char*>(name), 8, &async, &ia), "dat_ia_open");
    require(dat_pz_create(ia, &pz), "dat_pz_create");
    constexpr int kStreams = DAT_EVD_DTO_FLAG | DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG;
    require(dat_evd_create(ia, 64, DAT_HANDLE_NULL, static_cast<DAT_EVD_FLAGS>(kStreams), &evd), "dat_evd_create");
    require(dat_ep_create(ia, pz, evd, evd, evd, nullptr, &ep), "dat_ep_create");
    DAT_REGION_DESCRIPTION region{};
    region.for_va = memory.data();
    require(create_lmr(ia, DAT_MEM_TYPE_VIRTUAL, region, memory.size(), pz, DAT_MEM_PRIV_ALL_FLAG, &lmr, &context,
                       &remote, nullptr, nullptr),
            "dat_lmr_create");
  }
  DAT_EVENT next() const {
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    require(dat_evd_wait(evd, kPatience, 1, &event, &more), "dat_evd_wait");
    return event;
  }
  void expect(DAT_EVENT_NUMBER number) const {
    if (next().event_number != number) throw Refused{"another event"};
  }
  DAT_LMR_TRIPLET local() const { return make_local(memory.data(), memory.size() / 2, context); }

  const char* name;
  std::vector<unsigned char> memory = std::vector<unsigned char>(std::size_t{128} << 10);
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT context = 0;
  DAT_RMR_CONTEXT remote = 0;
};

void connect(Side& server, Side& client) {
  const DAT_CONN_QUAL qualifier = kQualifierBase + static_cast<DAT_CONN_QUAL>(::getpid());
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  require(dat_psp_create(server.ia, qualifier, server.evd, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create");
  DAT_IA_ATTR attributes{};
  require(dat_ia_query(server.ia, nullptr, DAT_IA_FIELD_ALL, &attributes, 0, nullptr), "dat_ia_query");
  require(dat_ep_connect(client.ep, attributes.ia_address_ptr, qualifier, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_DEFAULT_FLAG),
          "dat_ep_connect");
  const DAT_EVENT request = server.next();
  require(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, server.ep, 0, nullptr), "dat_cr_accept");
  client.expect(DAT_CONNECTION_EVENT_ESTABLISHED);
  server.expect(DAT_CONNECTION_EVENT_ESTABLISHED);
}

void talk(Side& server, Side& client) {
  DAT_LMR_TRIPLET there = server.local();
  DAT_LMR_TRIPLET here = client.local();
  const DAT_RMR_TRIPLET target =
      make_remote(server.memory.data() + server.memory.size() / 2, server.memory.size() / 2, server.remote);
  require(dat_ep_post_recv(server.ep, 1, &there, {}, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_recv");
  require(dat_ep_post_send(client.ep, 1, &here, {}, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_send");
  server.expect(DAT_DTO_COMPLETION_EVENT);
  client.expect(DAT_DTO_COMPLETION_EVENT);
  require(dat_ep_post_rdma_write(client.ep, 1, &here, {}, &target, DAT_COMPLETION_DEFAULT_FLAG),
          "dat_ep_post_rdma_write");
  client.expect(DAT_DTO_COMPLETION_EVENT);
  require(dat_ep_post_rdma_read(client.ep, 1, &here, {}, &target, DAT_COMPLETION_DEFAULT_FLAG),
          "dat_ep_post_rdma_read");
  client.expect(DAT_DTO_COMPLETION_EVENT);
  require(dat_ep_disconnect(client.ep, DAT_CLOSE_GRACEFUL_FLAG), "dat_ep_disconnect");
  client.expect(DAT_CONNECTION_EVENT_DISCONNECTED);
  server.expect(DAT_CONNECTION_EVENT_DISCONNECTED);
}

int live(int failing_allocation) {
  Side server("sim0");
  Side client("sim1");
  int result = 0;
  const GeneralShortage shortage(failing_allocation, 1);
  try {
    server.open();
    client.open();
    connect(server, client);
    talk(server, client);
  } catch (const Refused& refusal) {
    std::fprintf(stderr, "refused: %s\n", refusal.what);
    result = kSessionRefused;
  }
  for (Side* side : {&client, &server}) {
    if (side->ia == DAT_HANDLE_NULL) continue;
    if (dat_ia_close(side->ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS) return kSessionCannotClose;
  }
  std::printf("%d\n", shortage.asked());
  return result;
}

}  // namespace
}  // namespace softdat::chaos

int main(int count, char** words) {
  ::alarm(softdat::chaos::kSecondsToHang);
  ::ioctl(-1, softdat::chaos::kBegin);
  const int result = softdat::chaos::live(count > 1 ? std::atoi(words[1]) : INT_MAX);
  ::ioctl(-1, softdat::chaos::kEnd);
  return result;
}
