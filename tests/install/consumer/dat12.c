/* SPDX-License-Identifier: BSD-2-Clause */
#include <dat/udat.h>

int main(void) {
  DAT_IA_HANDLE ia;
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  char name[] = "sim0";
  if (dat_ia_open(name, 8, &async, &ia) != DAT_SUCCESS) return 1;
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
}
