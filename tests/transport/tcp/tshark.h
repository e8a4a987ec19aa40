// SPDX-License-Identifier: BSD-2-Clause
// Stock Wireshark as a witness of our wire.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace softdat::transport::tcp {

// What a command prints on its standard output.
std::string run(const std::string& command);

std::size_t count(const std::string& text, const std::string& what);

// A test that needs it says so and is skipped where this is false.
bool has_tshark();

// What tshark prints about a capture. Payload is ours alone; without the switch it is guessed to be RPC.
std::string dissect(const std::string& path, const std::string& arguments);

// One line for each frame of MPA that tshark finds: "CONNECTION > ..." from the initiator, "CONNECTION < ..." to it,
// and name=value of each field it sees. The same for every version of tshark that knows the field.
std::vector<std::string> dissected_frames(const std::string& path);

}  // namespace softdat::transport::tcp
