// SPDX-License-Identifier: BSD-2-Clause
// SpareDescriptor: a descriptor that is kept for the moment at which the process has no other. Without it, a listener
// that may not accept would leave its peers waiting. Baton only.
#pragma once

#include "base/unique_fd.h"

namespace softdat::transport::tcp {

class SpareDescriptor {
 public:
  SpareDescriptor();

  // After accept() on `listener` found no free descriptor: closes the one that was kept, accepts a peer with its number
  // and closes that connection, then keeps another one.
  enum class TurnedAway { kOne, kNobodyThere, kNoSpare };
  TurnedAway turn_away(int listener);

 private:
  base::UniqueFd spare_;
};

}  // namespace softdat::transport::tcp
