// SPDX-License-Identifier: Apache-2.0
#include "capture/sniffer/verbs_library.hpp"

#include <dlfcn.h>
#include <fcntl.h>

#include <iterator>

namespace roce::capture::verbs {
namespace {

template <class Function>
bool find(void* handle, const char* name, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  if (function == nullptr && missing.empty()) missing = name;
  return function != nullptr;
}

}  // namespace

Result<Library> load_library(const char* path) {
  // Never unloaded: drivers of libibverbs leave handlers registered.
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return failed(Step::load_library, 0, why == nullptr ? "" : why);
  }
  Library to;
  std::string missing;
  find(handle, "ibv_get_device_list", to.get_device_list, missing);
  find(handle, "ibv_free_device_list", to.free_device_list, missing);
  find(handle, "ibv_open_device", to.open_device, missing);
  find(handle, "ibv_close_device", to.close_device, missing);
  find(handle, "ibv_query_device", to.query_device, missing);
  find(handle, "ibv_query_port", to.query_port, missing);
  find(handle, "ibv_query_gid", to.query_gid, missing);
  find(handle, "ibv_alloc_pd", to.alloc_pd, missing);
  find(handle, "ibv_dealloc_pd", to.dealloc_pd, missing);
  find(handle, "ibv_reg_mr", to.reg_mr, missing);
  find(handle, "ibv_dereg_mr", to.dereg_mr, missing);
  find(handle, "ibv_create_comp_channel", to.create_comp_channel, missing);
  find(handle, "ibv_destroy_comp_channel", to.destroy_comp_channel, missing);
  find(handle, "ibv_create_cq", to.create_cq, missing);
  find(handle, "ibv_destroy_cq", to.destroy_cq, missing);
  find(handle, "ibv_get_cq_event", to.get_cq_event, missing);
  find(handle, "ibv_ack_cq_events", to.ack_cq_events, missing);
  find(handle, "ibv_create_qp", to.create_qp, missing);
  find(handle, "ibv_modify_qp", to.modify_qp, missing);
  find(handle, "ibv_destroy_qp", to.destroy_qp, missing);
  find(handle, "ibv_get_async_event", to.get_async_event, missing);
  find(handle, "ibv_ack_async_event", to.ack_async_event, missing);
  find(handle, "ibv_port_state_str", to.port_state_str, missing);
  find(handle, "ibv_event_type_str", to.event_type_str, missing);
  if (!missing.empty()) return failed(Step::find_symbol, 0, missing);
  return to;
}

void make_non_blocking(int descriptor) noexcept {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags >= 0) fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
}

const char* name_of(Step step) noexcept {
  constexpr const char* names[] = {"loading libibverbs",
                                   "loading libibverbs",
                                   "ibv_get_device_list",
                                   "ibv_get_device_list",
                                   "ibv_open_device",
                                   "ibv_query_device",
                                   "ibv_query_port",
                                   "ibv_alloc_pd",
                                   "ibv_create_comp_channel",
                                   "ibv_create_cq",
                                   "ibv_create_qp(IBV_QPT_RAW_PACKET)",
                                   "ibv_modify_qp(INIT)",
                                   "mmap",
                                   "ibv_reg_mr",
                                   "ibv_modify_qp(RTR)",
                                   "ibv_post_recv",
                                   "ibv_create_flow(IBV_FLOW_ATTR_SNIFFER)",
                                   "ibv_req_notify_cq",
                                   "ibv_poll_cq",
                                   "ibv_modify_qp(RESET)"};
  static_assert(std::size(names) == static_cast<std::size_t>(Step::reset) + 1);
  return names[static_cast<std::size_t>(step)];
}

}  // namespace roce::capture::verbs
