// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/library.h"

#include <dlfcn.h>

#include <memory>
#include <string>

#include "base/made_once.h"

namespace softdat::verbs {
namespace {

std::string last_error() {
  const char* const text = ::dlerror();
  return text == nullptr ? "unknown error" : text;
}

// Looks symbols up until one is missing, and then remembers which.
// The library is never unloaded: its drivers stay in use until the process ends.
class Finder {
 public:
  explicit Finder(const char* name) : name_(name), handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) problem_ = std::string(name) + " cannot be loaded (" + last_error() + ")";
  }

  template <typename Function>
  void find(const char* symbol, Function& function) {
    function = nullptr;
    if (!problem_.empty()) return;
    function = reinterpret_cast<Function>(::dlsym(handle_, symbol));
    if (function == nullptr) problem_ = std::string(name_) + " has no " + symbol + ": it is too old";
  }

  const std::string& problem() const { return problem_; }

 private:
  const char* const name_;
  void* const handle_;
  std::string problem_;
};

void find_all(Finder& finder, DeviceCalls& to) {
  finder.find("ibv_get_device_list", to.get_device_list);
  finder.find("ibv_free_device_list", to.free_device_list);
  finder.find("ibv_open_device", to.open_device);
  finder.find("ibv_close_device", to.close_device);
  finder.find("ibv_get_async_event", to.get_async_event);
  finder.find("ibv_ack_async_event", to.ack_async_event);
  finder.find("ibv_query_device", to.query_device);
  finder.find("ibv_query_port", to.query_port);
}

// Posts, polls and memory windows are inline functions of verbs.h: they go through the device's own table, and need no
// symbol.
void find_all(Finder& finder, ObjectCalls& to) {
  finder.find("ibv_alloc_pd", to.alloc_pd);
  finder.find("ibv_dealloc_pd", to.dealloc_pd);
  finder.find("ibv_reg_mr_iova", to.reg_mr_iova);
  finder.find("ibv_dereg_mr", to.dereg_mr);
  finder.find("ibv_create_comp_channel", to.create_comp_channel);
  finder.find("ibv_destroy_comp_channel", to.destroy_comp_channel);
  finder.find("ibv_create_cq", to.create_cq);
  finder.find("ibv_resize_cq", to.resize_cq);
  finder.find("ibv_destroy_cq", to.destroy_cq);
  finder.find("ibv_get_cq_event", to.get_cq_event);
  finder.find("ibv_ack_cq_events", to.ack_cq_events);
  finder.find("ibv_create_srq", to.create_srq);
  finder.find("ibv_modify_srq", to.modify_srq);
  finder.find("ibv_destroy_srq", to.destroy_srq);
  finder.find("ibv_create_qp", to.create_qp);
  finder.find("ibv_modify_qp", to.modify_qp);
  finder.find("ibv_query_qp", to.query_qp);
  finder.find("ibv_destroy_qp", to.destroy_qp);
  finder.find("ibv_wc_status_str", to.wc_status_str);
}

void find_all(Finder& finder, CmCalls& to) {
  finder.find("rdma_create_event_channel", to.create_event_channel);
  finder.find("rdma_destroy_event_channel", to.destroy_event_channel);
  finder.find("rdma_get_cm_event", to.get_cm_event);
  finder.find("rdma_ack_cm_event", to.ack_cm_event);
  finder.find("rdma_create_id", to.create_id);
  finder.find("rdma_destroy_id", to.destroy_id);
  finder.find("rdma_bind_addr", to.bind_addr);
  finder.find("rdma_resolve_addr", to.resolve_addr);
  finder.find("rdma_resolve_route", to.resolve_route);
  finder.find("rdma_listen", to.listen);
  finder.find("rdma_connect", to.connect);
  finder.find("rdma_establish", to.establish);
  finder.find("rdma_accept", to.accept);
  finder.find("rdma_reject", to.reject);
  finder.find("rdma_reject_ece", to.reject_ece);
  finder.find("rdma_disconnect", to.disconnect);
  finder.find("rdma_init_qp_attr", to.init_qp_attr);
  finder.find("rdma_notify", to.notify);
  finder.find("rdma_event_str", to.event_str);
}

}  // namespace

Library::Loaded Library::load(const LibraryNames& names) {
  std::unique_ptr<Library> library(new Library());
  Finder verbs(names.verbs);
  find_all(verbs, library->devices);
  find_all(verbs, library->objects);
  if (!verbs.problem().empty()) return base::Failure{verbs.problem()};
  Finder cm(names.cm);
  find_all(cm, library->cm);
  if (!cm.problem().empty()) return base::Failure{cm.problem()};
  return std::unique_ptr<const Library>(std::move(library));
}

// Threads that come first at once may each load; one result stays. A failure stays, too: each later open returns it.
const Library::Loaded& Library::instance() {
  static constinit std::atomic<const Loaded*> loaded{nullptr};
  return base::made_once(loaded, [] { return std::make_unique<const Loaded>(load({})); });
}

}  // namespace softdat::verbs
