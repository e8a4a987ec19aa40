// SPDX-License-Identifier: BSD-2-Clause
// A raw TCP client sends what no peer would to a listening service point: whoever listens goes on
// serving others, and a connection that had come about breaks once.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/conformance/peer.h"

namespace softdat::conformance {
namespace {

constexpr unsigned kSeed = 815;

// A connection to the service point that knows no protocol.
class RawClient {
 public:
  RawClient(const sockaddr_in& address, std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in there = address;
    there.sin_port = htons(port);
    const timeval patience{static_cast<time_t>(kPatience / 1'000'000), 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(socket_, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0)
      throw SetupFailure("nobody listens on the port");
  }
  ~RawClient() { close(socket_); }

  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  // The peer may hang up at any time, so nothing is said about success.
  void send(const std::string& bytes) { static_cast<void>(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL)); }

  // Reads so many bytes; fewer when the peer ends the stream.
  std::string receive(std::size_t length) {
    std::string bytes(length, '\0');
    const ssize_t got = recv(socket_, bytes.data(), length, MSG_WAITALL);
    bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return bytes;
  }

  // True when the peer has closed or reset the stream.
  bool is_hung_up() {
    char bytes[4096];
    ssize_t got;
    while ((got = recv(socket_, bytes, sizeof bytes, 0)) > 0) continue;
    return got == 0 || errno == ECONNRESET;
  }

