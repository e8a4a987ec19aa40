// SPDX-License-Identifier: BSD-2-Clause
// ShmChannel: one connection over a link, as its queue pair sees it. Holds how far the message
// under way has come in each direction; the ring and the connection's number are the link's.
// Called with the baton, but for send_short(), which its owner calls with or without.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "transport/channel.h"
#include "transport/shm/record.h"
#include "transport/tap.h"

namespace softdat::transport::shm {

class Link;
class ShmCarrier;

enum class ChannelState : std::uint8_t {
  kContacting,  // no link to the peer yet
  kConnecting,  // asked, not answered
  kAccepting,   // answered, not confirmed
  kOpen,
  kClosed,  // its sink hears nothing more, but for news under way
};

// What a sink is to be told at the next turn, because now is no moment to call it.
enum class News : std::uint8_t { kNone, kRefused };

// What a connector asked for; kept until the answer, in case it has to ask elsewhere.
struct Question {
  Address remote{};
  Offer offer{};
  int attempts = 0;
};

// A channel stands in at most one queue at a time: of a connector (waiting for the link), of a link
// (waiting for room), or of the carrier (waiting to tell its news). Its destructor takes it out.
using QueueHook = boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;

class ShmChannel final : public Channel, public QueueHook {
 public:
  ShmChannel(ShmCarrier& carrier, ChannelSink& sink);
  ~ShmChannel() override;

  SendResult send(const Message& message, PayloadSource* payload) override;
  bool takes_short_sends() const override { return true; }
  bool send_short(const ShortSend& short_send) override;
  void flush() override;
  void terminate(const TerminateCode& code) override;
  void close(CloseMode mode) override;
  Features features() const override { return features_; }
  std::shared_ptr<PeerResources> peer_resources() const override;
  const char* carrier_name() const override { return "shm"; }

  // For the carrier and the link.
  void ask(Question question);
  const Question* question() const { return question_.get(); }
  void count_attempt() { ++question_->attempts; }
  void be_contacting() { state_ = ChannelState::kContacting; }
  void join(Link& link, std::uint32_t number, ChannelState state);
  // The link has nothing more to do with this channel.
  void leave();
  // Accepting: what on_established() will tell, and what this side has answered.
  void expect(const Offer& peer, const Offer& reply);

  // Watched from now on, unless `tap` is null; and no longer.
  void begin_tap(std::unique_ptr<ChannelTap> tap);
  void join_tap(Tapper& tapper);
  void end_tap();

  // What the peer said. False when it had no right to say so.
  bool on_accept(const Offer& reply);
  bool on_confirm();
  bool on_payload(RecordKind kind, std::span<const std::byte> bytes);
  // The same of a kMessage that is a short send. False: it is none, or not now, and nothing was done.
  bool take_short_send(std::span<const std::byte> bytes) {
    if (state_ != ChannelState::kOpen || is_mid_message_ || bytes.size() < kWordBytes) return false;
    std::uint64_t first = 0;
    std::memcpy(&first, bytes.data(), sizeof first);
    const HeadWord head = unpack_head(first);
    bytes = bytes.subspan(kWordBytes);
    const bool is_send = head.opcode == Opcode::kSend || head.opcode == Opcode::kSendSolicited;
    if (!is_send || head.length != bytes.size()) return false;
    ShortSend short_send{.opcode = head.opcode, .payload = bytes};
    if (head.acks != 0) short_send.acked = heard_ + head.acks;
    if (!sink_->on_short_send(short_send)) return false;
    heard_ += head.acks;
    return true;
  }
  // The channel has left its link, for this reason; tells the sink.
  void on_end(CloseReason reason, const TerminateCode& code, Refusal refusal);
  void on_refusal(const RefusalNotice& notice);
  void on_room();
  void tell_later(News news, Refusal refusal);
  void tell_news();

  ChannelState state() const { return state_; }
  std::uint32_t number() const { return number_; }

  boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> carrier_hook;

 private:
  // An ack waits for the next record, or for flush(): it then rides in that record's head, if it can.
  class WaitingAck {
   public:
    bool is_there() const { return is_there_; }
    std::uint64_t value() const { return value_; }
    bool may_ride() const { return may_ride(value_); }
    bool may_ride(std::uint64_t value) const {
      // At least one more than told, and not too many; in one comparison.
      return value - told_ - 1 < std::numeric_limits<std::uint16_t>::max();
    }
    // REQUIRES: may_ride(value).
    std::uint16_t as_acks(std::uint64_t value) const { return static_cast<std::uint16_t>(value - told_); }
    std::uint16_t as_acks() const { return is_there_ ? as_acks(value_) : std::uint16_t{0}; }
    void hold(std::uint64_t value) {
      value_ = value;
      is_there_ = true;
    }
    void note_told(std::uint64_t value) {
      told_ = value;
      is_there_ = false;
    }
    void note_told() { note_told(value_); }

   private:
    std::uint64_t value_ = 0;
    std::uint64_t told_ = 0;  // the last one that the peer knows of
    bool is_there_ = false;
  };

  enum class Piece { kTaken, kNoRoom, kFault };
  class Survival;

  void mark_destroyed();

  SendResult send_message(const Message& message, PayloadSource* payload);
  SendResult send_watched(const Message& message, PayloadSource* payload);
  Piece write_piece(const Message& message, PayloadSource* payload);
  bool fill(PayloadSource* payload, std::byte* to, std::size_t length) const;
  void publish(RecordKind kind, std::uint32_t bytes);
  void tell_ack();
  bool begin_message(std::span<const std::byte>& bytes, std::uint16_t& acks);
  bool hear_acks(std::uint16_t acks);
  bool place(std::span<const std::byte> bytes);
  SendResult block();
  SendResult fault();
  void finish(RecordKind kind, std::span<const std::byte> bytes);

  ShmCarrier& carrier_;
  ChannelSink* sink_;     // null: hears nothing more
  Link* link_ = nullptr;  // null: not yet, or no more
  std::uint32_t number_ = 0;
  ChannelState state_ = ChannelState::kContacting;
  News news_ = News::kNone;
  Refusal news_refusal_ = Refusal::kUnreachable;
  bool wants_to_write_ = false;  // send() was tried too early; owes an on_writable()
  bool is_mid_message_ = false;  // the beginning of current_ has arrived
  Features features_ = 0;
  std::uint64_t taken_ = 0;   // of the message that send() has taken in part
  std::uint64_t placed_ = 0;  // of current_
  Message current_;
  WaitingAck ack_;           // ours to the peer
  std::uint64_t heard_ = 0;  // the peer's last
  // A ShortSend with this many bytes or more does not go by send_short(); 0: none does. Written with the baton.
  std::atomic<std::size_t> brief_end_{kMostPayload + 1};
  TapPoint tap_;
  // For taps. Fixed once the question or the answer is known.
  Address remote_{};
  std::uint16_t own_port_ = 0;
  bool is_initiator_ = false;
  std::uint64_t service_id_ = 0;
  Survival* survival_ = nullptr;
  std::unique_ptr<Question> question_;
  std::unique_ptr<Offer> peer_;
};

using AllChannels = boost::intrusive::list<
    ShmChannel,
    boost::intrusive::member_hook<ShmChannel, decltype(ShmChannel::carrier_hook), &ShmChannel::carrier_hook>,
    boost::intrusive::constant_time_size<false>>;
using ChannelQueue = boost::intrusive::list<ShmChannel, boost::intrusive::constant_time_size<false>>;

}  // namespace softdat::transport::shm
