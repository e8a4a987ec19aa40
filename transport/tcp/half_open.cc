// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/half_open.h"

#include <algorithm>

#include "base/assert.h"

namespace softdat::transport::tcp {
namespace {

// One host has a whole IPv6 network of 64 bits to choose addresses from, so that network counts as one source.
Address source_of(const Address& address) {
  Address source = address.with_port(0);
  std::fill(source.ipv6.bytes.begin() + 8, source.ipv6.bytes.end(), std::uint8_t{0});
  return source;
}

}  // namespace

HalfOpen::Entry* HalfOpen::surplus(const Address& source) {
  const auto found = sources_.find(source_of(source));
  // A source that has too many loses its own oldest first, so it cannot crowd out others.
  if (found != sources_.end() && found->second.size() >= most_per_source_) return &found->second.front();
  return all_.size() >= most_ ? &all_.front() : nullptr;
}

void HalfOpen::add(Entry& entry, const Address& source) {
  SOFTDAT_DEBUG_CHECK(!entry.AllHook::is_linked(), "a connection is counted as half open once");
  SOFTDAT_DEBUG_CHECK(surplus(source) == nullptr, "an older connection makes room before a new one is counted",
                      all_.size());
  entry.source_ = source_of(source);
  sources_[entry.source_].push_back(entry);
  all_.push_back(entry);
}

void HalfOpen::remove(Entry& entry) {
  if (!entry.AllHook::is_linked()) return;
  all_.erase(all_.iterator_to(entry));
  const auto found = sources_.find(entry.source_);
  base::check(found != sources_.end(), "a half-open connection is listed by its source, too");
  found->second.erase(found->second.iterator_to(entry));
  if (found->second.empty()) sources_.erase(found);
}

}  // namespace softdat::transport::tcp
