/* SPDX-License-Identifier: BSD-2-Clause */
/* The words in which generated checks speak of C and of C++, and what they call at run time. */
#pragma once

#include <netinet/in.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#define SPELLING_(...) #__VA_ARGS__
#define SPELLING(...) SPELLING_(__VA_ARGS__)

#ifdef __cplusplus
#include <type_traits>
#include <utility>

#define ABI_STATIC_ASSERT static_assert
#define ALIGN_OF(type) alignof(type)
#define TYPE_OF(expression) decltype(expression)
#define TYPE_OF_MEMBER(type, member) decltype(std::declval<type&>().member)
#define SIZE_OF_MEMBER(type, member) sizeof(std::declval<type&>().member)
#define SAME_TYPE(type, ...) std::is_same_v<std::remove_cv_t<type>, std::remove_cv_t<__VA_ARGS__>>
#define NUMBER(expression) static_cast<unsigned long long>(expression)
#define IS_SIGNED(type) abi_is_signed<type>()
#define IS_FUNCTION_POINTER(type) std::is_function_v<std::remove_pointer_t<type>>
/* What is an int in C is of its enumeration's type in C++, so signs are C's business. */
#define HAS_VALUE(expression, value, size, is_signed) (NUMBER(expression) == value && sizeof(expression) == size)
#define IS_ENUMERATOR(type, name, value) (SAME_TYPE(decltype(name), type) && NUMBER(name) == value)

template <typename Type>
constexpr bool abi_is_signed() {
  if constexpr (std::is_enum_v<Type>) {
    return std::is_signed_v<std::underlying_type_t<Type>>;
  } else {
    return std::is_signed_v<Type>;
  }
}
extern "C" {
#else
#define ABI_STATIC_ASSERT _Static_assert
#define ALIGN_OF(type) _Alignof(type)
#define TYPE_OF(expression) __typeof__(expression)
#define TYPE_OF_MEMBER(type, member) __typeof__(((type*)0)->member)
#define SIZE_OF_MEMBER(type, member) sizeof(((type*)0)->member)
#define SAME_TYPE(type, ...) __builtin_types_compatible_p(type, __VA_ARGS__)
#define NUMBER(expression) ((unsigned long long)(expression))
#define IS_SIGNED(type) ((type)-1 < (type)1)
/* Of all pointers, only those to functions point at what has size 1 and is the same when dereferenced twice. */
#define IS_FUNCTION_POINTER(type) __builtin_types_compatible_p(__typeof__(***(type)0), __typeof__(*(type)0))
#define HAS_VALUE(expression, value, size, is_signed) \
  (NUMBER(expression) == value && sizeof(expression) == size && IS_SIGNED(__typeof__(expression)) == is_signed)
#define IS_ENUMERATOR(type, name, value) (sizeof(type) == 4 && NUMBER(name) == value)
#endif

/* An argument for macros that cast. */
#define A_VALUE (abi_a_value)
extern void* abi_a_value;

/* What the fakes and the slots of the checks return when they were called as they should be. */
#define ABI_ANSWER 0x2468aceu

struct abi_check {
  const char* kind;
  const char* name;
  const char* (*run)(void); /* null if it held at compile time; returns null if it holds, else a complaint */
};

/* All checks of one table in one language, ended by a null kind. */
struct abi_checks {
  const struct abi_check* at_compile_time;
  const struct abi_check* at_run_time;
};

/* The arguments that dat_ia_openv was last called with. */
struct abi_opened {
  const char* name;
  int qlen;
  void** evd;
  void** ia;
  unsigned major;
  unsigned minor;
  unsigned thread_safety;
};
extern struct abi_opened abi_opened;

/* What dat_extension_op asks whether its arguments are right. */
extern int (*abi_extension_hook)(void* handle, int op, va_list rest);

void abi_fill(void* where, size_t size, int byte);
void abi_fill_with_one(void* where, size_t size, int unused);
uintptr_t abi_number_of(const void* pointer);

#ifdef __cplusplus
}
#endif
