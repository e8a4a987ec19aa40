// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger.h"

#include <memory>
#include <utility>

#include "base/fault_guard.h"
#include "base/forks.h"
#include "base/made_once.h"
#include "base/uncancelled.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/page_guard.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
namespace {

// What the forking thread holds.
thread_local constinit Ledger* t_held = nullptr;

[[gnu::destructor]] void report_at_exit() {
  if (mode() == Mode::kFull) PageGuard::instance().tell_accesses();
  if (mode() != Mode::kOff) report_counts();
}

}  // namespace

constinit std::atomic<Ledger*> Ledger::process_{nullptr};

Ledger::Ledger() {
  const base::Uncancelled guard;
  // Checksums read memory that may be gone.
  base::install_fault_guard();
}

Ledger& Ledger::instance() {
  return base::made_once(process_, [] { return std::unique_ptr<Ledger>(new Ledger); });
}

// The locks are held over fork(), so that the child gets a state that no thread is changing.
void Ledger::prepare_for_fork() {
  t_held = process_.load(std::memory_order_acquire);
  if (t_held == nullptr) return;
  t_held->state_.mutex.lock();
  if (mode() == Mode::kFull) PageGuard::instance().prepare_for_fork();
}

void Ledger::continue_in_parent() {
  if (t_held == nullptr) return;
  if (mode() == Mode::kFull) PageGuard::instance().continue_after_fork(false);
  std::exchange(t_held, nullptr)->state_.mutex.unlock();
}

void Ledger::start_afresh_in_child() {
  // One that another thread made since prepare_for_fork() may be locked for ever.
  if (t_held == nullptr) return process_.store(nullptr, std::memory_order_relaxed);
  if (mode() == Mode::kFull) PageGuard::instance().continue_after_fork(true);
  LedgerEvents::start_afresh_in_child();
  LedgerState& state = std::exchange(t_held, nullptr)->state_;
  state.start_afresh_locked();
  state.mutex.unlock();
}

// Handlers of this kind run in the reverse order of their constructors: the ledger's lock comes after those of memory
// (memory/fork_handlers.cc) in the order of locks.
void Ledger::hold_in_forks() {
  base::on_fork({.prepare = prepare_for_fork});
}

// And these in that order: a child has its memory to itself by then.
void Ledger::go_on_after_forks() {
  base::on_fork({.in_parent = continue_in_parent, .in_child = start_afresh_in_child});
}

}  // namespace softdat::sanitize
