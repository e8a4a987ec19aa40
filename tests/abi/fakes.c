/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that macros of the public headers call, without any DAT header: the plain C types below are what
 * the macros must amount to. */
#include "tests/abi/checks.h"

unsigned dat_ia_openv(const char* name, int qlen, void** evd, void** ia, unsigned major, unsigned minor,
                      unsigned thread_safety);
unsigned dat_extension_op(void* handle, int op, ...);
unsigned dat_strerror(unsigned value, const char** major, const char** minor);

void* abi_a_value;
struct abi_opened abi_opened;
int (*abi_extension_hook)(void* handle, int op, va_list rest);

unsigned dat_ia_openv(const char* name, int qlen, void** evd, void** ia, unsigned major, unsigned minor,
                      unsigned thread_safety) {
  const struct abi_opened opened = {name, qlen, evd, ia, major, minor, thread_safety};
  abi_opened = opened;
  return ABI_ANSWER;
}

unsigned dat_extension_op(void* handle, int op, ...) {
  va_list rest;
  va_start(rest, op);
  const int is_right = abi_extension_hook(handle, op, rest);
  va_end(rest);
  return is_right ? ABI_ANSWER : 0;
}

unsigned dat_strerror(unsigned value, const char** major, const char** minor) {
  *major = value == 0 ? "DAT_SUCCESS" : "another";
  *minor = "";
  return 0;
}

void abi_fill(void* where, size_t size, int byte) {
  memset(where, byte, size);
}

void abi_fill_with_one(void* where, size_t size, int unused) {
  (void)unused;
  memset(where, 0, size);
  memset(where, 1, 1);
}

uintptr_t abi_number_of(const void* pointer) {
  return (uintptr_t)pointer;
}
