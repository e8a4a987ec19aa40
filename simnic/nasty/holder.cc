// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nasty/holder.h"

#include "simnic/nasty/nasty_carrier.h"

namespace softdat::simnic::nasty {

Holder::Holder(NastyCarrier& carrier) : carrier_(carrier) {
  carrier_.add_holder();
}

Holder::~Holder() {
  carrier_.remove_holder(*this);
}

void Holder::begin_hold(unsigned looks, base::Duration longest) {
  hold_ = carrier_.hold(*this, looks, longest);
}

void Holder::end_hold() {
  // Before the call, which may begin the next hold.
  hold_.reset();
  on_hold_over();
}

}  // namespace softdat::simnic::nasty
