// SPDX-License-Identifier: BSD-2-Clause
// The Terminate codes that this carrier itself finds reason for: RFC 5040 section 4.8, RFC 5041
// section 7.2, RFC 5044 section 8, RFC 6581 section 8.
#pragma once

#include "transport/message.h"

namespace softdat::transport::tcp::fault {

inline constexpr TerminateCode kLocalCatastrophic{0, 0, 0x00};
inline constexpr TerminateCode kRdmapVersion{0, 2, 0x05};
inline constexpr TerminateCode kUnexpectedOpcode{0, 2, 0x06};
inline constexpr TerminateCode kTaggedWrap{1, 1, 0x03};
inline constexpr TerminateCode kTaggedVersion{1, 1, 0x04};
inline constexpr TerminateCode kInvalidQueue{1, 2, 0x01};
inline constexpr TerminateCode kSequenceRange{1, 2, 0x03};
inline constexpr TerminateCode kMessageOffset{1, 2, 0x04};
inline constexpr TerminateCode kMessageTooLong{1, 2, 0x05};
inline constexpr TerminateCode kUntaggedVersion{1, 2, 0x06};
inline constexpr TerminateCode kCrc{2, 0, 0x02};
inline constexpr TerminateCode kLength{2, 0, 0x03};
inline constexpr TerminateCode kNoMatchingRtr{2, 0, 0x07};

}  // namespace softdat::transport::tcp::fault
