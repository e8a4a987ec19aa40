// SPDX-License-Identifier: BSD-2-Clause
// The faults that a plan may name, and what each of them takes. docs/FAULTS.md says what each fault does. The library
// and the tool read plans by this one table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace softdat::base {

enum class FaultKind : std::uint8_t {
  kNote,  // fires everywhere, and does nothing
  // Messages that a connection sends.
  kDropConnection,
  kBreakEndpoint,
  kFailRequest,
  kFailAdapter,
  kCorruptPayload,
  kCorruptHeader,
  kLateCompletions,
  kDelay,
  kJitter,
  kLimitRate,
  kFlap,
  kStopPeer,
  kPartition,
  // Messages that a connection receives.
  kFailReceive,
  kReceiverNotReady,
  kDrySrq,
  kOverflowEvd,
  kSpuriousWake,
  // Connections that begin.
  kRefuseConnect,
  kIgnoreConnect,
  kDelayConnect,
  kCutPrivateData,
  // Calls.
  kFailCreate,
  kFailPost,
  kFailWait,
};

// Where in the life of a program a fault may fire.
enum class FaultStage : std::uint8_t { kMessage, kArrival, kConnection, kCreation, kPost, kWait };

enum class FaultOp : std::uint8_t {
  kAny,
  kSend,
  kWrite,
  kRead,
  kAtomic,
  kBind,
  kRecv,
  kConnect,
  kAccept,
  kPz,
  kLmr,
  kRmr,
  kEvd,
  kEp,
  kSrq,
  kPsp,
  kWait,
};

// Lists of words are separated by blanks.
struct FaultKindRow {
  std::string_view name;
  FaultStage stage;            // unless the operation says another one
  std::string_view ops;        // allowed for op=; no op=: all of the stage
  std::string_view keys;       // beside those of every fault
  std::string_view required;   // those of `keys` that must be given
  std::string_view words;      // the values of the key that takes a word; the first is the default
  std::string_view transport;  // the only transport that can do it; empty: every one
};

const FaultKindRow& row_of(FaultKind kind);
std::optional<FaultKind> find_fault_kind(std::string_view name);
std::vector<std::string_view> fault_kind_names();

std::string_view name_of(FaultOp op);
std::optional<FaultOp> find_fault_op(std::string_view name);
std::string_view name_of(FaultStage stage);
std::optional<FaultStage> find_fault_stage(std::string_view name);

std::vector<std::string_view> words_of(std::string_view list);

// What every fault takes beside its own keys.
inline constexpr std::string_view kFaultSelectors =
    "process ia endpoint connection peer op number nth every times probability min-size max-size";

}  // namespace softdat::base
