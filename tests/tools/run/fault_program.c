/* SPDX-License-Identifier: BSD-2-Clause */
/* fault_program all|server|client QUAL CLIENTS MESSAGES DIRECTORY: pairs that answer each message, and connect again
 * when a connection fails. Client i asks for service QUAL+i, whose endpoints the server has made before, so that
 * endpoints have the same numbers in every run. `all` is server and clients in one process; else client i is the copy i
 * of `softdat run`. A client that has ended leaves a file in DIRECTORY, which its server waits for. */
#include <dat2/udat.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMostClients = 4, kConnects = 12, kSize = 6000 };

struct side {
  int client; /* its number */
  int is_server;
  DAT_EVD_HANDLE data, connections, requests;
  DAT_PSP_HANDLE psp;
  DAT_LMR_HANDLE lmr;
  DAT_LMR_CONTEXT key;
  DAT_EP_HANDLE endpoints[kConnects];
  int sent, received; /* completions that nobody has asked for yet */
  char* buffer;       /* of received bytes, and behind them of sent ones */
};

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
static DAT_IA_ATTR attributes;
static unsigned long qual;
static int messages;
static const char* directory;

static void require(DAT_RETURN answer, const char* call) {
  if (answer == DAT_SUCCESS) return;
  printf("%s: %#x\n", call, (unsigned)answer);
  exit(9);
}

static void done_path(int client, char* path, size_t size) {
  snprintf(path, size, "%s/%d", directory, client);
}

static void prepare(struct side* side) {
  DAT_EVD_HANDLE none = DAT_HANDLE_NULL;
  DAT_REGION_DESCRIPTION region;
  DAT_VLEN length;
  DAT_VADDR address;
  DAT_RMR_CONTEXT remote;
  int i;
  side->buffer = calloc(2, kSize);
  require(dat_evd_create(ia, 64, none, DAT_EVD_DTO_FLAG, &side->data), "dat_evd_create");
  require(dat_evd_create(ia, 64, none, DAT_EVD_CONNECTION_FLAG, &side->connections), "dat_evd_create");
  region.for_va = side->buffer;
  require(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, 2 * kSize, pz,
                         DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, DAT_VA_TYPE_VA, &side->lmr,
                         &side->key, &remote, &length, &address),
          "dat_lmr_create");
  for (i = 0; i < kConnects; ++i) {
    require(dat_ep_create(ia, pz, side->data, side->data, side->connections, NULL, &side->endpoints[i]),
            "dat_ep_create");
  }
  if (!side->is_server) return;
  require(dat_evd_create(ia, 64, none, DAT_EVD_CR_FLAG, &side->requests), "dat_evd_create");
  require(dat_psp_create(ia, qual + (unsigned)side->client, side->requests, DAT_PSP_CONSUMER_FLAG, &side->psp),
          "dat_psp_create");
}

static DAT_LMR_TRIPLET part(const struct side* side, int is_sent, int length) {
  DAT_LMR_TRIPLET segment;
  memset(&segment, 0, sizeof segment);
  segment.lmr_context = side->key;
  segment.virtual_address = (DAT_VADDR)(DAT_UVERYLONG)(side->buffer + (is_sent ? kSize : 0));
  segment.segment_length = (DAT_SEG_LENGTH)length;
  return segment;
}

static int post_recv(const struct side* side, DAT_EP_HANDLE ep) {
  DAT_LMR_TRIPLET segment = part(side, 0, kSize);
  DAT_DTO_COOKIE cookie;
  cookie.as_64 = 1;
  return dat_ep_post_recv(ep, 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG) == DAT_SUCCESS;
}

static int post_send(const struct side* side, DAT_EP_HANDLE ep, int length) {
  DAT_LMR_TRIPLET segment = part(side, 1, length);
  DAT_DTO_COOKIE cookie;
  cookie.as_64 = 2;
  return dat_ep_post_send(ep, 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG) == DAT_SUCCESS;
}

/* So many completions of both kinds; those that come early count for the next call. 0: one of them failed. */
static int await(struct side* side, int sends, int receives) {
  while (side->sent < sends || side->received < receives) {
    DAT_EVENT event;
    DAT_COUNT more;
    require(dat_evd_wait(side->data, 100000000, 1, &event, &more), "dat_evd_wait");
    if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS) return 0;
    if (event.event_data.dto_completion_event_data.user_cookie.as_64 == 1) {
      ++side->received;
    } else {
      ++side->sent;
    }
  }
  side->sent -= sends;
  side->received -= receives;
  return 1;
}

