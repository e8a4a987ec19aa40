// SPDX-License-Identifier: BSD-2-Clause
// The places of the locks of this room in the order of locks (base/lock_order.h).
#pragma once

#include <array>

#include "base/lock_order.h"

namespace softdat::locks {

inline constexpr base::LockPlace kResize{40, "EventQueue::resize_mutex_",
                                         "an EVD is resized; no thread begins to wait for several events meanwhile"};
inline constexpr base::LockPlace kModify{40, "Endpoint::modify_mutex_", "an endpoint is modified"};
inline constexpr base::LockPlace kSharedReceiveQueue{40, "SharedReceiveQueue::mutex_",
                                                     "an SRQ is resized or its watermark set"};
inline constexpr base::LockPlace kExclusiveCall{45, "Cell::lock_",
                                                "an event is taken from an EVD, or its completion queue is resized"};
inline constexpr base::LockPlace kSwallowed{46, "SwallowedCompletions::lock_",
                                            "completions that nobody wants are dropped"};
inline constexpr base::LockPlace kEndpoint{50, "Endpoint::mutex_",
                                           "state, attributes and connection of an endpoint change"};
inline constexpr base::LockPlace kInterfaceAdapter{65, "InterfaceAdapter::mutex_",
                                                   "the list of objects of an IA is used"};
inline constexpr base::LockPlace kCnoTrigger{60, "CnoTrigger::mutex_", "an EVD triggers its CNO, or gets another"};
inline constexpr base::LockPlace kConsumerNotification{61, "ConsumerNotification::mutex_",
                                                       "a CNO is triggered, waited for or changed"};
inline constexpr base::LockPlace kPublisherCreation{70, "g_creation (libdat/object/counter_publisher.cc)",
                                                    "the thread of the publisher is started"};
inline constexpr base::LockPlace kPublisher{71, "Publisher::mutex_", "the publisher copies, or learns of an IA"};
inline constexpr base::LockPlace kFeedingStreams{base::kLeafPlace, "FeedingStreams::mutex_",
                                                 "an endpoint's stream of completions joins or leaves an EVD"};
inline constexpr base::LockPlace kEventRing{base::kLeafPlace, "EventRing::mutex_", "an event enters or leaves a queue"};
inline constexpr base::LockPlace kHandleTable{base::kLeafPlace, "HandleTable::mutex_",
                                              "a handle is given out or taken back"};
inline constexpr base::LockPlace kCounterSet{base::kLeafPlace, "CounterSet::mutex_",
                                             "counters of an object are added up or cleared"};
inline constexpr base::LockPlace kEndpointWords{base::kLeafPlace, "EndpointWords::mutex_",
                                                "the last failure's words are written or read"};

inline constexpr std::array kOfObject = {
    &kResize,           &kModify,      &kSharedReceiveQueue,   &kExclusiveCall,     &kSwallowed, &kEndpoint,
    &kInterfaceAdapter, &kCnoTrigger,  &kConsumerNotification, &kPublisherCreation, &kPublisher, &kFeedingStreams,
    &kEventRing,        &kHandleTable, &kCounterSet,           &kEndpointWords};

}  // namespace softdat::locks
