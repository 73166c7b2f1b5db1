// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <infiniband/verbs.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "capture/sniffer/verbs.hpp"

// Internal to verbs*.cpp: the only file that includes the header of libibverbs.
namespace roce::capture::verbs {

/// The functions of libibverbs that need a symbol. All others are inline in its header and go through the
/// driver's table in the context.
struct Library {
  decltype(&::ibv_get_device_list) get_device_list = nullptr;
  decltype(&::ibv_free_device_list) free_device_list = nullptr;
  decltype(&::ibv_open_device) open_device = nullptr;
  decltype(&::ibv_close_device) close_device = nullptr;
  decltype(&::ibv_query_device) query_device = nullptr;
  decltype(&::ibv_query_port) query_port = nullptr;
  decltype(&::ibv_query_gid) query_gid = nullptr;
  decltype(&::ibv_alloc_pd) alloc_pd = nullptr;
  decltype(&::ibv_dealloc_pd) dealloc_pd = nullptr;
  decltype(&::ibv_reg_mr) reg_mr = nullptr;
  decltype(&::ibv_dereg_mr) dereg_mr = nullptr;
  decltype(&::ibv_create_comp_channel) create_comp_channel = nullptr;
  decltype(&::ibv_destroy_comp_channel) destroy_comp_channel = nullptr;
  decltype(&::ibv_create_cq) create_cq = nullptr;
  decltype(&::ibv_destroy_cq) destroy_cq = nullptr;
  decltype(&::ibv_get_cq_event) get_cq_event = nullptr;
  decltype(&::ibv_ack_cq_events) ack_cq_events = nullptr;
  decltype(&::ibv_create_qp) create_qp = nullptr;
  decltype(&::ibv_modify_qp) modify_qp = nullptr;
  decltype(&::ibv_destroy_qp) destroy_qp = nullptr;
  decltype(&::ibv_get_async_event) get_async_event = nullptr;
  decltype(&::ibv_ack_async_event) ack_async_event = nullptr;
  decltype(&::ibv_port_state_str) port_state_str = nullptr;
  decltype(&::ibv_event_type_str) event_type_str = nullptr;
};

/// Loads the library, which is never unloaded. `path` is for dlopen().
[[nodiscard]] Result<Library> load_library(const char* path);

/// Blocking calls would not end with request_stop(): we wait by poll().
void make_non_blocking(int descriptor) noexcept;

[[nodiscard]] inline tl::unexpected<Failure> failed(Step step, int error, std::string detail = {}) {
  return tl::unexpected<Failure>(Failure{step, error, std::move(detail)});
}
/// For calls that return a null pointer and set errno.
[[nodiscard]] inline tl::unexpected<Failure> failed_by_errno(Step step) {
  return failed(step, errno);
}

/// An object of libibverbs with the function that destroys it.
template <class T>
using Owned = std::unique_ptr<T, int (*)(T*)>;

struct Device::Context {
  Library library;
  Owned<ibv_context> context{nullptr, nullptr};
};

}  // namespace roce::capture::verbs
