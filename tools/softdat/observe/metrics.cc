// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/observe/metrics.h"

#include <fmt/format.h>

#include <map>

#include "tools/softdat/observe/names.h"

namespace softdat::tools::observe {
namespace {

// A value of a label: printable(), so that only these two need an escape.
std::string quoted(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter;
  }
  return '"' + result + '"';
}

// All samples of a metric must stand together, so they are collected by metric.
class Writer {
 public:
  void declare(const char* name, const char* type, const char* help) {
    texts_[name] = fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help);
    order_.push_back(name);
  }
  template <typename Value>
  void add(const std::string& name, const std::string& labels, Value value) {
    fmt::format_to(std::back_inserter(texts_.at(name)), "{}{{{}}} {}\n", name, labels, value);
    has_samples_[name] = true;
  }
  std::string text() const {
    std::string result;
    for (const std::string& name : order_) {
      if (has_samples_.contains(name)) result += texts_.at(name);
    }
    return result;
  }

 private:
  std::map<std::string, std::string> texts_;
  std::map<std::string, bool> has_samples_;
  std::vector<std::string> order_;
};

struct Declaration {
  const char* name;
  const char* type;
  const char* help;
};
constexpr Declaration kDeclarations[] = {
    {"softdat_processes", "gauge", "Processes that show their counters."},
    {"softdat_snapshot_age_seconds", "gauge", "Age of the numbers of this process."},
    {"softdat_left_out_objects", "gauge", "Objects for which the counter file has no room."},
    {"softdat_objects", "gauge", "DAT objects that are open."},
    {"softdat_endpoints", "gauge", "Endpoints in this state."},
    {"softdat_registered_bytes", "gauge", "Memory registered by dat_lmr_create."},
    {"softdat_pinned_bytes", "gauge", "Memory that the kernel keeps resident for this process."},
    {"softdat_operations_total", "counter", "Operations posted, or received, by kind."},
    {"softdat_bytes_total", "counter", "Bytes of these operations."},
    {"softdat_failed_requests_total", "counter", "Requests that completed with a failure."},
    {"softdat_failed_receives_total", "counter", "Receives that completed with a failure."},
    {"softdat_rnr_waits_total", "counter", "Sends of peers that came and found no receive."},
    {"softdat_resends_total", "counter", "How often a peer had this side send again, for want of a receive."},
    {"softdat_connect_retries_total", "counter", "Tries of a connect after the first."},
    {"softdat_ia_events_total", "counter", "Creations, ends and connection events of an adapter."},
    {"softdat_endpoint_state", "gauge", "1 for the state that the endpoint is in."},
    {"softdat_endpoint_state_seconds", "gauge", "For how long the endpoint has been in its state."},
    {"softdat_endpoint_operations_total", "counter",
     "Operations of an endpoint, by kind; kinds not used are left out."},
    {"softdat_endpoint_bytes_total", "counter", "Bytes of these operations."},
    {"softdat_endpoint_completions_total", "counter", "Completions of an endpoint, by queue and status."},
    {"softdat_endpoint_rnr_waits_total", "counter", "As softdat_rnr_waits_total."},
    {"softdat_endpoint_resends_total", "counter", "As softdat_resends_total."},
    {"softdat_endpoint_outstanding", "gauge", "Requests or receives that have not completed."},
    {"softdat_endpoint_high_water", "gauge", "The most that were outstanding at once."},
    {"softdat_endpoint_capacity", "gauge", "Room of the queue."},
    {"softdat_evd_depth", "gauge", "Events that wait in an EVD."},
    {"softdat_evd_high_water", "gauge", "The most events that waited at once."},
    {"softdat_evd_capacity", "gauge", "Room of the EVD."},
    {"softdat_evd_lost_total", "counter", "Completions lost because the EVD was full."},
    {"softdat_evd_calls_total", "counter", "Calls on an EVD and what they found."},
    {"softdat_srq_available", "gauge", "Receives that no endpoint has taken."},
    {"softdat_srq_outstanding", "gauge", "Receives whose completions have not been taken."},
    {"softdat_srq_high_water", "gauge", "The most that were outstanding at once."},
    {"softdat_srq_capacity", "gauge", "Room of the SRQ."},
};

std::string with(const std::string& labels, const char* name, const std::string& value) {
  return fmt::format("{},{}={}", labels, name, quoted(value));
}

void add_sums(Writer& out, const std::string& labels, const base::EndpointSums& sums) {
  for (std::size_t i = 0; i < kTransferNames.size(); ++i) {
    const std::string kind = with(labels, "kind", kTransferNames[i]);
    out.add("softdat_operations_total", kind, sums.transfers[i].number);
    out.add("softdat_bytes_total", kind, sums.transfers[i].bytes);
  }
  for (std::size_t i = 1; i < kStatusNames.size(); ++i) {
    const std::string status = with(labels, "status", kStatusNames[i]);
    out.add("softdat_failed_requests_total", status, sums.failed_requests[i]);
    out.add("softdat_failed_receives_total", status, sums.failed_receives[i]);
  }
  out.add("softdat_rnr_waits_total", labels, sums.rnr_waits);
  out.add("softdat_resends_total", labels, sums.resends);
  out.add("softdat_connect_retries_total", labels, sums.connect_retries);
}

