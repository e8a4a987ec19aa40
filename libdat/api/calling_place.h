// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace softdat::api {

// Where the consumer made the call that returns to `address`, as far as our caller sees: that of a registry, where the
// compiler did not have it jump, or the consumer's. Any thread.
const void* calling_place(const void* address);

// While it lives, calling_place() answers the same place to the thread's other entry points, which this one calls.
class KnownPlace {
 public:
  // `address`: where the entry point returns to.
  explicit KnownPlace(const void* address);
  ~KnownPlace();
  KnownPlace(const KnownPlace&) = delete;
  KnownPlace& operator=(const KnownPlace&) = delete;

  const void* place() const { return place_; }

 private:
  const void* const outer_;
  const void* place_;
};

}  // namespace softdat::api
