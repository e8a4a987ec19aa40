// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/perf/json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/perf/machine.h"

namespace softdat::tools::perf {
namespace {

using Json = nlohmann::ordered_json;

// The texts cross processes and hosts; another version must not be misunderstood.
constexpr int kVersion = 3;

Json to_json(const Setup& setup) {
  return {{"endpoints", setup.endpoints},
          {"active", setup.active},
          {"depth", setup.depth},
          {"window", setup.window},
          {"max_size", setup.max_size},
          {"pause_us", setup.pause_us},
          {"wait", to_text(setup.waiting)},
          {"target", to_text(setup.target)},
          {"verify", setup.verify},
          {"memory_only", setup.memory_only},
          {"polls_first", setup.polls_first},
          {"event_queues", setup.event_queues},
          {"threads", setup.threads},
          {"fresh_memory", setup.fresh_memory}};
}

Setup setup_of(const Json& json) {
  Setup setup;
  json.at("endpoints").get_to(setup.endpoints);
  json.at("active").get_to(setup.active);
  json.at("depth").get_to(setup.depth);
  json.at("window").get_to(setup.window);
  json.at("max_size").get_to(setup.max_size);
  json.at("pause_us").get_to(setup.pause_us);
  setup.waiting = waiting_of(json.at("wait").get<std::string>()).value();
  setup.target = target_of(json.at("target").get<std::string>()).value();
  json.at("verify").get_to(setup.verify);
  json.at("memory_only").get_to(setup.memory_only);
  json.at("polls_first").get_to(setup.polls_first);
  json.at("event_queues").get_to(setup.event_queues);
  json.at("threads").get_to(setup.threads);
  json.at("fresh_memory").get_to(setup.fresh_memory);
  return setup;
}

Json to_json(const Case& what) {
  return {{"measure", to_text(what.measure)},
          {"operation", to_text(what.operation)},
          {"size", what.size},
          {"window", what.window},
          {"signal_every", what.signal_every},
          {"iterations", what.iterations},
          {"duration_s", what.duration_s}};
}

Case case_of(const Json& json) {
  Case what;
  what.measure = measure_of(json.at("measure").get<std::string>()).value();
  what.operation = operation_of(json.at("operation").get<std::string>()).value();
  json.at("size").get_to(what.size);
  json.at("window").get_to(what.window);
  json.at("signal_every").get_to(what.signal_every);
  json.at("iterations").get_to(what.iterations);
  json.at("duration_s").get_to(what.duration_s);
  return what;
}

Json to_json(const Result& result) {
  return {{"case", to_json(result.what)},
          {"iterations", result.iterations},
          {"seconds", result.seconds},
          {"quantiles", result.quantiles},
          {"mean_us", result.mean_us},
          {"messages_per_s", result.messages_per_s},
          {"megabytes_per_s", result.megabytes_per_s},
          {"figures", result.figures},
          {"unavailable", result.unavailable}};
}

Result result_of(const Json& json) {
  Result result;
  result.what = case_of(json.at("case"));
  json.at("iterations").get_to(result.iterations);
  json.at("seconds").get_to(result.seconds);
  json.at("quantiles").get_to(result.quantiles);
  json.at("mean_us").get_to(result.mean_us);
  json.at("messages_per_s").get_to(result.messages_per_s);
  json.at("megabytes_per_s").get_to(result.megabytes_per_s);
  json.at("figures").get_to(result.figures);
  json.at("unavailable").get_to(result.unavailable);
  return result;
}

// What is wrong with a text is said in our words: the other side may be another program.
template <typename Decode>
auto parse(const std::string& text, Decode decode) {
  try {
    const Json json = Json::parse(text);
    if (json.at("softdat_perf") != kVersion)
      throw Failure("the other side is another version of softdat perf; install the same on both");
    return decode(json);
  } catch (const nlohmann::json::exception&) {
    throw Failure("the other side does not speak as softdat perf does: " + text.substr(0, 80));
  } catch (const std::bad_optional_access&) {
    throw Failure("the other side is another version of softdat perf; install the same on both");
  }
}

std::string finish(Json json) {
  json["softdat_perf"] = kVersion;
  return json.dump();
}

// The form of a result that other programs read: named figures instead of a thousand quantiles.
Json published(const Result& result) {
  Json json{{"measure", to_text(result.what.measure)}};
  if (has_traffic(result.what.measure)) {
    json["operation"] = to_text(result.what.operation);
    json["bytes"] = result.what.size;
  }
  if (!result.unavailable.empty()) {
    json["unavailable"] = result.unavailable;
    return json;
  }
  json["iterations"] = result.iterations;
  json["seconds"] = result.seconds;
  if (!result.quantiles.empty()) {
    json["latency_us"] = {{"min", result.quantile(0)},       {"median", result.quantile(0.5)},
                          {"mean", result.mean_us},          {"p99", result.quantile(0.99)},
                          {"p99.9", result.quantile(0.999)}, {"max", result.quantile(1)}};
  }
  if (result.messages_per_s > 0) json["messages_per_s"] = result.messages_per_s;
  if (result.megabytes_per_s > 0) {
    json["megabytes_per_s"] = result.megabytes_per_s;
    json["window"] = result.what.window;
  }
  for (const auto& [name, value] : result.figures) json[name] = value;
  return json;
}

}  // namespace

std::string encode(const Job& job) {
  Json cases = Json::array();
  for (const Case& what : job.cases) cases.push_back(to_json(what));
  return finish({{"server", job.is_server},
                 {"ia", job.ia},
                 {"host", job.host},
                 {"qual", job.qual},
                 {"cpu", job.cpu},
                 {"setup", to_json(job.setup)},
                 {"cases", cases},
                 {"samples", job.samples}});
}

Job decode_job(const std::string& text) {
  return parse(text, [](const Json& json) {
    Job job;
    json.at("server").get_to(job.is_server);
    json.at("ia").get_to(job.ia);
    json.at("host").get_to(job.host);
    json.at("qual").get_to(job.qual);
    json.at("cpu").get_to(job.cpu);
    job.setup = setup_of(json.at("setup"));
    for (const Json& what : json.at("cases")) job.cases.push_back(case_of(what));
    json.at("samples").get_to(job.samples);
    return job;
  });
}

std::string encode(const Case& what) {
  return finish(to_json(what));
}
Case decode_case(const std::string& text, const Setup& setup) {
  const Case what = parse(text, case_of);
  if (!fits(what, setup)) {
    throw Failure(fmt::format(
        "the other side asks for messages of {} bytes, {} at a time; its setup has room for {}, {} at a time",
        what.size, what.window, setup.max_size, setup.window));
  }
  return what;
}
std::string encode(const Result& result) {
  return finish(to_json(result));
}
Result decode_result(const std::string& text) {
  return parse(text, result_of);
}

std::string encode(const Hello& hello) {
  return finish({{"setup", to_json(hello.setup)},
                 {"address", hello.memory.virtual_address},
                 {"length", hello.memory.segment_length},
                 {"context", hello.memory.rmr_context}});
}

Hello decode_hello(const std::string& text) {
  return parse(text, [](const Json& json) {
    Hello hello;
    hello.setup = setup_of(json.at("setup"));
    if (!is_possible(hello.setup)) throw Failure("the other side asks for a setup that softdat perf does not make");
    json.at("address").get_to(hello.memory.virtual_address);
    json.at("length").get_to(hello.memory.segment_length);
    json.at("context").get_to(hello.memory.rmr_context);
    return hello;
  });
}

std::string encode(const Report& report) {
  return finish({{"messages_per_s", report.messages_per_s},
                 {"cpu_seconds", report.cpu_seconds},
                 {"context_switches", report.context_switches},
                 {"bytes_per_endpoint", report.bytes_per_endpoint},
                 {"files_per_endpoint", report.files_per_endpoint}});
}

Report decode_report(const std::string& text) {
  return parse(text, [](const Json& json) {
    Report report;
    json.at("messages_per_s").get_to(report.messages_per_s);
    json.at("cpu_seconds").get_to(report.cpu_seconds);
    json.at("context_switches").get_to(report.context_switches);
    json.at("bytes_per_endpoint").get_to(report.bytes_per_endpoint);
    json.at("files_per_endpoint").get_to(report.files_per_endpoint);
    return report;
  });
}

std::string report_file(const Setup& setup, const std::string& ia, const std::string& transport, int processes,
                        const std::vector<Result>& results) {
  Json list = Json::array();
  for (const Result& result : results) list.push_back(published(result));
  const Json file{{"softdat_perf", kVersion},
                  {"machine", {{"processor", processor_name()}, {"processors", allowed_processors().size()}}},
                  {"ia", ia},
                  {"transport", transport},
                  {"processes", processes},
                  {"setup", to_json(setup)},
                  {"results", list}};
  return file.dump(2) + "\n";
}

}  // namespace softdat::tools::perf
