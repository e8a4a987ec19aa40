// SPDX-License-Identifier: BSD-2-Clause
// What every DAT object has: a kind, a handle, an IA it belongs to, and a consumer's context.
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

// Objects are made by their class's create(), reached through a Pin, and ended by their class's
// free(). They neither copy nor move. Other objects that need one alive hold a shared_ptr: it may
// then outlive its handle, never its parents.
class Object : public std::enable_shared_from_this<Object> {
 public:
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  Kind kind() const { return kind_; }
  Handle handle() const { return handle_; }

  // The IA that the object belongs to; an IA belongs to itself.
  InterfaceAdapter& ia() const { return *ia_; }
  Handle ia_handle() const;

  // dat_set/get_consumer_context. Any thread; the last one stored wins.
  void set_consumer_context(std::uint64_t context) { consumer_context_.store(context); }
  std::uint64_t consumer_context() const { return consumer_context_.load(); }

 protected:
  Object(Kind kind, InterfaceAdapter* ia) : kind_(kind), ia_(ia) {}

 private:
  friend class HandleTable;
  friend class InterfaceAdapter;

  // The handle is dead, calls may still be under way: wake whoever waits in one. No lock is held.
  virtual void on_closing() {}
  // No call is under way any more: let go of devices and parents. No lock is held.
  virtual void detach() {}

  // Fixed before the handle is handed out.
  const Kind kind_;
  Handle handle_ = nullptr;
  InterfaceAdapter* ia_;
  std::shared_ptr<InterfaceAdapter> ia_owner_;  // null in an IA itself

  std::atomic<std::uint64_t> consumer_context_{0};
};

}  // namespace softdat::object
