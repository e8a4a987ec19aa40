// SPDX-License-Identifier: BSD-2-Clause
// A provider as a registry sees it: a table of functions, filled by the library's own init, with an
// IA opened on it and one live object of every kind. The test itself plays the registry.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "libdat/api/abi.h"
#include "libdat/object/object.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// The table that dat_provider_init registers under that name with these properties; registered once
// and kept. Null when init did not register anything.
const DAT_PROVIDER* provider_of(const char* ia_name, bool is_thread_safe = false);

// One live object of every kind that there is; all else is null. Everything hangs under `ia`.
struct LiveObjects {
  const DAT_PROVIDER* table = nullptr;
  DAT_IA_HANDLE ia = nullptr;
  DAT_EVD_HANDLE async_evd = nullptr;
  DAT_PZ_HANDLE pz = nullptr;
  DAT_EVD_HANDLE evd = nullptr;  // all streams but asynchronous and software events
  DAT_EVD_HANDLE software_evd = nullptr;
  DAT_CNO_HANDLE cno = nullptr;
  DAT_EP_HANDLE ep = nullptr;
  DAT_EP_HANDLE reserved_ep = nullptr;
  DAT_LMR_HANDLE lmr = nullptr;
  DAT_RMR_HANDLE rmr = nullptr;
  DAT_PSP_HANDLE psp = nullptr;
  DAT_CONN_QUAL psp_qual = 0;
  DAT_RSP_HANDLE rsp = nullptr;
  DAT_CR_HANDLE cr = nullptr;
  DAT_LMR_CONTEXT lmr_context = 0;
  DAT_RMR_CONTEXT rmr_context = 0;
  alignas(64) std::array<std::byte, 4096> memory{};

  DAT_HANDLE of(object::Kind kind) const;
};

// Opens "sim0" and creates all of it, the CR by connecting the IA to itself. Fails the test when
// any of it fails.
void create_live_objects(LiveObjects& live);
void close_live_objects(LiveObjects& live);

// An EP that connects to `live.psp`, whose CR waits in `live.cr`.
DAT_RETURN create_lmr(const LiveObjects& live, DAT_VLEN length, DAT_LMR_HANDLE* lmr, DAT_LMR_CONTEXT* lmr_context,
                      DAT_RMR_CONTEXT* rmr_context);

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
