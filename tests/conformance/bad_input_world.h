// SPDX-License-Identifier: BSD-2-Clause
// One living object of each kind, and one of each that has died, for calls that give wrong ones.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/conformance/peer.h"

namespace softdat::conformance {

// A handle that no object of the wanted kind stands behind, and in words why.
struct BadHandle {
  std::string why;
  DAT_HANDLE handle;
};

class World {
 public:
  World();
  ~World();

  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Every bad handle for an argument that wants `type`: null (unless allowed), small integers,
  // misaligned, freed, of each other kind, addresses of other memory and of none, random ones.
  std::vector<BadHandle> bad_handles(DAT_HANDLE_TYPE type, bool null_is_allowed) const;

  // The living object of the kind; null for kinds that cannot be made yet.
  DAT_HANDLE living(DAT_HANDLE_TYPE type) const;

  // Nothing was changed: the connection carries data, the objects are still there and unchanged.
  void expect_unharmed();

  DAT_IA_HANDLE ia() const { return living(DAT_HANDLE_TYPE_IA); }
  DAT_PZ_HANDLE pz() const { return living(DAT_HANDLE_TYPE_PZ); }
  DAT_EVD_HANDLE evd() const { return living(DAT_HANDLE_TYPE_EVD); }
  DAT_EP_HANDLE ep() const { return living(DAT_HANDLE_TYPE_EP); }
  DAT_LMR_HANDLE lmr() const { return living(DAT_HANDLE_TYPE_LMR); }
  DAT_CR_HANDLE cr() const { return living(DAT_HANDLE_TYPE_CR); }
  DAT_CNO_HANDLE cno() const { return living(DAT_HANDLE_TYPE_CNO); }
  DAT_RMR_HANDLE rmr() const { return living(DAT_HANDLE_TYPE_RMR); }
  DAT_PSP_HANDLE psp() const { return living(DAT_HANDLE_TYPE_PSP); }
  DAT_SRQ_HANDLE srq() const { return living(DAT_HANDLE_TYPE_SRQ); }
  DAT_RSP_HANDLE rsp() const { return living(DAT_HANDLE_TYPE_RSP); }
  DAT_IA_ADDRESS_PTR address() const { return connected_.server.adapter.address(); }
  Peer& connected() { return connected_.client; }
  DAT_RMR_TRIPLET remote() const { return connected_.server.memory->remote(0, 64); }

  // Room for outputs that must not be written.
  union {
    DAT_HANDLE handle;
    DAT_EVENT event;
    DAT_CONTEXT context;
    DAT_HANDLE_TYPE type;
    DAT_EP_STATE state;
    DAT_COUNT count;
    DAT_CONN_QUAL qualifier;
    DAT_PZ_PARAM pz;
    DAT_EVD_PARAM evd;
    DAT_CNO_PARAM cno;
    DAT_EP_PARAM ep;
    DAT_LMR_PARAM lmr;
    DAT_RMR_PARAM rmr;
    DAT_PSP_PARAM psp;
    DAT_RSP_PARAM rsp;
    DAT_CR_PARAM cr;
    DAT_SRQ_PARAM srq;
    unsigned char bytes[1024];
  } out;
  DAT_IA_ATTR ia_attributes{};
  DAT_PROVIDER_ATTR provider_attributes{};
  DAT_LMR_TRIPLET segment{};
  DAT_EP_ATTR ep_attributes = default_attributes();
  DAT_SRQ_ATTR srq_attributes{};
  char private_data[64] = {};
  DAT_REGION_DESCRIPTION region{};

 private:
  void make_dead();

  ConnectedPair connected_;
  Peer server_{kServerName};
  Peer client_{kClientName};
  std::map<DAT_HANDLE_TYPE, DAT_HANDLE> living_;
  std::map<DAT_HANDLE_TYPE, DAT_HANDLE> dead_;
  std::vector<unsigned char> no_cell_;  // memory that begins like a cell of ours
  void* forbidden_page_ = nullptr;
};

}  // namespace softdat::conformance
