/* SPDX-License-Identifier: BSD-2-Clause */
/* What every example of two processes needs: an adapter with its queues, registered memory, a connection, checked
 * events. One source serves both versions of the API: cc -DEXAMPLE_DAT12 ... $(pkg-config --cflags --libs dat) is
 * DAT 1.2. */
#ifndef EXAMPLE_H
#define EXAMPLE_H
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* htobe64 */
#endif
#include <endian.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef EXAMPLE_DAT12
#include <dat/udat.h>
#else
#include <dat2/udat.h>
#endif

enum { SECOND = 1000000, PATIENCE = 30 * SECOND, QUEUE = 1024 };
enum { LOCAL = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG };

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
static DAT_EVD_HANDLE async_events;
/* Two queues: nothing orders a message's completion behind the event that its connection is established. */
static DAT_EVD_HANDLE connections, completions;

/* Ends the program unless the call succeeded. */
static inline void require(DAT_RETURN result, const char* call) {
  const char *major = "", *minor = "";
  if (result == DAT_SUCCESS) return;
  dat_strerror(result, &major, &minor);
  fprintf(stderr, "%s: %s %s\n", call, major, minor);
  exit(1);
}
#define REQUIRE(call) require((call), #call)

static inline void open_adapter(void) {
  char name[] = "sim0";
  async_events = DAT_HANDLE_NULL;
  REQUIRE(dat_ia_open(name, QUEUE, &async_events, &ia));
  REQUIRE(dat_pz_create(ia, &pz));
  REQUIRE(dat_evd_create(ia, QUEUE, DAT_HANDLE_NULL, (DAT_EVD_FLAGS)(DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG),
                         &connections));
  REQUIRE(dat_evd_create(ia, QUEUE, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &completions));
}

/* Memory of ours as a work request names it. *key, if it is asked for, is what a peer needs to reach it. */
static inline DAT_LMR_TRIPLET register_memory(void* memory, size_t size, int privileges, DAT_RMR_CONTEXT* key) {
  DAT_REGION_DESCRIPTION region;
  DAT_LMR_HANDLE lmr;
  DAT_LMR_TRIPLET local;
  memset(&local, 0, sizeof local);
  region.for_va = memory;
#ifdef EXAMPLE_DAT12
  REQUIRE(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, size, pz, (DAT_MEM_PRIV_FLAGS)privileges, &lmr,
                         &local.lmr_context, key, NULL, NULL));
#else
  REQUIRE(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, size, pz, (DAT_MEM_PRIV_FLAGS)privileges, DAT_VA_TYPE_VA,
                         &lmr, &local.lmr_context, key, NULL, NULL));
#endif
  local.virtual_address = (DAT_VADDR)(uintptr_t)memory;
  local.segment_length = (uint32_t)size;
  return local;
}

/* How one process tells the other where its memory is: in private data, in network byte order. */
struct target {
  uint64_t address, key;
};
static inline struct target target_of(const void* memory, DAT_RMR_CONTEXT key) {
  return (struct target){htobe64((uintptr_t)memory), htobe64(key)};
}
static inline DAT_RMR_TRIPLET remote_part(const struct target* target, uint64_t offset, uint32_t length) {
  DAT_RMR_TRIPLET remote;
  memset(&remote, 0, sizeof remote);
#ifdef EXAMPLE_DAT12
  remote.target_address = be64toh(target->address) + offset;
#else
  remote.virtual_address = be64toh(target->address) + offset;
#endif
  remote.rmr_context = (DAT_RMR_CONTEXT)be64toh(target->key);
  remote.segment_length = length;
  return remote;
}

static inline DAT_EVENT next_event(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout_us) {
  DAT_EVENT event;
  DAT_COUNT more;
  REQUIRE(dat_evd_wait(evd, timeout_us, 1, &event, &more));
  return event;
}

/* `softdat explain NUMBER` says in words what came instead. */
static inline DAT_EVENT expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, const char* what) {
  const DAT_EVENT event = next_event(evd, PATIENCE);
  if (event.event_number == number) return event;
  fprintf(stderr, "waited for %s, but event %#x came\n", what, (unsigned)event.event_number);
  exit(1);
}

static inline void check_status(const DAT_EVENT* event, const char* what) {
  const DAT_DTO_COMPLETION_STATUS status = event->event_data.dto_completion_event_data.status;
  if (status == DAT_DTO_SUCCESS) return;
  fprintf(stderr, "%s failed: completion status %d\n", what, (int)status);
  exit(1);
}
static inline DAT_DTO_COMPLETION_EVENT_DATA expect_completion(const char* what) {
  const DAT_EVENT event = expect(completions, DAT_DTO_COMPLETION_EVENT, what);
  check_status(&event, what);
  return event.event_data.dto_completion_event_data;
}
#endif
