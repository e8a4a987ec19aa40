// SPDX-License-Identifier: BSD-2-Clause
// CheckedMover: moves memory into the arena's file if no thread, and nothing that the kernel does by itself, can
// notice; or says why it cannot be moved.
//
// Threads: REQUIRES the arena's lock, and so one move at a time. Errors: a refusal; std::bad_alloc. After either no
// byte has changed; parts that were moved before may stay where they are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "memory/address_map.h"
#include "memory/file_slabs.h"
#include "memory/map_survey.h"
#include "memory/page_mover.h"

namespace softdat::memory {

// Why memory is not shared.
enum class Refusal : std::uint8_t {
  kNotMovable,    // it is no private anonymous memory
  kOtherThreads,  // a system call of another thread could fail with EFAULT while it moves
  kOthersAtWork,  // the kernel or a device may be accessing it by itself
  kThreadMemory,  // it may hold a thread's stack or control block, or a futex that a thread sleeps on
};

class CheckedMover {
 public:
  // Whole pages of MappingKind::kPlain, and their place in the file.
  struct Part {
    AddressRange range;
    std::uint64_t offset;
  };
  // `moved`: the bytes that were moved, also before a refusal. `unsettled`: the id of a thread that keeps the memory
  // from being moved for now, or 0.
  struct Outcome {
    std::optional<Refusal> refusal;
    std::uint64_t moved = 0;
    int unsettled = 0;
  };

  explicit CheckedMover(PageMover mover = {}) : mover_(std::move(mover)) {}

  // Whether the system allows moves at all.
  bool is_able() { return mover_.is_able(); }
  // Moves all parts into `file`, which is `identity`.
  Outcome move(std::span<const Part> parts, int file, const FileIdentity& identity, MoveWhen when);

 private:
  bool has_unseen_stacks();
  void move_parts(std::span<const Part> parts, int file, MoveWhen when, Outcome& outcome);
  std::optional<Refusal> move_part(const Part& part, int file, MoveWhen when);

  PageMover mover_;
  MapSurvey survey_;
};

}  // namespace softdat::memory
