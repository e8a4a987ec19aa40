/* SPDX-License-Identifier: BSD-2-Clause */
/* corruption_program COUNT: connects an endpoint to another of the same process COUNT times, sends one message each
 * time, and tells how many were caught (the connection broke), arrived changed, and arrived as they were. */
#include <dat2/udat.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE 30000000u
#define LARGEST 512

#define CHECK(call)                                    \
  do {                                                 \
    DAT_RETURN code_ = (call);                         \
    if (code_ != DAT_SUCCESS) fail(#call, (int)code_); \
  } while (0)

static void fail(const char* what, int code) {
  printf("%s: %#x\n", what, (unsigned)code);
  exit(1);
}

enum { kCaught, kChanged, kUnharmed, kOutcomes };

static DAT_IA_HANDLE ia;
static DAT_EVD_HANDLE async = DAT_HANDLE_NULL, connections, completions;
static DAT_EP_HANDLE active, passive;
static DAT_IA_ADDRESS_PTR address;
static DAT_CONN_QUAL port;
static unsigned char memory[2 * LARGEST]; /* what is sent, and what is received */
static DAT_LMR_CONTEXT key;

static DAT_EVENT next_event(DAT_EVD_HANDLE evd) {
  DAT_EVENT event;
  DAT_COUNT more;
  CHECK(dat_evd_wait(evd, PATIENCE, 1, &event, &more));
  return event;
}

static void open_all(void) {
  DAT_PZ_HANDLE pz;
  DAT_PSP_HANDLE psp;
  DAT_LMR_HANDLE lmr;
  DAT_RMR_CONTEXT unused;
  DAT_IA_ATTR attributes;
  DAT_REGION_DESCRIPTION region;
  CHECK(dat_ia_open("sim0", 8, &async, &ia));
  CHECK(dat_ia_query(ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attributes, 0, NULL));
  address = attributes.ia_address_ptr;
  CHECK(dat_pz_create(ia, &pz));
  CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG, &connections));
  CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &completions));
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &active));
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &passive));
  CHECK(dat_psp_create_any(ia, &port, connections, DAT_PSP_CONSUMER_FLAG, &psp));
  region.for_va = memory;
  CHECK(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr,
                       &key, &unused, NULL, NULL));
}

static DAT_LMR_TRIPLET part(const unsigned char* from, DAT_VLEN length) {
  DAT_LMR_TRIPLET triplet = {.lmr_context = key, .virtual_address = (DAT_VADDR)(uintptr_t)from};
  triplet.segment_length = (DAT_SEG_LENGTH)length;
  return triplet;
}

static void connect_both(void) {
  DAT_EVENT event;
  int established = 0;
  CHECK(dat_ep_connect(active, address, port, PATIENCE, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
  event = next_event(connections);
  if (event.event_number != DAT_CONNECTION_REQUEST_EVENT) fail("event", (int)event.event_number);
  CHECK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, passive, 0, NULL));
  while (established < 2) {
    event = next_event(connections);
    if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) fail("event", (int)event.event_number);
    ++established;
  }
}

/* The outcome of one message of that many bytes. */
static int send_one(size_t length, unsigned char value) {
  const DAT_DTO_COOKIE cookie = {.as_64 = 0};
  DAT_LMR_TRIPLET from = part(memory, length), to = part(memory + LARGEST, LARGEST);
  DAT_EVENT event;
  int outcome = kCaught, ended = 0, i;
  memset(memory, value, length);
  memset(memory + LARGEST, (unsigned char)~value, LARGEST);
  CHECK(dat_ep_post_recv(passive, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  connect_both();
  CHECK(dat_ep_post_send(active, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  for (i = 0; i < 2; ++i) { /* both complete, whatever happens */
    const DAT_DTO_COMPLETION_EVENT_DATA* data = &event.event_data.dto_completion_event_data;
    event = next_event(completions);
    if (data->ep_handle != passive || data->status != DAT_DTO_SUCCESS) continue;
    outcome = memcmp(memory, memory + LARGEST, length) == 0 ? kUnharmed : kChanged;
  }
  if (outcome != kCaught) CHECK(dat_ep_disconnect(active, DAT_CLOSE_ABRUPT_FLAG));
  while (ended < 2) {
    next_event(connections);
    ++ended;
  }
  while (dat_evd_dequeue(async, &event) == DAT_SUCCESS) continue;
  CHECK(dat_ep_reset(active));
  CHECK(dat_ep_reset(passive));
  return outcome;
}

int main(int count, char** words) {
  const long rounds = count > 1 ? atol(words[1]) : 1;
  long outcomes[kOutcomes] = {0}, round;
  open_all();
  for (round = 0; round < rounds; ++round) {
    ++outcomes[send_one((size_t)(1 + round * 37 % LARGEST), (unsigned char)round)];
  }
  printf("%ld messages: %ld caught, %ld arrived changed, %ld arrived as they were\n", rounds, outcomes[kCaught],
         outcomes[kChanged], outcomes[kUnharmed]);
  return 0;
}
