// SPDX-License-Identifier: BSD-2-Clause
// The handshake in which two carriers come to share a link. The connector connects to the socket file of the service
// and sends Hello. The acceptor answers Welcome: with a new segment, or "we have a link already", or that it speaks no
// common version. The socket of a new segment stays open for as long as the link lives: its end is the peer's death,
// and bells go through it.
//
// Both packets carry nothing but sealed memfds, and both may grow; a receiver looks at the bytes and descriptors that
// it knows. The features say which descriptors follow, in the order of the structs below.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/unique_fd.h"
#include "transport/peer_resources.h"
#include "transport/shm/unix_socket.h"

namespace softdat::transport::shm {

// Tells carriers apart, across processes and their lives.
using CarrierId = std::array<std::uint8_t, 16>;
CarrierId make_carrier_id();

// What a side can do beyond the rings; both use the intersection.
using LinkFeatures = std::uint32_t;
inline constexpr LinkFeatures kSharesFiles = 1u << 0;  // the sender's resource files come along
inline constexpr LinkFeatures kJoinsFences = 1u << 1;  // the process has joined the fences (base/process_fence.h)
inline constexpr LinkFeatures kOurLinkFeatures = kSharesFiles | kJoinsFences;

struct Hello {
  CarrierId sender{};
  bool is_our_version = false;
  LinkFeatures features = 0;
  std::array<base::UniqueFd, kResourceFiles> files;  // kSharesFiles
};

enum class Answer : std::uint32_t { kNewLink = 1, kExistingLink = 2, kNoCommonVersion = 3 };

struct Welcome {
  CarrierId sender{};
  LinkFeatures features = 0;
  Answer answer = Answer::kNoCommonVersion;
  base::UniqueFd memory;                             // kNewLink
  std::array<base::UniqueFd, kResourceFiles> files;  // kNewLink and kSharesFiles
};

// The kernel duplicates the descriptors: the caller keeps its own. False: see errno; EPIPE or ECONNRESET if the peer is
// gone.
struct Sender {
  CarrierId id{};
  bool joins_fences = false;
};
bool send_hello(int socket, const Sender& sender, const ResourceFiles& files);
bool send_welcome(int socket, const Sender& sender, Answer answer, int memory, const ResourceFiles& files);

// kNothing: not there yet. kEnd: the peer is gone, or sent what no peer sends.
ReceiveResult receive_hello(int socket, Hello& into);
ReceiveResult receive_welcome(int socket, Welcome& into);

}  // namespace softdat::transport::shm
