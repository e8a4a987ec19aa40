/* SPDX-License-Identifier: BSD-2-Clause */
/* One process and thread with two connections to itself. A case defines client(), which runs while they are up. */
#ifndef SOFTDAT_TESTS_NASTY_LOOP_H
#define SOFTDAT_TESTS_NASTY_LOOP_H

#include <dat2/udat.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PAIRS 2
#define RECEIVES 16 /* places for outstanding receives */
#define ROUNDS 16
#define MESSAGE 64
#define PATIENCE 30000000u
#define GREETING "hello"

struct pair {
  DAT_EP_HANDLE active, passive;
  DAT_EVD_HANDLE receives; /* of the passive side */
  DAT_COUNT greeting;      /* bytes of private data that the connection request had */
};

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
static DAT_CNO_HANDLE cno; /* of the EVDs for receives */
static DAT_EVD_HANDLE connections, sends;
static struct pair pairs[PAIRS];
static char memory[(PAIRS + RECEIVES) * MESSAGE]; /* what each pair sends, and then what is received */
static DAT_LMR_CONTEXT key;

static void client(void);

static void fail(const char* what, unsigned code) {
  printf("%s: %#x\n", what, code);
  fflush(stdout);
  _exit(1);
}

static void hold(int is_so, const char* what) {
  if (is_so) return;
  printf("surprise: %s\n", what);
  fflush(stdout);
  _exit(1);
}

#define CHECK(call)                               \
  do {                                            \
    DAT_RETURN code_ = (call);                    \
    if (code_ != DAT_SUCCESS) fail(#call, code_); \
  } while (0)

static DAT_EVENT next_event(DAT_EVD_HANDLE evd) {
  DAT_EVENT event;
  DAT_COUNT more;
  CHECK(dat_evd_wait(evd, PATIENCE, 1, &event, &more));
  return event;
}

static DAT_LMR_TRIPLET place(int number) {
  DAT_LMR_TRIPLET result = {.virtual_address = (DAT_VADDR)(uintptr_t)(memory + number * MESSAGE),
                            .segment_length = MESSAGE,
                            .lmr_context = key};
  return result;
}

static void post_receive(int pair) {
  static int posted;
  DAT_LMR_TRIPLET to = place(PAIRS + posted++ % RECEIVES);
  DAT_DTO_COOKIE cookie = {.as_64 = (DAT_UINT64)pair};
  CHECK(dat_ep_post_recv(pairs[pair].passive, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void post_send(int pair) {
  DAT_LMR_TRIPLET from = place(pair);
  DAT_DTO_COOKIE cookie = {.as_64 = (DAT_UINT64)pair};
  CHECK(dat_ep_post_send(pairs[pair].active, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void connect_pair(struct pair* pair, DAT_CONN_QUAL port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  DAT_CR_HANDLE request;
  DAT_CR_PARAM parameters;
  DAT_COUNT i;
  CHECK(dat_ep_create(ia, pz, DAT_HANDLE_NULL, sends, connections, NULL, &pair->active));
  CHECK(dat_ep_create(ia, pz, pair->receives, sends, connections, NULL, &pair->passive));
  CHECK(dat_ep_connect(pair->active, (DAT_IA_ADDRESS_PTR)&address, port, PATIENCE, sizeof GREETING, GREETING,
                       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
  request = next_event(connections).event_data.cr_arrival_event_data.cr_handle;
  CHECK(dat_cr_query(request, DAT_CR_FIELD_ALL, &parameters));
  hold(memcmp(parameters.private_data, GREETING, sizeof GREETING) == 0, "the private data is not the peer's");
  pair->greeting = parameters.private_data_size;
  for (i = sizeof GREETING; i < pair->greeting; ++i) {
    hold(((const char*)parameters.private_data)[i] == 0, "the private data is followed by other bytes than zeros");
  }
  CHECK(dat_cr_accept(request, pair->passive, 0, NULL));
  next_event(connections);
  next_event(connections);
}

int main(void) {
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_REGION_DESCRIPTION region = {.for_va = memory};
  DAT_LMR_HANDLE lmr;
  DAT_RMR_CONTEXT remote;
  DAT_PSP_HANDLE psp;
  DAT_CONN_QUAL port;
  int i;
  CHECK(dat_ia_open("sim0", 8, &async, &ia));
  CHECK(dat_pz_create(ia, &pz));
  CHECK(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG, &connections));
  CHECK(dat_evd_create(ia, 64, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &sends));
  CHECK(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr,
                       &key, &remote, NULL, NULL));
  CHECK(dat_psp_create_any(ia, &port, connections, DAT_PSP_CONSUMER_FLAG, &psp));
  for (i = 0; i < PAIRS; ++i) {
#ifdef ONE_EVD
    if (i > 0) {
      pairs[i].receives = pairs[0].receives;
    } else
#endif
      CHECK(dat_evd_create(ia, 64, cno, DAT_EVD_DTO_FLAG, &pairs[i].receives));
    connect_pair(&pairs[i], port);
  }
  client();
  dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
  return 0;
}

#endif
