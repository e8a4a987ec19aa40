// SPDX-License-Identifier: BSD-2-Clause
// CnoTrigger: the CNO of an EVD, and whether the EVD triggers it.
//
// Owned by the EVD. Any thread. The CNO counts the EVD among its users as long as it is the EVD's.
#pragma once

#include <memory>

#include "libdat/object/lock_places.h"
#include "libdat/object/object.h"
#include "libdat/object/status.h"

namespace softdat::object {

class ConsumerNotification;
class FeedingStreams;

class CnoTrigger {
 public:
  // Both outlive this object. `evd` is the one that the CNO is told of.
  CnoTrigger(const Object& evd, const FeedingStreams& streams);
  ~CnoTrigger();

  Status enable();   // dat_evd_enable
  Status disable();  // dat_evd_disable
  // dat_evd_modify_cno; null detaches. INVALID_HANDLE if the CNO is of another device or is being freed.
  Status modify_cno(ConsumerNotification* cno);
  // The EVD is being freed. Its CNO unblocks all waiters when that was the last of its EVDs.
  void end();

  // Whether trigger() reaches a CNO.
  bool is_heard() const;
  void trigger();

  // Both values are read at one moment. `cno` is null when there is none.
  struct Settings {
    Handle cno;
    bool is_enabled;
  };
  Settings settings() const;

 private:
  const Object& evd_;
  const FeedingStreams& streams_;

  // Guarded by mutex_ (taken before a CNO's lock, not held while a device is called).
  mutable base::Mutex<locks::kCnoTrigger> mutex_;
  std::shared_ptr<ConsumerNotification> cno_;
  bool is_enabled_ = true;
};

}  // namespace softdat::object
