/* SPDX-License-Identifier: BSD-2-Clause */
/* program COMMAND [ARGUMENT]: what `softdat run` runs in its tests, compiled for either DAT. It has no rpath, so that
 * only the environment leads it to SoftDAT. The commands:
 * - open NAME: opens the IA and prints its address
 * - leave: exits with an IA, two PZs and an EVD left open
 * - listen QUAL: has a service point there, accepts one connection and waits for its end
 * - connect QUAL: connects once, to the address of its own IA, and disconnects
 * - receive: opens an IA and waits for a signal */
#if PROGRAM_ABI == 12
#include <dat/udat.h>
#else
#include <dat2/udat.h>
#endif
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS(n) ((n)*1000000)

static DAT_IA_HANDLE ia;
static DAT_EVD_HANDLE evd;

static void require(DAT_RETURN answer, const char* call) {
  if (answer == DAT_SUCCESS) return;
  printf("%s: %#x\n", call, (unsigned)answer);
  exit(9);
}

static void open_adapter(char* name) {
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  require(dat_ia_open(name, 8, &async, &ia), "dat_ia_open");
}

static void make_queue(void) {
  require(dat_evd_create(ia, 16, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG | DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG, &evd),
          "dat_evd_create");
}

static DAT_EP_HANDLE make_endpoint(void) {
  DAT_PZ_HANDLE pz;
  DAT_EP_HANDLE ep;
  require(dat_pz_create(ia, &pz), "dat_pz_create");
  require(dat_ep_create(ia, pz, evd, evd, evd, NULL, &ep), "dat_ep_create");
  return ep;
}

static DAT_EVENT wait_for(DAT_EVENT_NUMBER number) {
  DAT_EVENT event;
  DAT_COUNT more;
  require(dat_evd_wait(evd, SECONDS(60), 1, &event, &more), "dat_evd_wait");
  if (event.event_number != number) {
    printf("event %#x instead of %#x\n", (unsigned)event.event_number, (unsigned)number);
    exit(8);
  }
  return event;
}

static DAT_IA_ATTR attributes(void) {
  DAT_IA_ATTR found;
  require(dat_ia_query(ia, NULL, DAT_IA_ALL, &found, 0, NULL), "dat_ia_query");
  return found;
}

static void print_address(void) {
  struct sockaddr_in address;
  memcpy(&address, attributes().ia_address_ptr, sizeof address);
  printf("DAT %s at %s\n", PROGRAM_ABI == 12 ? "1.2" : "2.0", inet_ntoa(address.sin_addr));
}

/* Not static, and not to be inlined: the test looks for its name. */
__attribute__((noinline)) void make_what_is_left(void) {
  DAT_PZ_HANDLE pz;
  int i;
  for (i = 0; i < 2; ++i) require(dat_pz_create(ia, &pz), "dat_pz_create");
  make_queue();
}

static void serve(DAT_CONN_QUAL qual) {
  DAT_PSP_HANDLE psp;
  DAT_EVENT event;
  make_queue();
  require(dat_psp_create(ia, qual, evd, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create");
  printf("listening\n");
  fflush(stdout);
  event = wait_for(DAT_CONNECTION_REQUEST_EVENT);
  require(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, make_endpoint(), 0, NULL), "dat_cr_accept");
  wait_for(DAT_CONNECTION_EVENT_ESTABLISHED);
  printf("connected\n");
  wait_for(DAT_CONNECTION_EVENT_DISCONNECTED);
}

static void connect_to(DAT_CONN_QUAL qual) {
  DAT_EP_HANDLE ep;
  make_queue();
  ep = make_endpoint();
  require(dat_ep_connect(ep, attributes().ia_address_ptr, qual, SECONDS(60), 0, NULL, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_DEFAULT_FLAG),
          "dat_ep_connect");
  wait_for(DAT_CONNECTION_EVENT_ESTABLISHED);
  printf("connected\n");
  require(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect");
  wait_for(DAT_CONNECTION_EVENT_DISCONNECTED);
}

int main(int count, char** words) {
  const char* command = count > 1 ? words[1] : "";
  open_adapter(count > 2 && strcmp(command, "open") == 0 ? words[2] : (char*)"no-such-hardware");
  if (strcmp(command, "open") == 0) print_address();
  if (strcmp(command, "leave") == 0) make_what_is_left();
  if (strcmp(command, "listen") == 0) serve((DAT_CONN_QUAL)atoi(words[2]));
  if (strcmp(command, "connect") == 0) connect_to((DAT_CONN_QUAL)atoi(words[2]));
  if (strcmp(command, "receive") == 0) {
    printf("receiving\n");
    fflush(stdout);
    pause();
  }
  if (strcmp(command, "leave") != 0) require(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
  return 0;
}
