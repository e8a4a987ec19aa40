/* SPDX-License-Identifier: BSD-2-Clause */
/* How the examples listen, connect and part, and take each other's private data. */
#ifndef EXAMPLE_CONNECTION_H
#define EXAMPLE_CONNECTION_H
#include <netdb.h>

#include "example.h"

/* Connects and returns the ESTABLISHED event, whose private data is the server's. Exits with 2 if nobody listens. */
static inline DAT_EVENT connect_to(DAT_EP_HANDLE ep, const char* host, DAT_CONN_QUAL port, const void* data, int size) {
  struct addrinfo* found = NULL;
  const int error = getaddrinfo(host, NULL, NULL, &found);
  if (error != 0) {
    fprintf(stderr, "the host \"%s\": %s\n", host, gai_strerror(error));
    exit(1);
  }
  REQUIRE(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)found->ai_addr, port, PATIENCE, size, (DAT_PVOID)(uintptr_t)data,
                         DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
  freeaddrinfo(found);
  const DAT_EVENT event = next_event(connections, PATIENCE);
  if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) return event;
  if (event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED) {
    fprintf(stderr, "nobody listens at %s; start the server there first\n", host);
    exit(2);
  }
  fprintf(stderr, "no connection: event %#x\n", (unsigned)event.event_number);
  exit(1);
}

/* What the server sent along with its acceptance. */
static inline void take_private_data(const DAT_EVENT* event, void* data, int size) {
  if (event->event_data.connect_event_data.private_data_size < size) {
    fprintf(stderr, "the server sent less private data than expected\n");
    exit(1);
  }
  memcpy(data, event->event_data.connect_event_data.private_data, (size_t)size);
}

static inline void listen_at(DAT_CONN_QUAL port) {
  DAT_PSP_HANDLE psp;
  REQUIRE(dat_psp_create(ia, port, connections, DAT_PSP_CONSUMER_FLAG, &psp));
  printf("the server listens\n");
  fflush(stdout);
}

/* The client's private data, copied from its connection request. */
static inline void take_request_data(DAT_CR_HANDLE cr, void* data, int size) {
  DAT_CR_PARAM request;
  REQUIRE(dat_cr_query(cr, DAT_CR_FIELD_ALL, &request));
  if (request.private_data_size < size) {
    fprintf(stderr, "the client sent less private data than expected\n");
    exit(1);
  }
  memcpy(data, request.private_data, (size_t)size);
}

static inline void reject(DAT_CR_HANDLE request) {
#ifdef EXAMPLE_DAT12
  REQUIRE(dat_cr_reject(request));
#else
  REQUIRE(dat_cr_reject(request, 0, NULL));
#endif
}

static inline void disconnect(DAT_EP_HANDLE ep) {
  REQUIRE(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
  expect(connections, DAT_CONNECTION_EVENT_DISCONNECTED, "the end of the connection");
}
#endif