/* Ends the connection and takes all that it has still to tell. */
static void finish(struct side* side, DAT_EP_HANDLE ep, int is_connected) {
  DAT_EVENT event;
  DAT_COUNT more;
  if (is_connected) {
    dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
    do {
      require(dat_evd_wait(side->connections, 100000000, 1, &event, &more), "dat_evd_wait");
    } while (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED);
  }
  while (dat_evd_dequeue(side->data, &event) == DAT_SUCCESS) continue;
  side->sent = side->received = 0;
}

static int is_established(const struct side* side) {
  DAT_EVENT event;
  DAT_COUNT more;
  require(dat_evd_wait(side->connections, 100000000, 1, &event, &more), "dat_evd_wait");
  return event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED;
}

static int length_of(int message) {
  return 1 + message * 373 % (kSize - 1);
}

static void* run_client(void* context) {
  struct side* side = context;
  int message = 0, attempt;
  char path[4096];
  FILE* file;
  for (attempt = 0; attempt < kConnects && message < messages; ++attempt) {
    DAT_EP_HANDLE ep = side->endpoints[attempt];
    DAT_RETURN answer = dat_ep_connect(ep, attributes.ia_address_ptr, qual + (unsigned)side->client, 100000000, 0, NULL,
                                       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
    int is_connected;
    require(answer, "dat_ep_connect");
    is_connected = is_established(side);
    while (is_connected && message < messages && post_recv(side, ep) && post_send(side, ep, length_of(message)) &&
           await(side, 1, 1)) {
      ++message;
    }
    finish(side, ep, is_connected);
  }
  done_path(side->client, path, sizeof path);
  file = fopen(path, "w");
  if (file != NULL) fclose(file);
  return NULL;
}

/* Whether a client has come; 0: it has ended. How often it looks depends on the machine. So it polls, because each wait
 * would be a point of a sweep, and two runs have the same points. */
static int await_request(const struct side* side, DAT_EVENT* event) {
  char path[4096];
  DAT_COUNT more;
  done_path(side->client, path, sizeof path);
  while (dat_evd_wait(side->requests, 0, 1, event, &more) != DAT_SUCCESS) {
    if (access(path, F_OK) == 0) return 0;
    usleep(1000);
  }
  return 1;
}

static void* run_server(void* context) {
  struct side* side = context;
  int attempt;
  for (attempt = 0; attempt < kConnects; ++attempt) {
    DAT_EP_HANDLE ep = side->endpoints[attempt];
    DAT_EVENT event;
    int is_connected, message;
    if (!await_request(side, &event)) return NULL;
    if (!post_recv(side, ep)) exit(9);
    require(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, NULL), "dat_cr_accept");
    is_connected = is_established(side);
    for (message = 0; is_connected && await(side, 0, 1); ++message) {
      if (!post_recv(side, ep) || !post_send(side, ep, length_of(message)) || !await(side, 1, 0)) break;
    }
    finish(side, ep, is_connected);
  }
  return NULL;
}

int main(int argc, char** argv) {
  static struct side sides[2 * kMostClients];
  pthread_t threads[2 * kMostClients];
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_EVENT event;
  int clients, count = 0, i;
  if (argc != 6) return 2;
  qual = strtoul(argv[2], NULL, 10);
  clients = atoi(argv[3]);
  messages = atoi(argv[4]);
  directory = argv[5];
  require(dat_ia_open("ofa-v2-ib0", 64, &async, &ia), "dat_ia_open");
  require(dat_ia_query(ia, &async, DAT_IA_ALL, &attributes, 0, NULL), "dat_ia_query");
  require(dat_pz_create(ia, &pz), "dat_pz_create");
  for (i = 0; strcmp(argv[1], "client") != 0 && i < clients; ++i, ++count) {
    sides[count].client = i;
    sides[count].is_server = 1;
  }
  for (i = 0; strcmp(argv[1], "all") == 0 && i < clients; ++i, ++count) sides[count].client = i;
  if (strcmp(argv[1], "client") == 0) sides[count++].client = atoi(getenv("SOFTDAT_RUN_COPY"));
  for (i = 0; i < count; ++i) prepare(&sides[i]);
  for (i = 0; i < count; ++i)
    pthread_create(&threads[i], NULL, sides[i].is_server ? run_server : run_client, &sides[i]);
  for (i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  while (dat_evd_dequeue(async, &event) == DAT_SUCCESS)
    printf("asynchronous event %#x\n", (unsigned)event.event_number);
  require(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
  return 0;
}
