// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

#include "capture/sniffer/verbs_library.hpp"

namespace roce::capture::verbs {
namespace {

/// The driver's function of that name; null if the library or the driver is too old.
template <class Entry>
Entry driver_entry(ibv_context* context, Entry verbs_context::*entry, std::size_t offset) noexcept {
  const verbs_context* const extended = verbs_get_ctx(context);
  if (extended == nullptr || extended->sz < sizeof(verbs_context) - offset) return nullptr;
  return extended->*entry;
}

/// Bits per second of one lane, by the codes of IBTA 14.2.5.6 (PortInfo, LinkSpeed…Active); 8 is FDR10.
std::uint64_t lane_speed(std::uint8_t code) noexcept {
  constexpr struct {
    std::uint8_t code;
    std::uint64_t bps;
  } speeds[] = {{1, 2'500'000'000},   {2, 5'000'000'000},   {4, 10'000'000'000},  {8, 10'000'000'000},
                {16, 14'000'000'000}, {32, 25'000'000'000}, {64, 50'000'000'000}, {128, 100'000'000'000}};
  for (const auto& row : speeds) {
    if (row.code == code) return row.bps;
  }
  return 0;
}

std::uint64_t lanes(std::uint8_t code) noexcept {
  constexpr struct { std::uint8_t code, lanes; } widths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
  for (const auto& row : widths) {
    if (row.code == code) return row.lanes;
  }
  return 0;
}

EventKind kind_of_failure(ibv_event_type type) noexcept {
  switch (type) {
    case IBV_EVENT_CQ_ERR:
      return EventKind::completions_broken;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_WQ_FATAL:
      return EventKind::queue_broken;
    case IBV_EVENT_DEVICE_FATAL:
      return EventKind::device_gone;
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
      return EventKind::port_changed;
    default:
      return EventKind::other;
  }
}

bool of_port(ibv_event_type type) noexcept {
  constexpr ibv_event_type types[] = {IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR,  IBV_EVENT_LID_CHANGE,
                                      IBV_EVENT_PKEY_CHANGE, IBV_EVENT_SM_CHANGE, IBV_EVENT_CLIENT_REREGISTER,
                                      IBV_EVENT_GID_CHANGE};
  return std::find(std::begin(types), std::end(types), type) != std::end(types);
}

/// Owns the device list, which is needed until the device was opened.
struct Listed {
  std::unique_ptr<ibv_device*, void (*)(ibv_device**)> list;
  ibv_device* found;
};

Result<Listed> find_device(const Library& verbs, const std::string& name) {
  int count = 0;
  errno = 0;
  Listed listed{{verbs.get_device_list(&count), verbs.free_device_list}, nullptr};
  if (!listed.list) return failed_by_errno(Step::list_devices);
  std::string others;
  for (int i = 0; i < count; ++i) {
    ibv_device* const each = listed.list.get()[i];
    const std::string_view its_name(each->name, strnlen(each->name, sizeof each->name));
    if (its_name == name) listed.found = each;
    others += (others.empty() ? "" : ", ") + std::string(its_name);
  }
  if (listed.found == nullptr) return failed(Step::find_device, ENODEV, others);
  return listed;
}

}  // namespace

bool lists_device(const std::string& name, const char* library) {
  const auto verbs = load_library(library);
  return verbs && find_device(*verbs, name);
}

Device::Device() = default;
Device::~Device() = default;

Result<std::unique_ptr<Device>> Device::open(const std::string& name, const char* library) {
  auto loaded = load_library(library);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  std::unique_ptr<Device> device(new Device);
  device->context_ = std::make_unique<Context>();
  const Library& verbs = device->context_->library = *loaded;

  auto listed = find_device(verbs, name);
  if (!listed) return tl::unexpected(std::move(listed.error()));
  ibv_device* const found = listed->found;
  DeviceFacts& facts = device->facts_;
  facts.device_node.assign(found->dev_name, strnlen(found->dev_name, sizeof found->dev_name));
  facts.iwarp = found->transport_type == IBV_TRANSPORT_IWARP;

  errno = 0;
  device->context_->context = {verbs.open_device(found), verbs.close_device};
  ibv_context* const context = device->context_->context.get();
  if (context == nullptr) return failed(Step::open_device, errno, facts.device_node);
  make_non_blocking(context->async_fd);

  ibv_device_attr attributes{};
  if (const int error = verbs.query_device(context, &attributes); error != 0) {
    return failed(Step::query_device, error);
  }
  facts.firmware.assign(attributes.fw_ver, strnlen(attributes.fw_ver, sizeof attributes.fw_ver));
  facts.ports = attributes.phys_port_cnt;
  facts.max_receives = static_cast<std::uint32_t>(std::max(attributes.max_qp_wr, 0));
  facts.max_completions = static_cast<std::uint32_t>(std::max(attributes.max_cqe, 0));
  return device;
}

Result<PortFacts> Device::query_port(unsigned port) const {
  const Library& verbs = context_->library;
  ibv_context* const context = context_->context.get();
  const auto number = static_cast<std::uint8_t>(port);
  ibv_port_attr attributes{};
  const auto query = driver_entry(context, &verbs_context::query_port, offsetof(verbs_context, query_port));
  const int error =
      query != nullptr
          ? query(context, number, &attributes, sizeof attributes)
          : verbs.query_port(context, number, reinterpret_cast<_compat_ibv_port_attr*>(&attributes));
  if (error != 0) return failed(Step::query_port, error < 0 ? errno : error);

  PortFacts facts;
  facts.active = attributes.state == IBV_PORT_ACTIVE || attributes.state == IBV_PORT_ACTIVE_DEFER;
  facts.state = verbs.port_state_str(attributes.state);
  if (attributes.link_layer == IBV_LINK_LAYER_INFINIBAND) facts.link_layer = LinkLayer::infiniband;
  if (attributes.link_layer == IBV_LINK_LAYER_ETHERNET) facts.link_layer = LinkLayer::ethernet;
  facts.speed_bps = lane_speed(attributes.active_speed) * lanes(attributes.active_width);
  if (attributes.active_mtu >= IBV_MTU_256 && attributes.active_mtu <= IBV_MTU_4096) {
    facts.mtu_bytes = 128U << static_cast<unsigned>(attributes.active_mtu);
  }
  facts.lid = attributes.lid;
  facts.lid_mask_bits = attributes.lmc;
  // Bounded in case the reported length is wrong: no device has more than a few hundred.
  for (int i = 0; i < std::min(attributes.gid_tbl_len, 4096); ++i) {
    ibv_gid gid{};
    if (verbs.query_gid(context, number, i, &gid) != 0) continue;
    Gid bytes;
    std::memcpy(bytes.data(), gid.raw, bytes.size());
    if (bytes != Gid{} && std::find(facts.gids.begin(), facts.gids.end(), bytes) == facts.gids.end()) {
      facts.gids.push_back(bytes);
    }
  }
  return facts;
}

int Device::event_descriptor() const noexcept {
  return context_->context->async_fd;
}

Result<std::optional<Event>> Device::next_event() {
  const Library& verbs = context_->library;
  ibv_async_event raw{};
  errno = 0;
  if (verbs.get_async_event(context_->context.get(), &raw) != 0) {
    if (errno == EAGAIN || errno == EINTR) return std::nullopt;
    return failed_by_errno(Step::query_device);
  }
  Event event{kind_of_failure(raw.event_type), verbs.event_type_str(raw.event_type), std::nullopt};
  if (of_port(raw.event_type)) event.port = static_cast<unsigned>(raw.element.port_num);
  verbs.ack_async_event(&raw);
  return event;
}

}  // namespace roce::capture::verbs
