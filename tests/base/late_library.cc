// SPDX-License-Identifier: BSD-2-Clause
// A library that words_test.cc loads after an address was put into words.

extern "C" const void* take_place(const void* (*take)()) {
  const void* const place = take();
  asm volatile("" ::: "memory");  // the call returns here
  return place;
}
