// SPDX-License-Identifier: BSD-2-Clause
// Every entry point that takes a handle: it reaches the right slot of the provider with the right
// handle, and no value whatsoever in the place of a handle does anything but give the error.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>

#include "tests/registry/scratch_world.h"

namespace softdat::registry {
namespace {

enum class Takes { kIa, kObject, kAny };

// One entry point, called with a handle and nothing but zeros behind it.
struct EntryPoint {
  const char* name;
  std::function<DAT_RETURN(DAT_HANDLE)> call;
  std::size_t slot;  // in pointers; the scratch provider answers with it
  DAT_RETURN_SUBTYPE subtype;
  Takes takes;
};

template <typename Handle, typename... Arguments>
std::function<DAT_RETURN(DAT_HANDLE)> caller(DAT_RETURN (*function)(Handle, Arguments...)) {
  return [function](DAT_HANDLE handle) { return function(handle, Arguments{}...); };
}

template <typename Slot>
std::size_t slot_number(Slot DAT_PROVIDER::*slot) {
  const DAT_PROVIDER table{};
  const auto* start = reinterpret_cast<const char*>(&table);
  return static_cast<std::size_t>(reinterpret_cast<const char*>(&(table.*slot)) - start) / sizeof(void*);
}

#define ENTRY(function, subtype, takes)                                                                    \
  EntryPoint {                                                                                             \
    "dat_" #function, caller(&dat_##function), slot_number(&DAT_PROVIDER::function##_func), subtype, takes \
  }
#define OF_IA(function) ENTRY(function, DAT_INVALID_HANDLE_IA, Takes::kIa)
#define OF(kind, function) ENTRY(function, DAT_INVALID_HANDLE_##kind, Takes::kObject)
#define OF_EVD(function) ENTRY(function, kEvdSubtype, Takes::kObject)
#define OF_ANY(function) ENTRY(function, DAT_INVALID_HANDLE1, Takes::kAny)

#if SOFTDAT_ABI == 20
constexpr DAT_RETURN_SUBTYPE kEvdSubtype = DAT_INVALID_HANDLE_EVD_REQUEST;
#else
constexpr DAT_RETURN_SUBTYPE kEvdSubtype = DAT_INVALID_HANDLE1;
#endif

// dat_ia_query and dat_ia_close have tests of their own: the registry itself uses their slots.
const std::vector<EntryPoint>& entry_points() {
  static const std::vector<EntryPoint> all {
    OF_ANY(set_consumer_context), OF_ANY(get_consumer_context), OF_ANY(get_handle_type), OF_IA(cno_create),
        OF(CNO, cno_modify_agent), OF(CNO, cno_query), OF(CNO, cno_free), OF(CNO, cno_wait), OF(CR, cr_query),
        OF(CR, cr_accept), OF(CR, cr_reject), OF(CR, cr_handoff), OF_IA(evd_create), OF_EVD(evd_query),
        OF_EVD(evd_modify_cno), OF_EVD(evd_enable), OF_EVD(evd_disable), OF_EVD(evd_wait), OF_EVD(evd_resize),
        OF_EVD(evd_post_se), OF_EVD(evd_dequeue), OF_EVD(evd_free), OF_EVD(evd_set_unwaitable),
        OF_EVD(evd_clear_unwaitable), OF_IA(ep_create), OF_IA(ep_create_with_srq), OF(EP, ep_query), OF(EP, ep_modify),
        OF(EP, ep_connect), OF(EP, ep_dup_connect), OF(EP, ep_disconnect), OF(EP, ep_post_send), OF(EP, ep_post_recv),
        OF(EP, ep_post_rdma_read), OF(EP, ep_post_rdma_write), OF(EP, ep_get_status), OF(EP, ep_free), OF(EP, ep_reset),
        OF(EP, ep_recv_query), OF(EP, ep_set_watermark), OF_IA(lmr_create), OF(LMR, lmr_query), OF(LMR, lmr_free),
        OF_IA(lmr_sync_rdma_read), OF_IA(lmr_sync_rdma_write), OF(PZ, rmr_create), OF(RMR, rmr_query),
        OF(RMR, rmr_bind), OF(RMR, rmr_free), OF_IA(psp_create), OF_IA(psp_create_any), OF(PSP, psp_query),
        OF(PSP, psp_free), OF_IA(rsp_create), OF(RSP, rsp_query), OF(RSP, rsp_free), OF_IA(pz_create), OF(PZ, pz_query),
        OF(PZ, pz_free), OF_IA(srq_create), OF(SRQ, srq_free), OF(SRQ, srq_post_recv), OF(SRQ, srq_query),
        OF(SRQ, srq_resize), OF(SRQ, srq_set_lw),
#if SOFTDAT_ABI == 20
        OF_IA(csp_create), OF(CSP, csp_query), OF(CSP, csp_free), OF(EP, ep_common_connect),
        OF(EP, ep_post_send_with_invalidate), OF(EP, ep_post_rdma_read_to_rmr), OF(PZ, rmr_create_for_ep),
        OF_IA(cno_fd_create), OF(CNO, cno_trigger),
#endif
  };
  return all;
}

DAT_RETURN bad_handle(const EntryPoint& entry) {
  return error_of(DAT_INVALID_HANDLE, entry.subtype);
}

void* address(std::uintptr_t number) {
  return reinterpret_cast<void*>(number);
}

// Values that are no handle of any open IA, whatever is loaded.
class WildHandles {
 public:
  WildHandles()
      : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        mapping_(static_cast<char*>(::mmap(nullptr, 2 * page_, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    ::mprotect(mapping_ + page_, page_, PROT_NONE);
    static int in_data = 0;
    for (std::uintptr_t number :
         {0ul, 1ul, 2ul, 3ul, 7ul, 8ul, 16ul, 63ul, 64ul, 4095ul, 4096ul, 65535ul, 65536ul, 0x7ffffffff000ul,
          0x800000000000ul, 0xdeadbeefdeadbeeful, 0xdeadbeefdeadbee8ul, ~0ul, ~7ul}) {
      handles.push_back(address(number));
    }
    handles.push_back(mapping_);              // readable, all zeros
    handles.push_back(mapping_ + 4);          // misaligned
    handles.push_back(mapping_ + page_);      // not readable
    handles.push_back(mapping_ + page_ - 8);  // the last word that is
    handles.push_back(mapping_ + page_ - 4);
    handles.push_back(&in_data);
    handles.push_back(this);  // on the stack
    handles.push_back(const_cast<char*>("a string literal, which is aligned or not"));
    handles.push_back(reinterpret_cast<void*>(&dat_ia_close));
    handles.push_back(heap_.get());
    freed_ = std::make_unique<std::uintptr_t>(1);
    handles.push_back(freed_.get());
    freed_.reset();
  }
  ~WildHandles() { ::munmap(mapping_, 2 * page_); }
  WildHandles(const WildHandles&) = delete;
  WildHandles& operator=(const WildHandles&) = delete;

  std::vector<DAT_HANDLE> handles;

 private:
  std::size_t page_;
  char* mapping_;
  std::unique_ptr<std::uintptr_t> heap_ = std::make_unique<std::uintptr_t>(0x5a5a5a5a5a5a5a5a);
  std::unique_ptr<std::uintptr_t> freed_;
};

void expect_all_refuse(const std::vector<DAT_HANDLE>& handles) {
  for (const EntryPoint& entry : entry_points()) {
    for (const DAT_HANDLE handle : handles) {
      EXPECT_EQ(entry.call(handle), bad_handle(entry)) << entry.name << " of " << handle;
    }
  }
  for (const DAT_HANDLE handle : handles) {
    EXPECT_EQ(dat_ia_query(handle, nullptr, 0, nullptr, 0, nullptr),
              error_of(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
    EXPECT_EQ(dat_ia_close(handle, DAT_CLOSE_DEFAULT), error_of(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
  }
}

// Takes away the integers that are handles of open IAs, and their neighbours to come.
std::vector<DAT_HANDLE> without_small_integers(std::vector<DAT_HANDLE> handles) {
  std::erase_if(handles,
                [](DAT_HANDLE handle) { return handle != nullptr && reinterpret_cast<std::uintptr_t>(handle) < 4096; });
  return handles;
}

TEST(Handles, AreRefusedWhenNothingIsOpen) {
  const WildHandles wild;
  expect_all_refuse(wild.handles);
}

TEST(Handles, AreRefusedWhenAProviderKnowsItsOwn) {
  const WildHandles wild;
  const ScratchIa ia("owner");
  expect_all_refuse(without_small_integers(wild.handles));
}

TEST(Handles, AreRefusedWhenAProviderDoesNotKnowItsOwn) {
  const WildHandles wild;
  const ScratchIa owner("owner");
  const ScratchIa foreign("foreign");
  expect_all_refuse(without_small_integers(wild.handles));
}

TEST(Handles, AreRefusedAfterTheLastClose) {
  std::vector<DAT_HANDLE> stale;
  for (const char* name : {"owner", "foreign"}) {
    const ScratchIa ia(name);
    stale.push_back(ia.handle);
    stale.push_back(ia.evd);
  }
  expect_all_refuse(stale);
}

TEST(Handles, OfAnotherKindThanIaAreRefusedWhereAnIaBelongs) {
  for (const char* name : {"owner", "foreign"}) {
    const ScratchIa ia(name);
    for (const EntryPoint& entry : entry_points()) {
      if (entry.takes != Takes::kIa) continue;
      EXPECT_EQ(entry.call(ia.evd), bad_handle(entry)) << entry.name;
    }
  }
}

TEST(Handles, ReachTheirSlot) {
  for (const char* name : {"owner", "foreign"}) {
    const ScratchIa ia(name);
    for (const EntryPoint& entry : entry_points()) {
      const DAT_HANDLE handle = entry.takes == Takes::kIa ? ia.handle : ia.evd;
      EXPECT_EQ(entry.call(handle), DAT_RETURN(entry.slot)) << entry.name;
      if (entry.takes != Takes::kAny) continue;
      EXPECT_EQ(entry.call(ia.handle), DAT_RETURN(entry.slot)) << entry.name << " of an IA";
    }
  }
}

TEST(Handles, OfMemoryThatItsFreeingUnmappedAreRefused) {
  const ScratchIa ia("mapped");
  DAT_EVENT event;
  const DAT_RETURN reached = slot_number(&DAT_PROVIDER::evd_dequeue_func);
  EXPECT_EQ(dat_evd_dequeue(ia.evd, &event), reached);
  EXPECT_EQ(dat_evd_dequeue(ia.evd, &event), reached) << "known to be readable by now";
  EXPECT_EQ(dat_evd_free(ia.evd), DAT_RETURN{DAT_SUCCESS});
  EXPECT_EQ(dat_evd_dequeue(ia.evd, &event), error_of(DAT_INVALID_HANDLE, kEvdSubtype));
  EXPECT_EQ(dat_evd_free(ia.evd), error_of(DAT_INVALID_HANDLE, kEvdSubtype));
}

TEST(Handles, CoverEverySlot) {
  std::vector<bool> is_covered(sizeof(DAT_PROVIDER) / sizeof(void*));
  for (const EntryPoint& entry : entry_points()) {
    EXPECT_FALSE(is_covered[entry.slot]) << entry.name;
    is_covered[entry.slot] = true;
  }
  std::vector<std::size_t> uncovered;
  for (std::size_t slot = 0; slot < is_covered.size(); ++slot) {
    if (!is_covered[slot]) uncovered.push_back(slot);
  }
  // The device name, the extension pointer, and IA open, query and close.
  std::vector<std::size_t> expected{0, 1, 2, 3, 4};
#if SOFTDAT_ABI == 20
  expected.push_back(slot_number(&DAT_PROVIDER::ia_ha_related_func));
  expected.push_back(slot_number(&DAT_PROVIDER::handle_extendedop_func));
#endif
  EXPECT_EQ(uncovered, expected);
}

#if SOFTDAT_ABI == 20

TEST(Handles, OfIasAreSmallIntegersAndNothingElse) {
  const ScratchIa ia("foreign");
  EXPECT_LT(reinterpret_cast<std::uintptr_t>(ia.handle), 65536u);
  for (const EntryPoint& entry : entry_points()) {
    if (entry.takes != Takes::kObject) continue;
    EXPECT_EQ(entry.call(ia.handle), bad_handle(entry)) << entry.name;
  }
}

TEST(Handles, OfIasTranslateBothWays) {
  const ScratchIa ia("foreign");
  DAT_IA_HANDLE object = nullptr;
  ASSERT_EQ(dats_get_ia_handle(ia.handle, &object), DAT_RETURN{DAT_SUCCESS});
  EXPECT_NE(object, ia.handle);
  DAT_IA_HANDLE integer = nullptr;
  EXPECT_EQ(dats_get_ia_handle(object, &integer), DAT_RETURN{DAT_SUCCESS});
  EXPECT_EQ(integer, ia.handle);
  EXPECT_EQ(dat_ia_query(object, nullptr, 0, nullptr, 0, nullptr), DAT_RETURN{DAT_SUCCESS});

  integer = address(77);
  for (const DAT_IA_HANDLE none : {ia.evd, address(0), address(9999), address(~0ul)}) {
    EXPECT_EQ(dats_get_ia_handle(none, &integer), error_of(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
    EXPECT_EQ(integer, address(77));
  }
  EXPECT_EQ(dats_get_ia_handle(ia.handle, nullptr), error_of(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
}

#else

TEST(Handles, OfIasAreTheProvidersOwn) {
  const ScratchIa ia("foreign");
  EXPECT_GE(reinterpret_cast<std::uintptr_t>(ia.handle), 65536u);
}

#endif

}  // namespace
}  // namespace softdat::registry
