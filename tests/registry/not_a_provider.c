/* SPDX-License-Identifier: BSD-2-Clause */
/* A shared library that is none of DAT's business. */
int not_a_provider(void);
int not_a_provider(void) {
  return 0;
}
