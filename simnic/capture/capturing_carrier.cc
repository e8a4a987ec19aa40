// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/capturing_carrier.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <utility>

#include "simnic/capture/capturing_channel.h"
#include "simnic/port_base.h"
#include "simnic/wrapped_port.h"

namespace softdat::simnic::capture {
namespace {

using transport::ChannelSink;
using transport::InboundRequest;
using transport::Offer;

class CapturingRequest final : public InboundRequest {
 public:
  CapturingRequest(const Place& place, std::unique_ptr<InboundRequest> inner)
      : place_(place), inner_(std::move(inner)) {}

  const Offer& offer() const override { return inner_->offer(); }
  bool is_alive() const override { return inner_->is_alive(); }

  std::unique_ptr<transport::Channel> accept(const Offer& reply, ChannelSink& sink) override {
    auto channel = std::make_unique<CapturingChannel>(place_, sink);
    return channel->accept(*inner_, reply) ? std::move(channel) : nullptr;
  }

  void reject(std::span<const std::byte> private_data) override {
    try {
      const Offer& asked = offer();
      Stream stream(place_, responder_of(place_.address, asked), initiator_of(asked), 0, false);
      stream.begin(asked, now(), "");
      stream.reject(asked, private_data);
    } catch (const std::bad_alloc&) {
      place_.recorder.count_drop(place_.interface);
    }
    inner_->reject(private_data);
  }

 private:
  const Place& place_;
  const std::unique_ptr<InboundRequest> inner_;
};

// The words with which the process was started.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::string text(std::istreambuf_iterator<char>(file), {});
  for (char& letter : text) {
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  }
  while (text.ends_with(' ')) text.pop_back();
  return text.substr(0, 1000);
}

std::string description() {
  const char* const copy = std::getenv("SOFTDAT_RUN_COPY");
  const std::string words = command_line();
  return copy == nullptr || *copy == '\0' ? words : std::string(copy) + ": " + words;
}

Place make_place(Recorder& recorder, const std::string& adapter, const transport::Address& address) {
  const std::string name =
      std::string(program_invocation_short_name) + '[' + std::to_string(::getpid()) + "] " + adapter;
  const std::uint32_t interface = recorder.add_interface(name, description());
  const std::uint32_t base = port_base_of(recorder.number(), interface);
  return {.recorder = recorder, .interface = interface, .name = name, .address = address, .port_base = base};
}

}  // namespace

CapturingCarrier::CapturingCarrier(std::unique_ptr<transport::Carrier> inner, Recorder& recorder,
                                   const std::string& adapter, const transport::Address& address)
    : inner_(std::move(inner)), place_(make_place(recorder, adapter, address)) {}

CapturingCarrier::~CapturingCarrier() {
  inner_.reset();
  place_.recorder.flush();
}

transport::ListenResult CapturingCarrier::listen(std::uint64_t service_id, std::uint32_t backlog,
                                                 transport::PortSink& sink) {
  return WrappedPort::listen(*inner_, service_id, backlog, sink, [this](std::unique_ptr<InboundRequest> request) {
    return std::make_unique<CapturingRequest>(place_, std::move(request));
  });
}

std::unique_ptr<transport::Channel> CapturingCarrier::connect(const transport::Address& remote, const Offer& request,
                                                              ChannelSink& sink) {
  auto channel = std::make_unique<CapturingChannel>(place_, sink);
  channel->connect(*inner_, remote, request);
  return channel;
}

}  // namespace softdat::simnic::capture
