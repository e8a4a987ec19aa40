// SPDX-License-Identifier: BSD-2-Clause
// Object: the base of all DAT objects, with kind, handle, interface adapter and the consumer's context.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace softdat::object {

class InterfaceAdapter;

// A DAT handle: the address of a Cell (handle_table.h), or null.
using Handle = void*;

// Numbered as DAT_HANDLE_TYPE of both ABIs.
enum class Kind : std::uint8_t {
  kCr = 0,
  kEp = 1,
  kEvd = 2,
  kIa = 3,
  kLmr = 4,
  kPsp = 5,
  kPz = 6,
  kRmr = 7,
  kRsp = 8,
  kCno = 9,
  kSrq = 10,
  kCsp = 11,
  kAddressHandle = 12,  // of the InfiniBand extension of DAT 2.0
};
inline constexpr std::size_t kKindCount = 13;
// "EP", "LMR" ...
const char* name_of(Kind kind);

// Created by the class's create(), used through a Pin, ended by the class's free(). Other objects that need it hold a
// shared_ptr: an object may outlive its handle, but not its parents.
class Object : public std::enable_shared_from_this<Object> {
 public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  Kind kind() const { return kind_; }
  Handle handle() const { return handle_.load(std::memory_order_relaxed); }

  // The IA that the object belongs to; an IA belongs to itself.
  InterfaceAdapter& ia() const { return *ia_; }
  Handle ia_handle() const;

  // dat_set_consumer_context, dat_get_consumer_context. Any thread; the last value stored wins.
  void set_consumer_context(std::uint64_t context) { consumer_context_.store(context); }
  std::uint64_t consumer_context() const { return consumer_context_.load(); }

 protected:
  Object(Kind kind, InterfaceAdapter* ia) : kind_(kind), ia_(ia) {}

 private:
  friend class HandleTable;
  friend class InterfaceAdapter;

  // The handle is closing, but calls may be under way: must wake threads that wait in one. Called without locks.
  virtual void on_closing() {}
  // No call is under way any more: must release devices and parents. Called without locks.
  virtual void detach() {}

  // Fixed before the handle is handed out.
  const Kind kind_;
  // Stored once. Atomic, because an asynchronous EVD can be found a moment before its IA, whose handle it names.
  std::atomic<Handle> handle_{nullptr};
  InterfaceAdapter* ia_;
  std::shared_ptr<InterfaceAdapter> ia_owner_;  // null in an IA itself

  std::atomic<std::uint64_t> consumer_context_{0};
};

}  // namespace softdat::object
