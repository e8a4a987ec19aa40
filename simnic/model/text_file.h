// SPDX-License-Identifier: BSD-2-Clause
// Reads the file of a profile or a network.
#pragma once

#include <string>

#include "base/result.h"

namespace softdat::simnic::model {

// The text of the file, or why it cannot be read. `kind` is for these words: "profile". A device or a file that is far
// too long is refused, and a FIFO without a writer does not block.
base::Result<std::string, std::string> read_text_file(const std::string& path, const char* kind);

}  // namespace softdat::simnic::model
