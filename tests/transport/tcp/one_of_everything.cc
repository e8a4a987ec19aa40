// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/tcp/one_of_everything.h"

namespace softdat::transport::tcp {

Bytes one_of_everything(bool has_crc, std::uint32_t bulk) {
  Bytes read(28), atomic(52), immediate(8);
  Bytes stream;
  const auto add = [&](const Segment& segment, const Bytes& rest) {
    stream = stream + make_fpdu(segment, rest, has_crc);
  };
  add({.opcode = Opcode::kWrite}, {});
  add({.opcode = Opcode::kWrite, .stag = 5, .offset = 100}, Bytes(1000));
  add({.opcode = Opcode::kSend, .is_last = false, .sequence = 1}, Bytes(bulk));
  add({.opcode = Opcode::kReadResponse, .stag = 6, .offset = 7}, Bytes(33));
  add({.opcode = Opcode::kSend, .is_last = true, .sequence = 1, .message_offset = bulk}, Bytes(5));
  add({.opcode = Opcode::kReadRequest, .queue = 1, .sequence = 1}, read);
  add({.opcode = Opcode::kAtomicRequest, .queue = 1, .sequence = 2}, atomic);
  add({.opcode = Opcode::kImmediate, .sequence = 2}, immediate);
  add({.opcode = Opcode::kAtomicResponse, .queue = 3, .sequence = 1}, Bytes(12));
  add({.opcode = Opcode::kWrite, .offset = 0x01'00'0000'0000'0007}, {});
  add({.opcode = Opcode::kSendSolicitedInvalidate, .stag = 9, .sequence = 3}, Bytes(11));
  add({.opcode = Opcode::kSendSolicited, .sequence = 4}, Bytes(2));
  add({.opcode = Opcode::kSendInvalidate, .stag = 8, .sequence = 5}, Bytes(3));
  add({.opcode = Opcode::kImmediateSolicited, .sequence = 6}, immediate);
  add({.opcode = Opcode::kTerminate, .queue = 2, .sequence = 1}, hex("20 02 00 00"));
  return stream;
}

}  // namespace softdat::transport::tcp
