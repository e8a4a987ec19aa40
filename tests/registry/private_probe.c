/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that loads registry libraries privately, as plug-ins and scripting languages do: for each four arguments
 * LIBRARY NAME MAJOR MINOR it loads the library, opens the IA and drops the library again, IA and all. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint32_t (*Openv)(char*, int, void**, void**, uint32_t, uint32_t, int);

static int open_one(char** arguments) {
  void* library = dlopen(arguments[0], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 3;
  Openv openv = NULL;
  *(void**)&openv = dlsym(library, "dat_ia_openv");
  if (openv == NULL) return 4;
  void* evd = NULL;
  void* ia = NULL;
  const uint32_t status =
      openv(arguments[1], 8, &evd, &ia, (uint32_t)atoi(arguments[2]), (uint32_t)atoi(arguments[3]), 0);
  printf("open %s 0x%08x\n", arguments[1], (unsigned)status);
  dlclose(library);
  return 0;
}

int main(int count, char** arguments) {
  int result = count % 4 == 1 ? 0 : 2;
  for (int i = 1; result == 0 && i < count; i += 4) result = open_one(arguments + i);
  return result;
}
