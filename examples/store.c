/* SPDX-License-Identifier: BSD-2-Clause */
/* A key-value store whose server does nothing: clients find, read, lock and write entries of its memory by RDMA alone.
 *
 *     store server CLIENTS                    serves until so many clients have come and gone
 *     store get HOST KEY
 *     store put HOST KEY VALUE
 *     store add HOST KEY NUMBER [TIMES]       adds to a number, under the entry's lock
 *
 * Atomics are an extension of DAT 2.0; DAT 1.2 has none. cc store.c $(pkg-config --cflags --libs dat2) -o store */
#include <dat2/dat_ib_extensions.h>
#include <stddef.h>
#include <unistd.h>

#include "connection.h"

enum { PORT = 4714, ENTRIES = 256, KEY = 24, VALUE = 32 };

struct entry {
  uint64_t lock;  /* 0, or the id of the client that changes the entry */
  uint64_t count; /* how often the entry was written */
  char key[KEY];  /* empty: the entry is free */
  char value[VALUE];
};

static struct entry table[ENTRIES]; /* the server's */
static struct entry copy;           /* the client's copy of one entry */
static uint64_t word;               /* where atomics leave what was there before */
static struct target there;
static DAT_EP_HANDLE ep;
static const DAT_DTO_COOKIE cookie;
static DAT_LMR_TRIPLET copy_segment, word_segment;

static int serve(int clients) {
  DAT_RMR_CONTEXT key;
  register_memory(
      table, sizeof table,
      LOCAL | DAT_MEM_PRIV_REMOTE_READ_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG | (int)DAT_IB_MEM_PRIV_REMOTE_ATOMIC,
      &key);
  const struct target told = target_of(table, key);
  listen_at(PORT);
  while (clients > 0) {
    const DAT_EVENT event = next_event(connections, DAT_TIMEOUT_INFINITE);
    if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
      DAT_EP_HANDLE endpoint;
      REQUIRE(dat_ep_create(ia, pz, completions, completions, connections, NULL, &endpoint));
      REQUIRE(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, endpoint, sizeof told,
                            (DAT_PVOID)(uintptr_t)&told));
    } else if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) { /* DISCONNECTED, or BROKEN if it died */
      REQUIRE(dat_ep_free(event.event_data.connect_event_data.ep_handle));
      --clients;
    }
  }
  printf("the server has served\n");
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
}

/* Reads the first bytes of an entry into those of `copy`. */
static void read_entry(unsigned index, uint32_t size) {
  DAT_RMR_TRIPLET remote = remote_part(&there, index * sizeof copy, size);
  DAT_LMR_TRIPLET local = copy_segment;
  local.segment_length = size;
  REQUIRE(dat_ep_post_rdma_read(ep, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
  expect_completion("the read");
}

/* Nobody wrote while we read if nobody had the lock before or has it now, and the count is the same. */
static void read_unchanged(unsigned index) {
  uint64_t before;
  do {
    read_entry(index, sizeof copy);
    before = copy.lock == 0 ? copy.count : UINT64_MAX;
    read_entry(index, offsetof(struct entry, key));
  } while (copy.lock != 0 || copy.count != before);
}

/* The entry that has the key, or a free one, is in `copy` then. */
static unsigned find(const char* key) {
  unsigned index = 5381;
  for (const char* letter = key; *letter != '\0'; ++letter) index = index * 33 + (unsigned char)*letter;
  for (unsigned tries = 0; tries < ENTRIES; ++tries) {
    read_unchanged(++index % ENTRIES);
    if (copy.key[0] == '\0' || strncmp(copy.key, key, KEY) == 0) return index % ENTRIES;
  }
  fprintf(stderr, "the store is full\n"), exit(1);
}

/* Takes the lock of an entry: whoever turns 0 into its own id has it. A client that dies with it keeps it. */
static void lock(unsigned index) {
  DAT_RMR_TRIPLET remote = remote_part(&there, index * sizeof copy, sizeof copy.lock);
  const uint64_t id = (uint64_t)getpid();
  do {
    REQUIRE(dat_ib_post_cmp_and_swap(ep, 0, id, &word_segment, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
    const DAT_EVENT event = expect(completions, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT, "the atomic");
    check_status(&event, "the atomic");
  } while (word != 0);
}

/* Writes the entry, and with a second write behind the first its lock: writes of one connection are done in order. */
static void write_and_unlock(unsigned index) {
  DAT_RMR_TRIPLET all = remote_part(&there, index * sizeof copy, sizeof copy), only_lock = all;
  DAT_LMR_TRIPLET zero = copy_segment;
  only_lock.segment_length = zero.segment_length = sizeof copy.lock;
  copy.lock = (uint64_t)getpid();
  ++copy.count;
  REQUIRE(dat_ep_post_rdma_write(ep, 1, &copy_segment, cookie, &all, DAT_COMPLETION_DEFAULT_FLAG));
  expect_completion("the write");
  copy.lock = 0;
  REQUIRE(dat_ep_post_rdma_write(ep, 1, &zero, cookie, &only_lock, DAT_COMPLETION_DEFAULT_FLAG));
  expect_completion("the unlocking");
}

/* Replaces the value, or adds to it. Another client may have taken a free entry before we had its lock: look again. */
static void change(const char* key, const char* value, int is_sum) {
  for (;;) {
    const unsigned index = find(key);
    lock(index);
    read_entry(index, sizeof copy);
    if (copy.key[0] == '\0' || strncmp(copy.key, key, KEY) == 0) {
      snprintf(copy.key, KEY, "%s", key);
      if (is_sum) snprintf(copy.value, VALUE, "%lld", atoll(copy.value) + atoll(value));
      if (!is_sum) snprintf(copy.value, VALUE, "%s", value);
      write_and_unlock(index);
      return;
    }
    write_and_unlock(index);
  }
}

int main(int count, char** words) {
  const char* const role = count > 1 ? words[1] : "";
  const int is_get = count == 4 && strcmp(role, "get") == 0, is_add = count >= 5 && strcmp(role, "add") == 0;
  const int is_put = count == 5 && strcmp(role, "put") == 0, is_server = count == 3 && strcmp(role, "server") == 0;
  if (!is_get && !is_add && !is_put && !is_server) {
    fprintf(stderr, "usage: store server CLIENTS | get HOST KEY | put HOST KEY VALUE | add HOST KEY NUMBER [TIMES]\n");
    return 2;
  }
  open_adapter();
  if (is_server) return serve(atoi(words[2]));
  copy_segment = register_memory(&copy, sizeof copy, LOCAL, NULL);
  word_segment = register_memory(&word, sizeof word, LOCAL, NULL);
  REQUIRE(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
  const DAT_EVENT established = connect_to(ep, words[2], PORT, NULL, 0);
  take_private_data(&established, &there, sizeof there);
  for (int times = count > 5 ? atoi(words[5]) : 1; !is_get && times > 0; --times) change(words[3], words[4], is_add);
  find(words[3]);
  printf("%s\n", copy.key[0] != '\0' ? copy.value : "(none)");
  disconnect(ep);
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
}
