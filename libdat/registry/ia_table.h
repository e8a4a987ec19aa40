// SPDX-License-Identifier: BSD-2-Clause
// The open IAs of this process. DAT 2.0 hands the consumer a small integer for an IA and keeps the
// provider's own handle behind it; DAT 1.2 hands out the provider's handle itself. Either way an IA
// handle is valid exactly when it is found here, so no check ever reads through one. Any function
// from any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libdat/registry/lock_places.h"
#include "libdat/registry/registry.h"

namespace softdat::registry {

// What is behind an IA handle.
struct OpenIa {
  void* object = nullptr;       // the provider's own handle
  const void* table = nullptr;  // the provider's function table, as the object names it
  Lease lease;
};

class IaTable {
 public:
  enum class Handles { kIntegers, kPointers };

  explicit IaTable(Handles handles) : handles_(handles) {}

  IaTable(const IaTable&) = delete;
  IaTable& operator=(const IaTable&) = delete;

  // The handle to give the consumer; null when there is no integer left (`ia` is unchanged then).
  [[nodiscard]] void* add(OpenIa&& ia);

  // The object and table behind a handle. With integers the provider's own handle is taken too:
  // providers put it into events. Nothing when no IA is open under that handle.
  struct Found {
    void* object;
    const void* table;
  };
  [[nodiscard]] std::optional<Found> find(const void* handle) const;

  // The integer that stands for the provider's handle `object`, or null.
  [[nodiscard]] void* integer_of(const void* object) const;

  // The provider's handle behind an integer, or null.
  [[nodiscard]] void* object_of(const void* integer) const;

  // One closer at a time: the second of two concurrent closes finds nothing. The IA stays visible
  // to find() until end_close(). `token` is what the other two take.
  struct Closing {
    std::size_t token;
    void* object;
    const void* table;
  };
  [[nodiscard]] std::optional<Closing> begin_close(const void* handle);

  // The provider closed it: the handle is invalid from here on.
  [[nodiscard]] OpenIa end_close(std::size_t token);

  // The provider refused: all is as before.
  void cancel_close(std::size_t token);

  // The objects open under this IA name.
  [[nodiscard]] std::vector<Found> find_by_name(const std::string& ia_name) const;

  // For fork handlers, so that the child finds the table consistent.
  [[nodiscard]] bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  struct Row {
    OpenIa ia;
    bool is_open = false;
    bool is_closing = false;
    std::size_t next_free = 0;  // while it is free
  };

  std::optional<std::size_t> find_row_locked(const void* handle) const;
  std::optional<std::size_t> find_object_locked(const void* object) const;
  std::optional<std::size_t> take_row_locked();
  void* handle_of(std::size_t row) const;
  void check_locked() const;

  const Handles handles_;
  mutable base::Mutex<locks::kIaTable> mutex_;

  // Guarded by mutex_.
  std::deque<Row> rows_;  // row n is integer n + 1
  // Free rows are chained, so that closing takes no memory; oldest first, so that a stale integer stays invalid for
  // long.
  std::size_t oldest_free_ = 0;
  std::size_t newest_free_ = 0;
  std::size_t free_ = 0;
};

}  // namespace softdat::registry
