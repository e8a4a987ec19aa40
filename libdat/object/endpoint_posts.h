// SPDX-License-Identifier: BSD-2-Clause
// The posts of an EP: a few checks in DAT's words, then one call of the queue pair, which checks the rest.
//
// A look at the EP, made for each post (Endpoint::posts()): it owns nothing, costs nothing where it is inlined, and is
// valid while the EP is pinned. Any thread; no lock is taken. Argument numbers in a Status are those of the DAT
// function. A refused post has no effect.
#pragma once

#include <cstdint>
#include <span>

#include "libdat/object/endpoint_bindings.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/endpoint_words.h"
#include "libdat/object/status.h"

namespace softdat::object {

class AddressHandle;
class MemoryWindow;
struct WindowBind;

class EndpointPosts {
 public:
  EndpointPosts(const EndpointBindings& bindings, EndpointWords& words) : bindings_(bindings), words_(words) {}

  // The calls of both versions of DAT (endpoint_posts.cc).
  Status post_send(std::span<const Segment> local, std::uint64_t cookie, std::uint32_t flags) const;
  Status post_recv(std::span<const Segment> local, std::uint64_t cookie, std::uint32_t flags) const;
  Status post_rdma_write(std::span<const Segment> local, std::uint64_t cookie, const RemoteBuffer& remote,
                         std::uint32_t flags) const;
  Status post_rdma_read(std::span<const Segment> local, std::uint64_t cookie, const RemoteBuffer& remote,
                        std::uint32_t flags) const;
  // `invalidated`: an RMR context of the peer's.
  Status post_send_with_invalidate(std::span<const Segment> local, std::uint64_t cookie, std::uint32_t flags,
                                   std::uint32_t invalidated) const;
  // `local` names an RMR or LMR of this adapter by its RMR context.
  Status post_rdma_read_to_rmr(const RemoteBuffer& local, std::uint64_t cookie, const RemoteBuffer& remote,
                               std::uint32_t flags) const;
  // dat_rmr_bind. `triplet` and `flags_argument` are the numbers of these arguments; `rmr_context` is
  // written on success, 0 for an unbind.
  Status post_bind(const MemoryWindow& rmr, const WindowBind& bind, std::uint64_t cookie, std::uint32_t flags,
                   StatusDetail triplet, StatusDetail flags_argument, std::uint32_t& rmr_context) const;

  // The extensions of InfiniBand (endpoint_extension.cc). Arguments are those of dat_extension_op.
  Status post_rdma_write_immediate(std::span<const Segment> local, std::uint64_t cookie, const RemoteBuffer& remote,
                                   std::uint32_t immediate, std::uint32_t flags) const;
  Status post_fetch_and_add(std::uint64_t addend, const Segment& local, std::uint64_t cookie,
                            const RemoteBuffer& remote, std::uint32_t flags) const;
  Status post_compare_and_swap(std::uint64_t compare, std::uint64_t swap, const Segment& local, std::uint64_t cookie,
                               const RemoteBuffer& remote, std::uint32_t flags) const;
  // dat_ib_post_send_ud. MODEL_NOT_SUPPORTED unless the EP is for datagrams.
  Status post_datagram(std::span<const Segment> local, const AddressHandle& to, std::uint32_t qp_number,
                       std::uint64_t cookie, std::uint32_t flags) const;

  // While words are wanted: the current call is about to post.
  void note_place(bool is_receive) const;

 private:
  Status check_request(const EndpointBinding& binding, std::uint32_t flags, std::uint32_t known,
                       StatusDetail flags_argument) const;
  Status post_inline(const EndpointBinding& binding, hca::SendRequest& request, std::uint32_t flags,
                     std::uint32_t known_flags, StatusDetail flags_argument) const;
  Status post_request(const EndpointBinding& binding, hca::SendRequest& request, std::uint32_t flags,
                      StatusDetail flags_argument) const;
  Status post_atomic(hca::SendRequest& request, const Segment& local, const RemoteBuffer& remote, std::uint32_t flags,
                     StatusDetail local_argument) const;

  const EndpointBindings& bindings_;
  EndpointWords& words_;
};

}  // namespace softdat::object
