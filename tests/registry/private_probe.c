/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that loads a registry library (argument 1) privately, as plug-ins and scripting languages
 * do, opens an IA (argument 2) of API argument 3.argument 4 with it and unloads it again. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint32_t (*Openv)(char*, int, void**, void**, uint32_t, uint32_t, int);

int main(int count, char** arguments) {
  if (count != 5) return 2;
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return 3;
  Openv openv = NULL;
  *(void**)&openv = dlsym(library, "dat_ia_openv");
  if (openv == NULL) return 4;
  void* evd = NULL;
  void* ia = NULL;
  printf("open 0x%08x\n",
         (unsigned)openv(arguments[2], 8, &evd, &ia, (uint32_t)atoi(arguments[3]), (uint32_t)atoi(arguments[4]), 0));
  dlclose(library);
  return 0;
}
