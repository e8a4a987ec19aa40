// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace softdat::memory {

// Whether malloc is the C library's (or a sanitizer's, which are as careful): it never counts on
// madvise(MADV_DONTNEED) to turn pages into zeros, which it does not do to pages of a shared file. Others
// do, and would hand out as zeros what was registered once. The C library's is unknown, too, when it has been told
// to use huge pages (GLIBC_TUNABLES), because its heaps then do not lie where read_address_map() finds them.
bool is_allocator_known();

}  // namespace softdat::memory
