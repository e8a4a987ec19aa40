// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/sanitize/ledger.h"

#include <pthread.h>

#include "base/fault_guard.h"
#include "base/uncancelled.h"
#include "libdat/sanitize/finding.h"
#include "libdat/sanitize/page_guard.h"
#include "libdat/sanitize/settings.h"

namespace softdat::sanitize {
namespace {

[[gnu::destructor]] void report_at_exit() {
  if (mode() == Mode::kFull) PageGuard::instance().tell_accesses();
  if (mode() != Mode::kOff) report_counts();
}

}  // namespace

Ledger::Ledger() {
  const base::Uncancelled guard;
  // Checksums read memory that may be gone.
  base::install_fault_guard();
  ::pthread_atfork(prepare_for_fork, continue_in_parent, start_afresh_in_child);
}

Ledger& Ledger::instance() {
  static auto* const ledger = new Ledger;  // Used until the very end of the process.
  return *ledger;
}

// The locks are held over fork(), so that the child gets a state that no thread is changing.
void Ledger::prepare_for_fork() {
  instance().state_.mutex.lock();
  if (mode() == Mode::kFull) PageGuard::instance().prepare_for_fork();
}

void Ledger::continue_in_parent() {
  if (mode() == Mode::kFull) PageGuard::instance().continue_after_fork(false);
  instance().state_.mutex.unlock();
}

void Ledger::start_afresh_in_child() {
  if (mode() == Mode::kFull) PageGuard::instance().continue_after_fork(true);
  LedgerEvents::start_afresh_in_child();
  LedgerState& state = instance().state_;
  state.start_afresh_locked();
  state.mutex.unlock();
}

}  // namespace softdat::sanitize
