// SPDX-License-Identifier: BSD-2-Clause
// HalfOpen: the accepted connections that no consumer has: their peers have not sent the whole MPA request yet, or were
// refused and have not hung up. It bounds how many there are, in all and of each source address, and names the oldest,
// which has to make room. All operations but add() take constant time or the logarithm of the number of sources.
// Baton only.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <map>

#include "transport/offer.h"

namespace softdat::transport::tcp {

class HalfOpen {
  struct AllTag;
  struct SourceTag;
  using AllHook = boost::intrusive::list_base_hook<boost::intrusive::tag<AllTag>>;
  using SourceHook = boost::intrusive::list_base_hook<boost::intrusive::tag<SourceTag>>;

 public:
  // A base of the connection. REQUIRES: removed before it is destroyed.
  class Entry : public AllHook, public SourceHook {
   private:
    friend class HalfOpen;
    Address source_{};
  };

  // Both limits are at least 1.
  HalfOpen(std::size_t most, std::size_t most_per_source) : most_(most), most_per_source_(most_per_source) {}

  // The entry to remove before one of this source may be added: the oldest of the same source if that has its most,
  // else the oldest of all if all have. Null: there is room.
  Entry* surplus(const Address& source);
  // REQUIRES: surplus() is null. Throws std::bad_alloc and then has changed nothing.
  void add(Entry& entry, const Address& source);
  // Does nothing for an entry that is not here. Never allocates.
  void remove(Entry& entry);

  std::size_t size() const { return all_.size(); }

 private:
  using All = boost::intrusive::list<Entry, boost::intrusive::base_hook<AllHook>>;
  using OfSource = boost::intrusive::list<Entry, boost::intrusive::base_hook<SourceHook>>;

  const std::size_t most_;
  const std::size_t most_per_source_;
  // Owned by the baton; each in the order of arrival.
  All all_;
  std::map<Address, OfSource> sources_;
};

}  // namespace softdat::transport::tcp
