// SPDX-License-Identifier: BSD-2-Clause
// Two hosts and a cable between them: network namespaces of this process, joined by a veth pair. Needs root.
#pragma once

#include <sys/types.h>

#include "base/unique_fd.h"

namespace softdat::chaos {

inline constexpr const char* kNearAddress = "10.77.0.1";
inline constexpr const char* kFarAddress = "10.77.0.2";

class Cable {
 public:
  // Makes both hosts; the calling thread, and what it starts, is then at the near one. Back at its own when it goes.
  Cable();
  ~Cable();
  Cable(const Cable&) = delete;
  Cable& operator=(const Cable&) = delete;

  // False: this system does not let us.
  bool is_there() const { return is_there_; }

  void go_near() const;
  void go_far() const;

  void pull() const;
  void plug() const;

 private:
  bool make();
  bool run_far(const char* command) const;

  base::UniqueFd own_;
  base::UniqueFd near_;
  base::UniqueFd far_;
  pid_t holder_ = -1;  // a process at the far host, by which `ip` finds it
  bool is_there_ = false;
};

}  // namespace softdat::chaos
