/* SPDX-License-Identifier: BSD-2-Clause */
/* A preloaded library that writes down what a program posts: each send and each RDMA write, as it was at the post, into
 * POST_WITNESS/PID, as its RDMAP opcode, its length, and its bytes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dat2/udat.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RDMAP_WRITE = 0, RDMAP_SEND = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE* file;

static void open_file(void) {
  char path[4096];
  const char* const directory = getenv("POST_WITNESS");
  if (directory == NULL) abort();
  snprintf(path, sizeof path, "%s/%d", directory, (int)getpid());
  file = fopen(path, "wbe");
  if (file == NULL) abort();
}

static void note(uint32_t opcode, DAT_COUNT count, const DAT_LMR_TRIPLET* segments) {
  uint32_t length = 0;
  for (DAT_COUNT i = 0; i < count; ++i) length += (uint32_t)segments[i].segment_length;
  pthread_mutex_lock(&mutex);
  if (file == NULL) open_file();
  int is_written = fwrite(&opcode, sizeof opcode, 1, file) == 1 && fwrite(&length, sizeof length, 1, file) == 1;
  for (DAT_COUNT i = 0; i < count; ++i) {
    const void* const bytes = (const void*)(uintptr_t)segments[i].virtual_address;
    const size_t size = (size_t)segments[i].segment_length;
    is_written = is_written && fwrite(bytes, 1, size, file) == size;
  }
  if (!is_written || fflush(file) != 0) abort();
  pthread_mutex_unlock(&mutex);
}

/* The function that ours stands before. */
#define NEXT(type, name)                      \
  type next;                                  \
  void* const found = dlsym(RTLD_NEXT, name); \
  if (found == NULL) abort();                 \
  memcpy(&next, &found, sizeof next)

typedef DAT_RETURN (*Send)(DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET*, DAT_DTO_COOKIE, DAT_COMPLETION_FLAGS);
typedef DAT_RETURN (*Write)(DAT_EP_HANDLE, DAT_COUNT, DAT_LMR_TRIPLET*, DAT_DTO_COOKIE, const DAT_RMR_TRIPLET*,
                            DAT_COMPLETION_FLAGS);

DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* segments, DAT_DTO_COOKIE cookie,
                            DAT_COMPLETION_FLAGS flags) {
  NEXT(Send, "dat_ep_post_send");
  note(RDMAP_SEND, count, segments);
  return next(ep, count, segments, cookie, flags);
}

DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET* segments, DAT_DTO_COOKIE cookie,
                                  const DAT_RMR_TRIPLET* target, DAT_COMPLETION_FLAGS flags) {
  NEXT(Write, "dat_ep_post_rdma_write");
  note(RDMAP_WRITE, count, segments);
  return next(ep, count, segments, cookie, target, flags);
}
