// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/handshake.h"

#include <cstring>
#include <utility>

#include "base/unique_bytes.h"
#include "transport/shm/segment.h"

namespace softdat::transport::shm {
namespace {

// Both packets on the wire: plain words in the machine's order, and the 16 bytes of the sender.
struct Words {
  std::uint64_t magic = kSegmentMagic;
  std::uint32_t version = kSegmentVersion;
  LinkFeatures features = 0;
  CarrierId sender{};
  std::uint32_t answer = 0;
  std::uint32_t spare = 0;
};
static_assert(sizeof(Words) == 40);

Words words_of(const Sender& sender, bool shares_files) {
  const LinkFeatures features = (shares_files ? kSharesFiles : 0) | (sender.joins_fences ? kJoinsFences : 0);
  return {.features = features, .sender = sender.id};
}

std::span<const std::byte> as_bytes(const Words& words) {
  return {reinterpret_cast<const std::byte*>(&words), sizeof words};
}

ReceiveResult receive_words(int socket, Words& words, Packet& packet) {
  std::array<std::byte, 256> data;
  const ReceiveResult result = receive_packet(socket, data, packet);
  if (result != ReceiveResult::kPacket) return result;
  // A later build may send more: what stands behind these words is not looked at.
  if (packet.length < sizeof words) return ReceiveResult::kEnd;
  std::memcpy(&words, data.data(), sizeof words);
  return words.magic == kSegmentMagic ? ReceiveResult::kPacket : ReceiveResult::kEnd;
}

// Takes the descriptors of a packet in their order.
class Descriptors {
 public:
  explicit Descriptors(Packet& packet) : packet_(packet) {}
  // Empty when there are no more.
  base::UniqueFd next() { return taken_ < packet_.fd_count ? std::move(packet_.fds[taken_++]) : base::UniqueFd(); }

 private:
  Packet& packet_;
  std::size_t taken_ = 0;
};

}  // namespace

CarrierId make_carrier_id() {
  CarrierId id;
  base::fill_with_unique_bytes(id);
  return id;
}

bool send_hello(int socket, const Sender& sender, const ResourceFiles& files) {
  const bool shares = files.are_there();
  const Words words = words_of(sender, shares);
  return send_packet(socket, as_bytes(words), std::span(files.fds).first(shares ? files.fds.size() : 0));
}

bool send_welcome(int socket, const Sender& sender, Answer answer, int memory, const ResourceFiles& files) {
  const bool shares = files.are_there();
  Words words = words_of(sender, shares);
  words.answer = static_cast<std::uint32_t>(answer);
  const int fds[] = {memory, files.fds[0], files.fds[1]};
  const std::size_t count = answer != Answer::kNewLink ? 0 : shares ? 3 : 1;
  return send_packet(socket, as_bytes(words), std::span(fds).first(count));
}

// A peer of another version is still answered, so that it can say why nobody connects.
ReceiveResult receive_hello(int socket, Hello& into) {
  Words words;
  Packet packet;
  const ReceiveResult result = receive_words(socket, words, packet);
  if (result != ReceiveResult::kPacket) return result;
  into.is_our_version = words.version == kSegmentVersion;
  into.sender = words.sender;
  into.features = words.features & kOurLinkFeatures;
  Descriptors fds(packet);
  if ((into.features & kSharesFiles) == 0) return ReceiveResult::kPacket;
  for (base::UniqueFd& file : into.files) file = fds.next();
  return into.files.back() ? ReceiveResult::kPacket : ReceiveResult::kEnd;
}

ReceiveResult receive_welcome(int socket, Welcome& into) {
  Words words;
  Packet packet;
  const ReceiveResult result = receive_words(socket, words, packet);
  if (result != ReceiveResult::kPacket) return result;
  into.sender = words.sender;
  into.features = words.features & kOurLinkFeatures;
  const bool is_ours = words.version == kSegmentVersion;
  // The version counts on both sides, so either build may be the newer one.
  into.answer = is_ours ? static_cast<Answer>(words.answer) : Answer::kNoCommonVersion;
  if (into.answer != Answer::kNewLink) return ReceiveResult::kPacket;
  Descriptors fds(packet);
  into.memory = fds.next();
  if (!into.memory) return ReceiveResult::kEnd;
  if ((into.features & kSharesFiles) == 0) return ReceiveResult::kPacket;
  for (base::UniqueFd& file : into.files) file = fds.next();
  return into.files.back() ? ReceiveResult::kPacket : ReceiveResult::kEnd;
}

}  // namespace softdat::transport::shm
