// SPDX-License-Identifier: BSD-2-Clause
// Endpoint attributes and parameters between this API's layouts and the objects'.
#pragma once

#include "libdat/api/abi.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/endpoint_attributes.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// The fields of `from` that the mask (DAT_EP_FIELD_EP_ATTR_xxx) names, put into `to`.
void read_attributes(const DAT_EP_ATTR& from, DAT_EP_PARAM_MASK mask, object::EndpointAttributes& to);

void write_attributes(const object::EndpointAttributes& from, DAT_EP_ATTR& to);

void write_parameters(const object::EndpointParameters& from, DAT_EP_PARAM& to);

// Whether the counts of named attributes are those of lists without any: none is known, and a
// request for one must not be forgotten silently.
bool has_named_attributes(const DAT_EP_ATTR& attributes, DAT_EP_PARAM_MASK mask);

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
