// SPDX-License-Identifier: BSD-2-Clause
// A library that is too old: it has the first of the calls that are needed, and no other.
void* ibv_get_device_list(int* count);

void* ibv_get_device_list(int* count) {
  if (count) *count = 0;
  return 0;
}