 private:
  int socket_;
};

std::string random_bytes(std::mt19937& random, std::size_t length) {
  std::string bytes(length, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// An MPA request (RFC 5044, 7.1) as any iWARP implementation could send it.
std::string mpa_request(unsigned char flags, unsigned char revision, std::uint16_t length) {
  std::string frame = "MPA ID Req Frame";
  frame += static_cast<char>(flags);
  frame += static_cast<char>(revision);
  frame += static_cast<char>(length >> 8);
  frame += static_cast<char>(length & 0xff);
  return frame;
}

class Garbage : public testing::Test {
 protected:
  void SetUp() override {
    DAT_CONN_QUAL qualifier = 0;
    require(
        dat_psp_create_any(server_.adapter.handle(), &qualifier, server_.cr_evd, DAT_PSP_CONSUMER_FLAG, &server_.psp),
        "dat_psp_create_any");
    ASSERT_LT(qualifier, 65536u);
    qualifier_ = static_cast<std::uint16_t>(qualifier);
    std::memcpy(&address_, server_.adapter.address(), sizeof address_);
  }

  // Whoever speaks DAT is still served.
  void expect_service() {
    Peer client(kClientName);
    Peer taker(kServerName);
    ASSERT_THAT(client.connect(server_, qualifier_), succeeds());
    ASSERT_THAT(dat_cr_accept(server_.next_request(), taker.ep, 0, nullptr), succeeds());
    next_event(client.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    next_event(taker.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED);
    expect_conversation(taker, client);
  }

  // A raw client whose request has been accepted on server_.ep.
  std::unique_ptr<RawClient> accepted_client() {
    auto client = std::make_unique<RawClient>(address_, qualifier_);
    client->send(mpa_request(0, 1, 0));
    require(dat_cr_accept(server_.next_request(), server_.ep, 0, nullptr), "dat_cr_accept");
    if (client->receive(20).substr(0, 16) != "MPA ID Rep Frame") throw SetupFailure("no MPA reply");
    return client;
  }

  void expect_one_broken_connection() {
    DAT_EVENT event = next_event(server_.connect_evd);
    if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) event = next_event(server_.connect_evd);
    EXPECT_THAT(event.event_number,
                testing::AnyOf(DAT_CONNECTION_EVENT_BROKEN, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR));
    EXPECT_EQ(server_.state(), DAT_EP_STATE_DISCONNECTED);
    EXPECT_TRUE(is_quiet(server_.connect_evd));
  }

  std::mt19937 random_{kSeed};
  Peer server_{kServerName};
  std::uint16_t qualifier_ = 0;
  sockaddr_in address_{};
};

TEST_F(Garbage, RandomBytesInsteadOfARequest) {
  for (const std::size_t length : {1u, 15u, 16u, 19u, 20u, 21u, 100u, 532u, 5000u, 100000u}) {
    RawClient client(address_, qualifier_);
    client.send(random_bytes(random_, length));
  }
  expect_service();
  EXPECT_TRUE(is_quiet(server_.cr_evd));
}

TEST_F(Garbage, WrongKeyIsHungUpOn) {
  RawClient client(address_, qualifier_);
  client.send(random_bytes(random_, 64));
  EXPECT_TRUE(client.is_hung_up());
  EXPECT_TRUE(is_quiet(server_.cr_evd));
}

TEST_F(Garbage, ClientsThatSayNothingDoNotBlockOthers) {
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(std::make_unique<RawClient>(address_, qualifier_));
  expect_service();
}

TEST_F(Garbage, RequestsCutOffAnywhere) {
  const std::string whole = mpa_request(0, 1, 8) + "12345678";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    RawClient client(address_, qualifier_);
    client.send(whole.substr(0, length));
  }
  expect_service();
  EXPECT_TRUE(is_quiet(server_.cr_evd));
}

TEST_F(Garbage, RequestsWithSenselessHeaders) {
  for (unsigned flags = 0; flags < 256; flags += 17) {
    for (const unsigned char revision : {0, 1, 2, 3, 255}) {
      RawClient client(address_, qualifier_);
      client.send(mpa_request(static_cast<unsigned char>(flags), revision, 0xffff) + random_bytes(random_, 600));
    }
  }
  while (const auto event = take_event(server_.cr_evd))
    static_cast<void>(reject_cr(event->event_data.cr_arrival_event_data.cr_handle));
  // Requests that were plausible may still be arriving.
  drain(server_.cr_evd);
  server_.stop_listening();
  drain(server_.cr_evd);
  SetUp();
  expect_service();
}

TEST_F(Garbage, RandomFramesBreakTheConnectionOnce) {
  for (const std::size_t length : {1u, 2u, 4u, 20u, 64u, 1000u, 70000u}) {
    ASSERT_THAT(server_.post_recv(0, 64, length), succeeds());
    {
      const auto client = accepted_client();
      client->send(random_bytes(random_, length));
    }
    expect_one_broken_connection();
    const auto completion = next_completion(server_.recv_evd);
    EXPECT_EQ(completion.status, DAT_DTO_ERR_FLUSHED);
    EXPECT_EQ(completion.user_cookie.as_64, length);
    require(dat_ep_reset(server_.ep), "dat_ep_reset");
  }
  expect_service();
}

// A tagged message that claims a key of nobody.
TEST_F(Garbage, WriteWithAKeyOfNobodyBreaksTheConnection) {
  const auto client = accepted_client();
  std::string frame;
  const std::string body =
      std::string("\xc1\x40", 2) + std::string("\x12\x34\x56\x78", 4) + std::string(8, '\0') + std::string(64, 'w');
  frame += static_cast<char>(body.size() >> 8);
  frame += static_cast<char>(body.size() & 0xff);
  frame += body;
  frame.resize((frame.size() + 3) / 4 * 4, '\0');
  frame += std::string(4, '\0');  // no CRC was agreed on
  client->send(frame);
  expect_one_broken_connection();
  expect_service();
}

TEST_F(Garbage, StreamThatEndsAfterTheReplyBreaksTheConnection) {
  { const auto client = accepted_client(); }
  DAT_EVENT event = next_event(server_.connect_evd);
  if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) event = next_event(server_.connect_evd);
  EXPECT_THAT(event.event_number, testing::AnyOf(DAT_CONNECTION_EVENT_BROKEN, DAT_CONNECTION_EVENT_DISCONNECTED,
                                                 DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR));
  EXPECT_TRUE(is_quiet(server_.connect_evd));
  expect_service();
}

}  // namespace
}  // namespace softdat::conformance
