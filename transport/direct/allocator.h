// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace softdat::transport::direct {

// Whether malloc is the C library's (or a sanitizer's, which are as careful): it never counts on
// madvise(MADV_DONTNEED) to turn pages into zeros, which it does not do to pages of a shared file. Others
// do, and would hand out as zeros what was registered once.
bool is_allocator_known();

}  // namespace softdat::transport::direct
