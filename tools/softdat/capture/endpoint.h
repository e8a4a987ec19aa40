// SPDX-License-Identifier: BSD-2-Clause
// The adapter, memory and endpoint with which a replay plays its side; and the program beside it.
#pragma once

#include <dat2/udat.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/softdat/capture/script.h"
#include "tools/softdat/perf/adapter.h"
#include "tools/softdat/perf/event_queue.h"

namespace softdat::tools::capture {

// The program does not do what was recorded; the words say what.
class Difference : public Failure {
 public:
  using Failure::Failure;
};

// Memory at the addresses of the recorded run, so that the program computes the same ones.
class RegionAt {
 public:
  // Failure when the addresses are in use here.
  RegionAt(const perf::Adapter& adapter, const RecordedRegion& region);
  ~RegionAt();
  RegionAt(const RegionAt&) = delete;
  RegionAt& operator=(const RegionAt&) = delete;

  std::uint32_t key() const { return rmr_context_; }
  std::span<std::byte> bytes(std::uint64_t address, std::size_t length) const;

 private:
  const std::uint64_t begin_;
  void* map_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;  // of begin_
  DAT_LMR_HANDLE lmr_ = DAT_HANDLE_NULL;
  DAT_RMR_CONTEXT rmr_context_ = 0;
};

// An endpoint with its receives. One thread.
class Endpoint {
 public:
  // `watch` is called now and then while something is awaited; throws Difference when it will never come.
  Endpoint(const perf::Adapter& adapter, std::size_t receives, std::size_t longest, double patience_s,
           std::function<void()> watch);

  // Waits for a connection to that service. Returns the private data; answer() follows.
  void listen(std::uint64_t service);
  Bytes await_request();
  void answer(const Bytes& private_data, bool is_rejected);
  // Connects. Tries again while no program listens. Nothing: the program rejected the connection.
  std::optional<Bytes> connect(const std::string& address, std::uint64_t service, const Bytes& private_data);

  // Each waits for its completion. `what` names it in a Difference.
  void send(const Bytes& bytes, const std::string& what);
  void write(const Bytes& bytes, std::uint32_t key, std::uint64_t address, const std::string& what);
  Bytes read(std::size_t length, std::uint32_t key, std::uint64_t address, const std::string& what);
  Bytes change(const Message& message, std::uint32_t key, std::uint64_t address, const std::string& what);
  // The next send of the program's.
  Bytes receive(const std::string& what);
  // Whether a send has come that was not asked for.
  bool has_more();
  // False: the connection broke.
  bool await_disconnect();
  void disconnect();

 private:
  struct Waited {
    bool is_there = false;
    DAT_EVENT event{};
  };
  Waited wait(perf::EventQueue& queue, double seconds);
  DAT_EVENT await(perf::EventQueue& queue, const std::string& what);
  void await_done(const std::string& what);
  void post_receive(std::size_t slot);
  DAT_LMR_TRIPLET staged(std::size_t length);
  void make_endpoint();

  const perf::Adapter& adapter_;
  const double patience_s_;
  const std::function<void()> watch_;
  const std::size_t slot_size_;
  const std::size_t slots_;
  perf::EventQueue requests_;
  perf::EventQueue arrivals_;
  perf::EventQueue connections_;
  perf::Region received_;
  std::unique_ptr<perf::Region> staged_;
  std::size_t next_ = 0;  // receive to complete
  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
  DAT_PSP_HANDLE psp_ = DAT_HANDLE_NULL;
  DAT_CR_HANDLE request_ = DAT_HANDLE_NULL;
};

}  // namespace softdat::tools::capture
