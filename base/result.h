// SPDX-License-Identifier: BSD-2-Clause
// Result<T, E>: a value, or the reason why there is none. For expected failures; the compiler warns if one is ignored.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

namespace softdat::base {

// Marks a reason, so that a Result<T, E> can be made from it even if T and E convert into each other.
template <typename E>
struct Failure {
  E reason;
};

template <typename E>
Failure(E) -> Failure<E>;

template <typename T, typename E>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  template <typename F>
  Result(Failure<F> failure) : state_(std::in_place_index<1>, std::move(failure.reason)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRE: ok().
  T& value() & { return *std::get_if<0>(&state_); }
  const T& value() const& { return *std::get_if<0>(&state_); }
  T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

  // REQUIRES: !ok().
  const E& reason() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, E> state_;
};

// Results that are one number: those of two enumerations, and those without a value.
template <typename T, typename E>
concept IsNumber = std::is_enum_v<E> &&(std::is_enum_v<T> || std::is_empty_v<T>);

// One number, which functions return in a register: a variant would be put together in memory from two small stores and
// read as one word, which waits for both. REQUIRES: the enumerators are from 0 to 2^30 - 1.
template <typename T, typename E>
requires IsNumber<T, E>
class [[nodiscard]] Result<T, E> {
 public:
  Result(T value) {
    if constexpr (std::is_enum_v<T>) number_ = static_cast<int>(value) * 2;
  }
  template <typename F>
  Result(Failure<F> failure) : number_(static_cast<int>(E{failure.reason}) * 2 + 1) {}

  bool ok() const { return number_ % 2 == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok().
  T value() const {
    if constexpr (std::is_enum_v<T>)
      return static_cast<T>(number_ / 2);
    else
      return {};
  }
  // REQUIRES: !ok().
  E reason() const { return static_cast<E>(number_ / 2); }

 private:
  int number_ = 0;  // twice the value, or one more than twice the reason
};

}  // namespace softdat::base