void add_process(Writer& out, const std::string& labels, const Process& process) {
  const Snapshot& snapshot = process.snapshot;
  out.add("softdat_snapshot_age_seconds", labels, process.age_s);
  out.add("softdat_left_out_objects", labels, snapshot.head.left_out);
  std::map<std::string, std::size_t> states;
  for (const base::EpRecord& ep : snapshot.eps) ++states[state_name(ep.state)];
  for (const auto& [state, count] : states) out.add("softdat_endpoints", with(labels, "state", state), count);
  const std::pair<const char*, std::size_t> objects[] = {{"ia", snapshot.ias.size()},
                                                         {"ep", snapshot.eps.size()},
                                                         {"evd", snapshot.evds.size()},
                                                         {"srq", snapshot.srqs.size()},
                                                         {"lmr", snapshot.lmrs.size()}};
  for (const auto& [kind, count] : objects) out.add("softdat_objects", with(labels, "kind", kind), count);
  out.add("softdat_registered_bytes", labels, registered_bytes(snapshot));
  out.add("softdat_pinned_bytes", labels, process.pinned_bytes);
  add_sums(out, labels, snapshot.sums);
  for (const base::IaRecord& ia : snapshot.ias) {
    const std::string own = with(with(labels, "ia", printable(ia.name)), "id", id_text(ia.id));
    for (const IaEventName& event : kIaEventNames) {
      out.add("softdat_ia_events_total", with(own, "event", event.name), ia.events[event.index]);
    }
  }
}

void add_completions(Writer& out, const std::string& labels, std::uint64_t succeeded,
                     const base::CountedStatuses& failed) {
  out.add("softdat_endpoint_completions_total", with(labels, "status", kStatusNames[0]), succeeded);
  for (std::size_t i = 1; i < failed.size(); ++i) {
    if (failed[i] != 0) {
      out.add("softdat_endpoint_completions_total", with(labels, "status", kStatusNames[i]), failed[i]);
    }
  }
}

void add_queue(Writer& out, const std::string& labels, bool is_counted, std::uint32_t outstanding,
               std::uint32_t high_water, std::uint32_t capacity) {
  out.add("softdat_endpoint_outstanding", labels, outstanding);
  if (!is_counted) return;
  out.add("softdat_endpoint_high_water", labels, high_water);
  out.add("softdat_endpoint_capacity", labels, capacity);
}

void add_endpoint(Writer& out, const std::string& process, const base::EpRecord& ep, std::uint64_t now_ns) {
  const std::string labels = with(with(process, "ep", id_text(ep.id)), "remote", printable(ep.remote));
  out.add("softdat_endpoint_state", with(labels, "state", state_name(ep.state)), 1);
  out.add("softdat_endpoint_state_seconds", labels, seconds(ep.state_ns, now_ns));
  for (std::size_t i = 0; i < kTransferNames.size(); ++i) {
    if (ep.sums.transfers[i].number == 0) continue;
    const std::string kind = with(labels, "kind", kTransferNames[i]);
    out.add("softdat_endpoint_operations_total", kind, ep.sums.transfers[i].number);
    out.add("softdat_endpoint_bytes_total", kind, ep.sums.transfers[i].bytes);
  }
  const std::string send = with(labels, "queue", "request");
  const std::string recv = with(labels, "queue", "recv");
  add_completions(out, send, ep.completed_requests, ep.sums.failed_requests);
  add_completions(out, recv, ep.completed_receives, ep.sums.failed_receives);
  const bool is_counted = counts_all(ep);
  if (is_counted) {
    out.add("softdat_endpoint_rnr_waits_total", labels, ep.sums.rnr_waits);
    out.add("softdat_endpoint_resends_total", labels, ep.sums.resends);
  }
  add_queue(out, send, is_counted, ep.sends_outstanding, ep.send_high_water, ep.send_capacity);
  add_queue(out, recv, is_counted, ep.recvs_outstanding, ep.recv_high_water, ep.recv_capacity);
}

void add_queues(Writer& out, const std::string& process, const Snapshot& snapshot) {
  for (const base::EvdRecord& evd : snapshot.evds) {
    const std::string labels = with(with(process, "evd", id_text(evd.id)), "streams", streams_text(evd.streams));
    out.add("softdat_evd_depth", labels, evd.depth);
    out.add("softdat_evd_high_water", labels, evd.high_water);
    out.add("softdat_evd_capacity", labels, evd.capacity);
    out.add("softdat_evd_lost_total", labels, evd.lost);
    for (std::size_t i = 0; i < evd.calls.size(); ++i) {
      out.add("softdat_evd_calls_total", with(labels, "call", kEvdCallNames[i]), evd.calls[i]);
    }
  }
  for (const base::SrqRecord& srq : snapshot.srqs) {
    const std::string labels = with(process, "srq", id_text(srq.id));
    out.add("softdat_srq_available", labels, srq.available);
    out.add("softdat_srq_outstanding", labels, srq.outstanding);
    out.add("softdat_srq_high_water", labels, srq.high_water);
    out.add("softdat_srq_capacity", labels, srq.capacity);
  }
}

}  // namespace

std::string to_metrics(const std::vector<Process>& processes, bool with_endpoints) {
  Writer out;
  for (const Declaration& each : kDeclarations) out.declare(each.name, each.type, each.help);
  for (const Process& process : processes) {
    const std::string labels = fmt::format("pid=\"{}\",program={}", process.pid, quoted(process.program));
    add_process(out, labels, process);
    if (!with_endpoints) continue;
    for (const base::EpRecord& ep : process.snapshot.eps) {
      add_endpoint(out, labels, ep, process.snapshot.head.published_ns);
    }
    add_queues(out, labels, process.snapshot);
  }
  return fmt::format("# HELP softdat_processes {}\n# TYPE softdat_processes gauge\nsoftdat_processes {}\n",
                     kDeclarations[0].help, processes.size()) +
         out.text();
}

}  // namespace softdat::tools::observe
