/* SPDX-License-Identifier: BSD-2-Clause */
/* A DAT program for tests that need a process of their own: "open NAME MAJOR MINOR SAFE" and "list
 * N", any number of them, each answered by a line on standard output. */
#if SOFTDAT_ABI == 20
#include <dat2/udat.h>
#else
#include <dat/udat.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 256 };

static void open_one(char** arguments) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  const DAT_RETURN status = dat_ia_openv(arguments[0], 8, &evd, &ia, (DAT_UINT32)atoi(arguments[1]),
                                         (DAT_UINT32)atoi(arguments[2]), atoi(arguments[3]) ? DAT_TRUE : DAT_FALSE);
  printf("open %s 0x%08x\n", arguments[0], (unsigned)status);
  if (status == DAT_SUCCESS) printf("close 0x%08x\n", (unsigned)dat_ia_close(ia, DAT_CLOSE_DEFAULT));
}

static void list_some(char** arguments) {
  static DAT_PROVIDER_INFO infos[kMost];
  DAT_PROVIDER_INFO* pointers[kMost];
  DAT_COUNT count = -1;
  for (int i = 0; i < kMost; ++i) pointers[i] = &infos[i];
  const DAT_RETURN status = dat_registry_list_providers(atoi(arguments[0]), &count, pointers);
  printf("list 0x%08x %d\n", (unsigned)status, (int)count);
  for (DAT_COUNT i = 0; status == DAT_SUCCESS && i < count; ++i) {
    printf("entry %s %u.%u %d\n", infos[i].ia_name, (unsigned)infos[i].dapl_version_major,
           (unsigned)infos[i].dapl_version_minor, (int)infos[i].is_thread_safe);
  }
}

int main(int count, char** arguments) {
  for (int i = 1; i < count;) {
    if (strcmp(arguments[i], "open") == 0 && i + 4 < count) {
      open_one(arguments + i + 1);
      i += 5;
    } else if (strcmp(arguments[i], "list") == 0 && i + 1 < count) {
      list_some(arguments + i + 1);
      i += 2;
    } else {
      return 2;
    }
  }
  return 0;
}
