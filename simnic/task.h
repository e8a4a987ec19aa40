// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>

namespace softdat::simnic {

// Something the engine can be asked to attend to; a queue pair is one. Lives in the engine's lists
// without allocation, so it must be forgotten (BatonWork::forget) before it is destroyed.
class Task {
 public:
  virtual ~Task() = default;

  // Does what there is to do now. May be called when there is nothing.
  virtual void run_with_baton() = 0;

 private:
  friend class DoorbellList;
  friend class BatonWork;

  // Set by a ringer, cleared by the holder of the baton just before it runs the task.
  std::atomic<bool> is_rung_{false};
  Task* next_rung_ = nullptr;  // owned by the ringer until published, then by the list
  // Owned by the baton.
  using DueHook = boost::intrusive::list_member_hook<>;
  DueHook due_now_;
  DueHook due_later_;
};

}  // namespace softdat::simnic
