// SPDX-License-Identifier: BSD-2-Clause
// A connection between two NICs with fault plans, on the loop network with driven time.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/fault_plan.h"
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {

// A file that goes with its owner.
class LogFile {
 public:
  LogFile() {
    std::string name = ::testing::TempDir() + "softdat_faults_XXXXXX";
    const int file = ::mkstemp(name.data());
    EXPECT_GE(file, 0);
    ::close(file);
    path_ = name;
  }
  ~LogFile() { ::unlink(path_.c_str()); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  const std::string& path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};

inline Injector make_injector(const std::string& text, const std::string& process, const LogFile& log) {
  auto plan = base::read_fault_plan(text);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.reason().text);
  return std::make_shared<const fault::Injector>(plan.ok() ? std::move(plan).value() : base::FaultPlan{}, process,
                                                 "sim0", std::make_shared<fault::Journal>(log.path()));
}

// Processes "here" and "there" obey the same plan, as two processes do.
class FaultTest : public ::testing::Test {
 protected:
  void use(const std::string& plan, RnrPolicy rnr = RnrPolicy::kWait) {
    active_.reset();
    passive_.reset();
    world_ = std::make_unique<World>(transport::loop::LoopOptions{}, rnr, base::Duration::zero(),
                                     make_injector(plan, "here", log_), make_injector(plan, "there", log_));
    active_ = std::make_unique<Endpoint>(here());
    passive_ = std::make_unique<Endpoint>(there());
  }
  void connect(const std::string& plan, RnrPolicy rnr = RnrPolicy::kWait) {
    use(plan, rnr);
    world_->connect(*active_, *passive_);
  }
  void TearDown() override {
    active_.reset();
    passive_.reset();
    world_.reset();
  }
  void settle() { world_->settle(); }
  Host& here() { return world_->here(); }
  Host& there() { return world_->there(); }

  LogFile log_;
  std::unique_ptr<World> world_;
  std::unique_ptr<Endpoint> active_;
  std::unique_ptr<Endpoint> passive_;
};

// The same with memory on each side: sixteen bytes are there to be sent, and there is room for as many.
class TransferFaultTest : public FaultTest {
 protected:
  void begin(const std::string& plan, RnrPolicy rnr = RnrPolicy::kWait) {
    from_.reset();
    to_.reset();
    connect(plan, rnr);
    from_ = std::make_unique<Memory>(here(), bytes("0123456789abcdef"));
    to_ = std::make_unique<Memory>(there(), 16);
  }
  // Sends 1 to `count`, a byte each, after their receives.
  void send_numbered(std::uint64_t count) {
    for (std::uint64_t i = 1; i <= count; ++i) expect_ok(passive_->recv(i, {to_->segment(i, 1)}));
    for (std::uint64_t i = 1; i <= count; ++i) expect_ok(active_->send(i, {from_->segment(i, 1)}));
    settle();
  }
  void TearDown() override {
    from_.reset();
    to_.reset();
    FaultTest::TearDown();
  }

  std::unique_ptr<Memory> from_;
  std::unique_ptr<Memory> to_;
};

}  // namespace softdat::simnic::testing
