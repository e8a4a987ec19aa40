// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/observe/json.h"

#include <nlohmann/json.hpp>

#include "tools/softdat/observe/names.h"

namespace softdat::tools::observe {
namespace {

using Json = nlohmann::ordered_json;

// Changes when a name or a meaning does; new names alone do not change it.
constexpr int kFormat = 1;

Json to_json(const base::CountedTransfers& transfers, std::uint64_t base::CountedTransfer::*what) {
  Json json = Json::object();
  for (std::size_t i = 0; i < transfers.size(); ++i) json[kTransferNames[i]] = transfers[i].*what;
  return json;
}

// Without the first, which says how many succeeded.
Json to_json(const base::CountedStatuses& statuses) {
  Json json = Json::object();
  for (std::size_t i = 1; i < statuses.size(); ++i) json[kStatusNames[i]] = statuses[i];
  return json;
}

Json to_json(const base::EndpointSums& sums) {
  return {{"operations", to_json(sums.transfers, &base::CountedTransfer::number)},
          {"bytes", to_json(sums.transfers, &base::CountedTransfer::bytes)},
          {"failed_requests", to_json(sums.failed_requests)},
          {"failed_receives", to_json(sums.failed_receives)},
          {"rnr_waits", sums.rnr_waits},
          {"resends", sums.resends},
          {"connect_retries", sums.connect_retries}};
}

Json to_json(const base::IaRecord& ia) {
  Json events = Json::object();
  for (const IaEventName& event : kIaEventNames) events[event.name] = ia.events[event.index];
  return {{"id", id_text(ia.id)},
          {"name", printable(ia.name)},
          {"address", printable(ia.address)},
          {"vendor", printable(ia.vendor)},
          {"direct_access", printable(ia.direct)},
          {"events", events}};
}

// Numbers that the endpoint's device does not count are null.
Json if_counted(bool is_counted, std::uint32_t number) {
  return is_counted ? Json(number) : Json(nullptr);
}

Json queue_json(bool is_counted, std::uint32_t outstanding, std::uint32_t high_water, std::uint32_t capacity) {
  return {{"outstanding", outstanding},
          {"high_water", if_counted(is_counted, high_water)},
          {"capacity", if_counted(is_counted, capacity)}};
}

Json id_json(std::uint64_t id) {
  return id == 0 ? Json(nullptr) : Json(id_text(id));
}

Json to_json(const base::EpRecord& ep, const Snapshot& snapshot) {
  const bool is_counted = counts_all(ep);
  Json json{{"id", id_text(ep.id)},
            {"ia", id_text(ep.ia)},
            {"state", state_name(ep.state)},
            {"state_seconds", seconds(ep.state_ns, snapshot.head.published_ns)},
            {"remote", printable(ep.remote)},
            {"remote_qualifier", ep.remote_qual},
            {"datagram", ep.is_datagram != 0},
            {"request_evd", id_json(ep.request_evd)},
            {"recv_evd", id_json(ep.recv_evd)},
            {"connect_evd", id_json(ep.connect_evd)},
            {"srq", id_json(ep.srq)},
            {"connects", ep.connects},
            {"disconnects", ep.disconnects},
            {"completed_requests", ep.completed_requests},
            {"completed_receives", ep.completed_receives},
            {"send_queue", queue_json(is_counted, ep.sends_outstanding, ep.send_high_water, ep.send_capacity)},
            {"recv_queue", queue_json(is_counted, ep.recvs_outstanding, ep.recv_high_water, ep.recv_capacity)}};
  json.update(to_json(ep.sums));
  if (!is_counted) {
    for (const char* const name : {"failed_requests", "failed_receives", "rnr_waits", "resends", "connect_retries"}) {
      json[name] = nullptr;
    }
  }
  Json failures = Json::array();
  for (const base::FailureRecord& failure : snapshot.failures) {
    if (failure.ep != ep.id) continue;
    failures.push_back(
        {{"seconds_ago", seconds(failure.when_ns, snapshot.head.published_ns)}, {"text", printable(failure.text)}});
  }
  json["failures"] = failures;
  return json;
}

Json to_json(const base::EvdRecord& evd) {
  Json calls = Json::object();
  for (std::size_t i = 0; i < evd.calls.size(); ++i) calls[kEvdCallNames[i]] = evd.calls[i];
  return {{"id", id_text(evd.id)},
          {"ia", id_text(evd.ia)},
          {"streams", streams_text(evd.streams)},
          {"depth", evd.depth},
          {"high_water", evd.high_water},
          {"capacity", evd.capacity},
          {"lost", evd.lost},
          {"calls", calls}};
}

Json to_json(const base::SrqRecord& srq) {
  return {{"id", id_text(srq.id)},
          {"ia", id_text(srq.ia)},
          {"available", srq.available},
          {"outstanding", srq.outstanding},
          {"high_water", srq.high_water},
          {"capacity", srq.capacity},
          {"low_watermark", srq.low_watermark}};
}

Json to_json(const base::LmrRecord& lmr) {
  return {{"id", id_text(lmr.id)}, {"ia", id_text(lmr.ia)}, {"bytes", lmr.bytes}, {"privileges", lmr.privileges}};
}

template <typename Record>
Json list(const std::vector<Record>& records) {
  Json json = Json::array();
  for (const Record& record : records) json.push_back(to_json(record));
  return json;
}

Json to_json(const Process& process) {
  const Snapshot& snapshot = process.snapshot;
  Json json{{"pid", process.pid},
            {"start", process.start},
            {"program", process.program},
            {"age_seconds", process.age_s},
            {"left_out", snapshot.head.left_out},
            {"registered_bytes", registered_bytes(snapshot)},
            {"pinned_bytes", process.pinned_bytes}};
  json.update(to_json(snapshot.sums));
  json["ias"] = list(snapshot.ias);
  Json endpoints = Json::array();
  for (const base::EpRecord& ep : snapshot.eps) endpoints.push_back(to_json(ep, snapshot));
  json["endpoints"] = endpoints;
  json["evds"] = list(snapshot.evds);
  json["srqs"] = list(snapshot.srqs);
  json["regions"] = list(snapshot.lmrs);
  return json;
}

}  // namespace

std::string to_json(const std::vector<Process>& processes) {
  Json list = Json::array();
  for (const Process& process : processes) list.push_back(to_json(process));
  return Json{{"softdat_top", kFormat}, {"processes", list}}.dump(2) + "\n";
}

}  // namespace softdat::tools::observe
