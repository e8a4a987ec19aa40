// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/doctor/worker.h"

#include <dat2/udat.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "tools/softdat/captured_output.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/event_names.h"
#include "tools/softdat/output.h"

namespace softdat::tools::doctor {
namespace {

constexpr DAT_TIMEOUT kPatience = 20'000'000;  // microseconds
constexpr DAT_COUNT kQueue = 16;

// Both ends of a connection in one thread and on one EVD: the least that shows that an adapter works.
class Trial {
 public:
  ~Trial() {
    // Abruptly, which frees all that was made on the adapter, in whatever state an error has left it.
    if (ia_ != DAT_HANDLE_NULL) dat_ia_close(ia_, DAT_CLOSE_ABRUPT_FLAG);
  }

  void run() {
    open();
    connect();
    write();
  }

 private:
  void open() {
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    std::string name = "sim0";
    require(dat_ia_open(name.data(), kQueue, &async, &ia_), "dat_ia_open");
    require(dat_pz_create(ia_, &pz_), "dat_pz_create");
    const auto flags = static_cast<DAT_EVD_FLAGS>(DAT_EVD_DTO_FLAG | DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG);
    require(dat_evd_create(ia_, kQueue, DAT_HANDLE_NULL, flags, &evd_), "dat_evd_create");
    for (DAT_EP_HANDLE* ep : {&active_, &passive_}) {
      require(dat_ep_create(ia_, pz_, evd_, evd_, evd_, nullptr, ep), "dat_ep_create");
    }
  }

  void connect() {
    DAT_IA_ATTR attributes{};
    require(dat_ia_query(ia_, nullptr, DAT_IA_ALL, &attributes, 0, nullptr), "dat_ia_query");
    // No other doctor of this machine has it.
    const DAT_CONN_QUAL qual = DAT_CONN_QUAL{1} << 41 | static_cast<DAT_CONN_QUAL>(::getpid());
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    require(dat_psp_create(ia_, qual, evd_, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create");
    require(dat_ep_connect(active_, attributes.ia_address_ptr, qual, kPatience, 0, nullptr, DAT_QOS_BEST_EFFORT,
                           DAT_CONNECT_DEFAULT_FLAG),
            "dat_ep_connect");
    const DAT_EVENT request = await(DAT_CONNECTION_REQUEST_EVENT);
    require(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, passive_, 0, nullptr), "dat_cr_accept");
    // Each of the two endpoints has its own, in any order.
    await(DAT_CONNECTION_EVENT_ESTABLISHED);
    await(DAT_CONNECTION_EVENT_ESTABLISHED);
  }

  void write() {
    DAT_REGION_DESCRIPTION region{};
    region.for_va = bytes_.data();
    DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
    DAT_LMR_TRIPLET from{};
    DAT_RMR_TRIPLET to{};
    require(dat_lmr_create(ia_, DAT_MEM_TYPE_VIRTUAL, region, bytes_.size(), pz_, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA,
                           &lmr, &from.lmr_context, &to.rmr_context, nullptr, nullptr),
            "dat_lmr_create");
    const std::size_t half = bytes_.size() / 2;
    std::fill_n(bytes_.begin(), half, 'x');
    from.virtual_address = reinterpret_cast<DAT_VADDR>(bytes_.data());
    to.virtual_address = from.virtual_address + half;
    from.segment_length = half;
    to.segment_length = static_cast<DAT_VLEN>(half);
    require(dat_ep_post_rdma_write(active_, 1, &from, {}, &to, DAT_COMPLETION_DEFAULT_FLAG), "dat_ep_post_rdma_write");
    const DAT_EVENT done = await(DAT_DTO_COMPLETION_EVENT);
    const DAT_DTO_COMPLETION_STATUS status = done.event_data.dto_completion_event_data.status;
    if (status != DAT_DTO_SUCCESS) throw Failure("an RDMA write ended with " + completion_status_text(status));
    if (bytes_.back() != 'x') throw Failure("an RDMA write did not arrive");
  }

  DAT_EVENT await(DAT_EVENT_NUMBER wanted) {
    DAT_EVENT event{};
    DAT_COUNT more = 0;
    require(dat_evd_wait(evd_, kPatience, 1, &event, &more), "dat_evd_wait");
    if (event.event_number != wanted) {
      throw Failure(fmt::format("{} came instead of {}", event_text(event.event_number), event_text(wanted)));
    }
    return event;
  }

  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE evd_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE active_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE passive_ = DAT_HANDLE_NULL;
  std::array<char, 128> bytes_{};
};

}  // namespace

int run_worker() {
  // Dies with the doctor; else a worker that hangs would stay.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string outcome = kWorks;
  std::vector<std::string> remarks;
  {
    // The provider's words go to the parent as remarks, behind the trial and before its outcome.
    const CapturedOutput captured;
    try {
      Trial trial;
      trial.run();
    } catch (const Failure& failure) {
      outcome = failure.what();
    }
    remarks = captured.lines();
  }
  for (const std::string& remark : remarks) print_out(kRemark + remark + '\n');
  print_out(outcome + '\n');
  return 0;
}

}  // namespace softdat::tools::doctor
