// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/open.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/narrow.h"
#include "base/standard_numbers.h"
#include "verbs/address.h"
#include "verbs/device.h"
#include "verbs/library.h"
#include "verbs/place.h"
#include "verbs/private_data.h"
#include "verbs/scatter_list.h"
#include "verbs/traits.h"

namespace softdat::verbs {
namespace {

using Problem = std::string;

std::string cause() {
  return std::string(" (") + std::strerror(errno) + ")";
}

ibv_context* open_context(const Library& library, const std::string& name) {
  int count = 0;
  ibv_device** const list = library.devices.get_device_list(&count);
  if (list == nullptr) return nullptr;
  ibv_context* context = nullptr;
  for (int i = 0; i < count; ++i) {
    if (name == list[i]->name) context = library.devices.open_device(list[i]);
  }
  library.devices.free_device_list(list);
  return context;
}

base::Result<std::shared_ptr<Adapter>, Problem> open_adapter(const Library& library, const Place& place) {
  // The device's descriptors must not become the standard input or output of the program.
  const base::StandardNumbersTaken taken;
  auto adapter = std::make_shared<Adapter>(library);
  adapter->context = open_context(library, place.device);
  if (adapter->context == nullptr) return base::Failure{"RDMA device " + place.device + " cannot be opened" + cause()};
  adapter->is_iwarp = adapter->context->device->transport_type == IBV_TRANSPORT_IWARP;
  adapter->completions = library.objects.create_comp_channel(adapter->context);
  if (adapter->completions == nullptr) {
    return base::Failure{"RDMA device " + place.device + " gives no completion channel" + cause()};
  }
  adapter->connections = library.cm.create_event_channel();
  if (adapter->connections == nullptr) {
    return base::Failure{"the RDMA connection manager cannot be opened" + cause()};
  }
  return adapter;
}

// ibv_query_port knows an older, shorter form of what it fills in, which begins as this one does.
std::uint32_t max_message_size(const Library& library, ibv_context* context, std::uint8_t port) {
  ibv_port_attr attributes{};
  auto* const shorter = reinterpret_cast<_compat_ibv_port_attr*>(&attributes);
  // A port that does not answer is trusted with 1 MiB. InfiniBand's own limit is 2^31 bytes.
  if (library.devices.query_port(context, port, shorter) != 0) return 1u << 20;
  return std::min(attributes.max_msg_sz, 1u << 31);
}

constexpr std::uint32_t kSoftIwarp = 0x626d74;  // Linux's siw

Traits traits_of(const Place& place, const Adapter& adapter, const ibv_device_attr& able) {
  Traits traits;
  traits.place = place;
  traits.is_iwarp = adapter.is_iwarp;
  traits.has_atomics = able.atomic_cap != IBV_ATOMIC_NONE;
  traits.has_immediate = !traits.is_iwarp;
  traits.has_invalidate = (able.device_cap_flags & IBV_DEVICE_MEM_WINDOW) != 0;
  // Windows of type 2. Those of type 1 alone are not offered.
  constexpr unsigned kNarrow = IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  traits.has_windows = traits.has_invalidate && (able.device_cap_flags & kNarrow) != 0 && able.max_mw > 0;
  // 0: the device has no limit of its own for reads.
  const auto read_sge = static_cast<std::uint32_t>(able.max_sge_rd > 0 ? able.max_sge_rd : able.max_sge);
  traits.max_read_sge = std::min(read_sge, kMostSegments);
  traits.max_private_data = base::narrow<std::uint32_t>(traits.is_iwarp ? kMostOnIwarp : kMostOnInfiniBand);
  if (able.vendor_id != kSoftIwarp) return traits;
  // As initiator it resets a connection when a message stands behind the reply before it has read that one, which on a
  // busy host it comes to late; as responder it listens only after it has replied, and sleeps on what came before.
  traits.pause_of_initiator = std::chrono::milliseconds(10);
  traits.pause_of_responder = std::chrono::milliseconds(100);
  return traits;
}

std::uint32_t count_of(int number) {
  return static_cast<std::uint32_t>(std::max(number, 0));
}

// libsiw takes a queue that is mapped as the 145th page of a process for a failure, and the next try gets that page
// again. So the first queue that is made covers it, and is never used: 256 pages, with 32 bytes an entry.
constexpr int kOverTheHole = 20'000;

std::string vendor_of(const ibv_device_attr& able) {
  char text[64];
  std::snprintf(text, sizeof text, "RDMA vendor 0x%06x part %u", able.vendor_id, able.vendor_part_id);
  return text;
}

hca::DeviceAttributes attributes_of(const Traits& traits, const ibv_device_attr& able, std::uint32_t max_message) {
  return {.name = "verbs:" + traits.place.device,
          .vendor = vendor_of(able),
          .address = traits.place.address,
          .max_qp = count_of(able.max_qp),
          .max_wr = std::min(count_of(able.max_qp_wr), 1u << 16),
          .max_sge = std::min(count_of(able.max_sge), kMostSegments),
          .max_cq = count_of(able.max_cq),
          // 32 slots remain for completions that nobody wants (kLeastSpare of DeviceCompletionQueue).
          .max_cqe = std::min(count_of(able.max_cqe) - 32, 1u << 22),
          .max_mr = count_of(able.max_mr),
          .max_pd = count_of(able.max_pd),
          .max_mr_size = able.max_mr_size,
          .max_message_size = max_message,
          .max_ird = std::min(count_of(able.max_qp_rd_atom), 255u),
          .max_ord = std::min(count_of(able.max_qp_init_rd_atom), 255u),
          .max_private_data = traits.max_private_data,
          .max_srq = std::min(count_of(able.max_srq), 0xffffu),
          .max_srq_wr = std::min(count_of(able.max_qp_wr), 1u << 16),
          .max_srq_sge = std::min(count_of(able.max_sge), kMostSegments),
          .max_mw = traits.has_windows ? count_of(able.max_mw) : 0,
          .max_read_sge = traits.max_read_sge,
          .has_atomics = traits.has_atomics,
          .has_immediate = traits.has_immediate,
          .has_zero_based = false,  // see Device::register_memory()
          .has_datagrams = false,
          .transport = traits.is_iwarp ? hca::Transport::kIwarp : hca::Transport::kInfiniBand};
}

}  // namespace

base::Result<std::unique_ptr<hca::Device>, std::string> open_device(const std::string& target) {
  const auto& loaded = Library::instance();
  if (!loaded) return base::Failure{loaded.reason()};
  const Library& library = *loaded.value();
  const auto place = find_place(library, target);
  if (!place) return base::Failure{place.reason()};
  auto adapter = open_adapter(library, place.value());
  if (!adapter) return base::Failure{adapter.reason()};
  ibv_context* const context = adapter.value()->context;
  ibv_device_attr able{};
  if (const int error = library.devices.query_device(context, &able); error != 0) {
    return base::Failure{"RDMA device " + place.value().device + " does not tell what it can do (" +
                         std::strerror(error) + ")"};
  }
  if (able.vendor_id == kSoftIwarp)
    adapter.value()->plug = library.objects.create_cq(context, kOverTheHole, nullptr, nullptr, 0);
  const Traits traits = traits_of(place.value(), *adapter.value(), able);
  const std::uint32_t max_message = max_message_size(library, context, place.value().port);
  return std::unique_ptr<hca::Device>(
      new Device(std::move(adapter).value(), traits, attributes_of(traits, able, max_message)));
}

std::vector<Listing> list_devices() {
  const auto& loaded = Library::instance();
  if (!loaded) return {{"verbs", "", loaded.reason()}};
  std::vector<RejectedCandidate> others;
  std::vector<Listing> result;
  for (const Place& place : find_all_places(*loaded.value(), others)) {
    result.push_back({"verbs:" + place.device, place.interface + ", " + text_of(place.address), ""});
  }
  for (const RejectedCandidate& other : others) result.push_back({other.name, "", other.reason});
  return result;
}

}  // namespace softdat::verbs
