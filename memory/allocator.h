// SPDX-License-Identifier: BSD-2-Clause
// Which malloc this process has.
#pragma once

namespace softdat::memory {

// Whether memory of this process's malloc may be moved into a shared file. True for the C library's malloc and those of
// the sanitizers. Other allocators (jemalloc) expect madvise(MADV_DONTNEED) to fill pages with zeros, which it does not
// do to pages of a shared file. False also for the C library's with huge pages (GLIBC_TUNABLES), because
// read_address_map() does not find its heaps then. Any thread.
bool is_allocator_known();

}  // namespace softdat::memory
