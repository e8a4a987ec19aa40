// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace softdat {

// Flushes a file whose flush() gives up after some seconds, as it may on a busy machine, until all is written.
template <typename File>
void flush(File& file) {
  while (!file.flush()) continue;
}

}  // namespace softdat
