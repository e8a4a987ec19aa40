/* SPDX-License-Identifier: BSD-2-Clause */
/* Many clients send files to one server, whose endpoints share one receive queue (SRQ): buffers for the traffic, not
 * for the number of clients.
 *
 *     files server DIRECTORY CLIENTS     until so many clients have come and gone
 *     files client HOST FILE NAME
 *
 * The name travels in the private data of the connection request, the bytes in messages; an empty message is the end.
 * cc files.c $(pkg-config --cflags --libs dat2) -o files */
#include "connection.h"

enum { PORT = 4715, BUFFERS = 32, CHUNK = 65536, NAME = 48, CLIENTS = 64, WINDOW = 4 };

struct client {
  DAT_EP_HANDLE ep;
  FILE* file;
  char name[NAME];
};

static char buffers[BUFFERS][CHUNK];
static DAT_LMR_TRIPLET all; /* the buffers */
static struct client clients[CLIENTS];

/* What an endpoint with a queue of others must be told; the rest is 0. It never sends, but it might. */
static const DAT_EP_ATTR attributes = {
    .max_message_size = CHUNK, .max_recv_dtos = 1, .max_request_dtos = 1, .max_recv_iov = 1, .max_request_iov = 1};

static DAT_LMR_TRIPLET part(size_t buffer, uint32_t size) {
  DAT_LMR_TRIPLET segment = all;
  segment.virtual_address += buffer * CHUNK;
  segment.segment_length = size;
  return segment;
}

static void give_buffer(DAT_SRQ_HANDLE srq, uint64_t buffer) {
  DAT_LMR_TRIPLET segment = part(buffer, CHUNK);
  DAT_DTO_COOKIE cookie;
  cookie.as_64 = buffer;
  REQUIRE(dat_srq_post_recv(srq, 1, &segment, cookie));
}

static struct client* client_of(DAT_EP_HANDLE ep) {
  for (size_t i = 0; i < CLIENTS; ++i) {
    if (clients[i].ep == ep) return &clients[i];
  }
  fprintf(stderr, "more than %d clients at once\n", CLIENTS), exit(1);
}

static void accept_client(DAT_CR_HANDLE request, DAT_SRQ_HANDLE srq, const char* directory) {
  struct client* const client = client_of(DAT_HANDLE_NULL);
  char path[4096];
  take_request_data(request, client->name, NAME);
  client->name[NAME - 1] = '\0';
  /* A peer's words are never trusted: a name with a slash would leave the directory. */
  const int is_wrong = client->name[0] == '\0' || client->name[0] == '.' || strchr(client->name, '/') != NULL;
  snprintf(path, sizeof path, "%s/%s", directory, client->name);
  if (is_wrong || (client->file = fopen(path, "wb")) == NULL) {
    fprintf(stderr, "refused: \"%s\"\n", client->name);
    reject(request);
    return;
  }
  REQUIRE(dat_ep_create_with_srq(ia, pz, completions, completions, connections, srq, &attributes, &client->ep));
  REQUIRE(dat_cr_accept(request, client->ep, 0, NULL));
}

/* Messages of one client come in their order, whichever buffers they fill. */
static void take_message(const DAT_EVENT* event, DAT_SRQ_HANDLE srq) {
  const DAT_DTO_COMPLETION_EVENT_DATA* const done = &event->event_data.dto_completion_event_data;
  if (done->status == DAT_DTO_ERR_FLUSHED) return; /* its client is gone */
  check_status(event, "a receive");
  struct client* const client = client_of(done->ep_handle);
  const size_t length = (size_t)done->transfered_length;
  if (length == 0) {
    if (fclose(client->file) != 0) perror(client->name), exit(1);
    client->file = NULL;
  } else if (client->file != NULL && fwrite(buffers[done->user_cookie.as_64], 1, length, client->file) != length) {
    perror(client->name), exit(1);
  }
  give_buffer(srq, done->user_cookie.as_64);
}

static void serve(const char* directory, int awaited) {
  DAT_SRQ_ATTR size = {BUFFERS, 1, DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE srq;
  DAT_CNO_HANDLE cno;
  DAT_EVENT event;
  REQUIRE(dat_srq_create(ia, pz, &size, &srq));
  for (uint64_t buffer = 0; buffer < BUFFERS; ++buffer) give_buffer(srq, buffer);
  /* One thread waits for two queues, and takes each until it is empty. */
  REQUIRE(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  REQUIRE(dat_evd_modify_cno(connections, cno));
  REQUIRE(dat_evd_modify_cno(completions, cno));
  listen_at(PORT);
  while (awaited > 0) {
    REQUIRE(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &(DAT_EVD_HANDLE){0}));
    while (dat_evd_dequeue(completions, &event) == DAT_SUCCESS) take_message(&event, srq);
    while (dat_evd_dequeue(connections, &event) == DAT_SUCCESS) {
      if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
        accept_client(event.event_data.cr_arrival_event_data.cr_handle, srq, directory);
      } else if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) {
        struct client* const client = client_of(event.event_data.connect_event_data.ep_handle);
        while (dat_evd_dequeue(completions, &event) == DAT_SUCCESS) take_message(&event, srq);
        if (client->file != NULL) fprintf(stderr, "%s is incomplete\n", client->name), fclose(client->file);
        REQUIRE(dat_ep_free(client->ep));
        memset(client, 0, sizeof *client);
        --awaited;
      }
    }
    while (dat_evd_dequeue(async_events, &event) == DAT_SUCCESS) continue; /* a broken connection is told there too */
  }
}

static void run_client(const char* host, const char* path, const char* name) {
  const DAT_DTO_COOKIE cookie = {0};
  char told[NAME] = {0};
  FILE* const file = fopen(path, "rb");
  uint64_t sent = 0;
  size_t next = 0;
  DAT_EP_HANDLE ep;
  if (file == NULL) perror(path), exit(1);
  snprintf(told, NAME, "%s", name);
  REQUIRE(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
  connect_to(ep, host, PORT, told, NAME);
  /* A buffer is reused when its send has completed: at most WINDOW are on their way. */
  for (size_t length = 1, window = WINDOW; length > 0; --window) {
    if (window == 0) expect_completion("a send"), ++window;
    length = fread(buffers[next], 1, CHUNK, file);
    DAT_LMR_TRIPLET segment = part(next, (uint32_t)length);
    REQUIRE(dat_ep_post_send(ep, 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    next = ++sent % WINDOW;
  }
  for (uint64_t left = sent < WINDOW ? sent : WINDOW; left > 0; --left) expect_completion("a send");
  disconnect(ep);
  printf("sent %s\n", path);
}

int main(int count, char** words) {
  const int is_server = count == 4 && strcmp(words[1], "server") == 0;
  const int is_client = count == 5 && strcmp(words[1], "client") == 0;
  if (!is_server && !is_client) {
    fprintf(stderr, "usage: files server DIRECTORY CLIENTS | files client HOST FILE NAME\n");
    return 2;
  }
  open_adapter();
  all = register_memory(buffers, sizeof buffers, LOCAL, NULL);
  if (is_server) serve(words[2], atoi(words[3]));
  if (is_client) run_client(words[2], words[3], words[4]);
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
}
