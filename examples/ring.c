/* SPDX-License-Identifier: BSD-2-Clause */
/* A ring of records in the server's memory. The client fills it by RDMA write; the server polls the last word of the
 * next slot, so that a record costs neither side a message nor an event.
 *
 *     ring server              in one shell
 *     ring client [HOST [RECORDS]]
 *
 * Each side tells the other an address and a key: the client's request brings the place of its credit counter, the
 * server's acceptance the place of the ring. cc ring.c $(pkg-config --cflags --libs dat2) -o ring */
#include <sched.h>
#include <stdatomic.h>

#include "connection.h"

enum { PORT = 4713, SLOTS = 16, TEXT = 52 };

/* The sequence stands last: bytes arrive in ascending order, so a new sequence says that the text before it is there.
 */
struct slot {
  char text[TEXT];
  uint32_t is_last;
  _Atomic uint64_t sequence; /* 1 for the first record; the slot is free while it holds an earlier round's */
};

static struct slot ring[SLOTS]; /* the server's, written by the client */
static _Atomic uint64_t credit; /* the client's, written by the server: how many records were taken */
static const DAT_DTO_COOKIE cookie;
static DAT_EP_HANDLE ep;

/* Writes `size` bytes of ours over the peer's, and waits until they may be reused. */
static void write_to(const struct target* target, uint64_t offset, DAT_LMR_TRIPLET local, const void* from,
                     uint32_t size) {
  DAT_RMR_TRIPLET remote = remote_part(target, offset, size);
  local.virtual_address = (DAT_VADDR)(uintptr_t)from;
  local.segment_length = size;
  REQUIRE(dat_ep_post_rdma_write(ep, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
  expect_completion("a write");
}

/* The connection may end before the last record was taken; a reader that only polls memory would not notice. */
static void wait_a_moment(void) {
  DAT_EVENT event;
  if (DAT_GET_TYPE(dat_evd_dequeue(connections, &event)) != DAT_QUEUE_EMPTY) {
    fprintf(stderr, "the peer is gone: event %#x\n", (unsigned)event.event_number);
    exit(1);
  }
  sched_yield();
}

static void serve(void) {
  static uint64_t taken; /* what is written to the client's counter */
  struct target counter;
  DAT_RMR_CONTEXT key;
  const DAT_LMR_TRIPLET local = register_memory(&taken, sizeof taken, LOCAL, NULL);
  register_memory(ring, sizeof ring, LOCAL | DAT_MEM_PRIV_REMOTE_WRITE_FLAG, &key);
  const struct target told = target_of(ring, key);
  listen_at(PORT);
  const DAT_EVENT event = next_event(connections, DAT_TIMEOUT_INFINITE);
  const DAT_CR_HANDLE request = event.event_data.cr_arrival_event_data.cr_handle;
  take_request_data(request, &counter, sizeof counter);
  REQUIRE(dat_cr_accept(request, ep, sizeof told, (DAT_PVOID)(uintptr_t)&told));
  expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED, "the connection");
  for (uint32_t is_last = 0; !is_last;) {
    struct slot* const slot = &ring[taken % SLOTS];
    while (atomic_load_explicit(&slot->sequence, memory_order_acquire) != taken + 1) wait_a_moment();
    is_last = slot->is_last;
    if (is_last) printf("the server took %llu records; the last says: %s\n", (unsigned long long)taken + 1, slot->text);
    ++taken;
    write_to(&counter, 0, local, &taken, sizeof taken);
  }
  expect(connections, DAT_CONNECTION_EVENT_DISCONNECTED, "the client's farewell");
}

static void run_client(const char* host, uint64_t records) {
  static struct slot record;
  struct target there;
  DAT_RMR_CONTEXT key;
  const DAT_LMR_TRIPLET local = register_memory(&record, sizeof record, LOCAL, NULL);
  register_memory(&credit, sizeof credit, LOCAL | DAT_MEM_PRIV_REMOTE_WRITE_FLAG, &key);
  const struct target told = target_of(&credit, key);
  const DAT_EVENT established = connect_to(ep, host, PORT, &told, sizeof told);
  take_private_data(&established, &there, sizeof there);
  for (uint64_t sent = 0; sent < records; ++sent) {
    /* The ring is full until the server has taken the record of a round ago. */
    while (sent - atomic_load_explicit(&credit, memory_order_acquire) >= SLOTS) wait_a_moment();
    snprintf(record.text, TEXT, "record %llu", (unsigned long long)sent);
    record.is_last = sent + 1 == records;
    atomic_store(&record.sequence, sent + 1);
    write_to(&there, sent % SLOTS * sizeof record, local, &record, sizeof record);
  }
  while (atomic_load_explicit(&credit, memory_order_acquire) != records) wait_a_moment();
  disconnect(ep);
  printf("the client wrote %llu records\n", (unsigned long long)records);
}

int main(int count, char** words) {
  const char* const role = count > 1 ? words[1] : "";
  const uint64_t records = count > 3 ? strtoull(words[3], NULL, 10) : 1000;
  if ((strcmp(role, "server") != 0 && strcmp(role, "client") != 0) || records == 0) {
    fprintf(stderr, "usage: ring server | ring client [HOST [RECORDS]]\n");
    return 2;
  }
  open_adapter();
  REQUIRE(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
  if (strcmp(role, "server") == 0) {
    serve();
  } else {
    run_client(count > 2 ? words[2] : "127.0.0.1", records);
  }
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
}
