// SPDX-License-Identifier: BSD-2-Clause
// Where peers of shared memory meet. The version of the segment is part of the names, so that builds which do not
// understand each other do not find each other.
#pragma once

#include <string>

#include "transport/rendezvous.h"
#include "transport/shm/segment.h"

namespace softdat::transport::shm {

class SegmentRendezvous final : public Rendezvous {
 public:
  SegmentRendezvous() : Rendezvous(std::to_string(kSegmentVersion)) {}
};

}  // namespace softdat::transport::shm
