// SPDX-License-Identifier: BSD-2-Clause
// The places of the locks of this room in the order of locks (base/lock_order.h).
#pragma once

#include <array>

#include "base/lock_order.h"

namespace softdat::locks {

inline constexpr base::LockPlace kLiveProcess{75, "LiveProcess::mutex_", "a live capture begins or ends"};
inline constexpr base::LockPlace kBaton{80, "Baton", "protocol state of an adapter is used"};
inline constexpr base::LockPlace kLane{90, "Lane::lock_", "protocol state of one queue pair is used", true, &kBaton};
inline constexpr base::LockPlace kPostSend{100, "SendPosts::mutex_", "a send, write, read, atomic or bind is posted"};
inline constexpr base::LockPlace kPostDatagram{100, "DatagramSendQueue::mutex_", "a datagram is posted"};
inline constexpr base::LockPlace kPostReceive{101, "ReceivePosts::mutex_", "a receive is posted"};
inline constexpr base::LockPlace kPostDatagramReceive{101, "DatagramReceiveQueue::mutex_",
                                                      "a receive of datagrams is posted"};
inline constexpr base::LockPlace kPostShared{110, "SharedReceiveQueue::post_mutex_",
                                             "a receive is posted to an SRQ of the adapter"};
inline constexpr base::LockPlace kPeers{140, "PeerDirectory::mutex_",
                                        "the list of peers that may reach us directly is used"};
inline constexpr base::LockPlace kKeyDirectory{160, "KeyDirectory::mutex_", "a key is published to peers or withdrawn"};
inline constexpr base::LockPlace kJournalCreation{865, "journal()", "the log of faults is opened"};
inline constexpr base::LockPlace kRecorderCreation{865, "g_recorder_creation", "the recorder of captures is made"};
inline constexpr base::LockPlace kDirectPeer{base::kLeafPlace, "Peer::mutex_", "a place of a peer's memory is mapped"};
inline constexpr base::LockPlace kClosedConnection{base::kLeafPlace, "DirectPath::closed_",
                                                   "the connection that was closed last is read or set"};
inline constexpr base::LockPlace kMemoryKeys{base::kLeafPlace, "MemoryTable::mutex_",
                                             "a memory key is issued or removed"};
inline constexpr base::LockPlace kUpcallQueue{base::kLeafPlace, "UpcallQueue::mutex_",
                                              "an upcall enters or leaves the queue"};
inline constexpr base::LockPlace kRemote{base::kLeafPlace, "ConnectionLifecycle::remote_",
                                         "the address of the peer is read or set"};
inline constexpr base::LockPlace kFaultyNic{base::kLeafPlace, "FaultyNic::mutex_", "a fault plan decides"};
inline constexpr base::LockPlace kFaultyPost{base::kLeafPlace, "FaultyQueuePair::post_mutex_",
                                             "a fault plan counts a post"};

// A fault may fire whatever its thread holds.
inline constexpr base::LockPlace kJournal{base::kLeafPlace + 1, "Journal::file_", "a fault that fired is logged"};

inline constexpr std::array kOfSimnic = {&kLiveProcess,
                                         &kBaton,
                                         &kLane,
                                         &kPostSend,
                                         &kPostDatagram,
                                         &kPostReceive,
                                         &kPostDatagramReceive,
                                         &kPostShared,
                                         &kPeers,
                                         &kKeyDirectory,
                                         &kJournalCreation,
                                         &kRecorderCreation,
                                         &kJournal,
                                         &kDirectPeer,
                                         &kClosedConnection,
                                         &kMemoryKeys,
                                         &kUpcallQueue,
                                         &kRemote,
                                         &kFaultyNic,
                                         &kFaultyPost};

}  // namespace softdat::locks
