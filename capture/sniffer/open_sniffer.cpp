// SPDX-License-Identifier: Apache-2.0
// Opening a sniffer, and the events of its port and device.
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "capture/core/capture_points.hpp"
#include "capture/core/rights.hpp"
#include "capture/sniffer/sniffer.hpp"

namespace roce::capture {
namespace {

constexpr int most_events = 256;                                   // handled at once
constexpr std::uint16_t link_ethernet = 1, link_infiniband = 247;  // LINKTYPE registry of tcpdump.org

std::int64_t system_clock_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool is_too_large(const verbs::Failure& failure) {
  const bool queue =
      failure.step == verbs::Step::create_queue_pair || failure.step == verbs::Step::create_completions;
  return queue && (failure.error == EINVAL || failure.error == ENOMEM);
}

Error refused(ErrorKind kind, const std::string& device, std::string message) {
  Error error;
  error.kind = kind;
  error.path = device;
  error.message = std::move(message);
  return error;
}

std::string operating_system() {
  utsname names{};
  if (uname(&names) != 0) return {};
  return std::string(names.sysname) + " " + names.release;
}

}  // namespace

Sniffer::Sniffer(const LiveOptions& options, SnifferWorld world, RdmaName name)
    : options_(options), world_(std::move(world)), name_(std::move(name)) {}

Error Sniffer::failed(const verbs::Failure& failure) const {
  Attempt attempt;
  attempt.name = name_;
  attempt.port = sysfs_;
  attempt.link_layer = infiniband_ ? verbs::LinkLayer::infiniband : verbs::LinkLayer::ethernet;
  attempt.rights = read_rights(world_.root);
  attempt.root = world_.root;
  attempt.ring_bytes = plan_.bytes();
  return explain(failure, attempt);
}

Error Sniffer::lost_device(const std::string& why) {
  // A failed call is often the first sign that a device is being removed; its event has the cause.
  std::string cause = why;
  for (int i = 0; i < 16 * most_events; ++i) {
    const auto event = device_->next_event();
    if (!event || !*event) break;
    if ((*event)->kind == verbs::EventKind::device_gone) cause = (*event)->name;
  }
  return refused(ErrorKind::not_readable, options_.device,
                 "the capture ended because the device was removed, reset or failed (" + cause +
                     "): see dmesg, and start again when it is back");
}

Error Sniffer::lost_device(const verbs::Failure& failure) {
  return lost_device(std::string(name_of(failure.step)) + ": " + std::strerror(failure.error));
}

Expected<std::unique_ptr<Sniffer>> Sniffer::open(const LiveOptions& options, SnifferWorld world) {
  const auto name = parse_rdma_name(options.device);
  if (!name) {
    return tl::unexpected(refused(ErrorKind::not_found, options.device,
                                  "not a valid name of an RDMA device (mlx5_0, or with its port mlx5_0:2)"));
  }
  if (!world.wall_clock) world.wall_clock = system_clock_ns;
  std::unique_ptr<Sniffer> sniffer(new Sniffer(options, std::move(world), *name));
  if (auto error = sniffer->start()) return tl::unexpected(std::move(*error));
  return sniffer;
}

std::optional<Error> Sniffer::start() {
  sysfs_ = read_sniffed_port(world_.root, name_);
  if (sysfs_.exists) {
    if (std::string text = capture_elsewhere(name_, sysfs_); !text.empty()) {
      return refused(ErrorKind::unsupported, options_.device, std::move(text));
    }
  }
  if (!options_.filter.empty()) {
    return refused(
        ErrorKind::unsupported, options_.device,
        "RDMA devices cannot be captured with a capture filter: omit -f, and select packets with -Y");
  }
  auto device = verbs::Device::open(name_.device, world_.library);
  if (!device) return failed(device.error());
  device_ = std::move(*device);
  if (device_->facts().iwarp) {
    SniffedPort iwarp = sysfs_;
    iwarp.iwarp = true;
    return refused(ErrorKind::unsupported, options_.device, capture_elsewhere(name_, iwarp));
  }
  const unsigned ports = device_->facts().ports;
  if (ports != 0 && name_.port > ports) {
    return refused(
        ErrorKind::not_found, options_.device,
        name_.device + (ports == 1 ? " has port 1 only" : " has ports 1 to " + std::to_string(ports)));
  }
  if (options_.kernel_buffer_bytes) note("-B has no effect on an RDMA device, --ring-time does");
  room_.emplace(world_.root, name_);  // before the first frame can be lost
  return make_ring();
}

/// Creates the ring for the port's present state.
std::optional<Error> Sniffer::make_ring() {
  ring_.reset();
  const auto port = device_->query_port(name_.port);
  if (!port) return failed(port.error());
  infiniband_ = port->link_layer == verbs::LinkLayer::infiniband;
  link_type_ = infiniband_ ? link_infiniband : link_ethernet;
  needs_.speed_bps = port->speed_bps != 0 ? port->speed_bps : sysfs_.speed_bps;
  needs_.time = options_.ring_time.value_or(needs_.time);
  needs_.rdma_mtu = port->mtu_bytes != 0 ? port->mtu_bytes : 4096;
  needs_.netdev_mtu = infiniband_ ? 0 : sysfs_.largest_mtu();
  needs_.max_receives = device_->facts().max_receives;
  needs_.max_completions = device_->facts().max_completions;
  plan_ = plan_ring(needs_);
  refresh_port();

  auto ring = verbs::Ring::create(*device_, name_.port, {plan_.buffers, plan_.buffer_bytes});
  // The device's limits are those of its best kind of queue; a raw packet queue may have to be smaller.
  while (!ring && is_too_large(ring.error()) && shrink(plan_, needs_)) {
    ring = verbs::Ring::create(*device_, name_.port, {plan_.buffers, plan_.buffer_bytes});
  }
  if (!ring) return failed(ring.error());
  ring_ = std::move(*ring);
  posted_ = plan_.buffers;
  armed_ = flushing_ = broken_ = outgrown_ = false;
  flush_waits_ = 0;
  run_ = 0;
  return std::nullopt;
}

/// Updates state and addresses of the port; unchanged if the query fails.
void Sniffer::refresh_port() {
  const auto port = device_->query_port(name_.port);
  if (!port) return;
  OwnAddresses own;
  for (const RdmaNetdev& netdev : sysfs_.netdevs) {
    if (netdev.address) own.add_mac(*netdev.address);
  }
  for (const verbs::Gid& gid : port->gids) own.add_gid(gid);
  own.set_lid(port->lid, port->lid_mask_bits);
  own_ = std::move(own);
  const std::string name = "port " + std::to_string(name_.port);
  if (!port->active && (port_active_ || !ring_)) {
    note(name + " is " + (port->state == nullptr ? "not active" : port->state) +
         ": no frames until it is active");
  }
  if (port->active && !port_active_ && ring_) note(name + " is active again");
  port_active_ = port->active;
}

std::optional<Error> Sniffer::handle_events() {
  bool refresh = false;
  // Bounded: if a device sends events continuously, the rest is handled in the next round.
  for (int i = 0; i < most_events; ++i) {
    const auto event = device_->next_event();
    if (!event) return lost_device(std::strerror(event.error().error));
    if (!*event) break;
    switch ((*event)->kind) {
      case verbs::EventKind::device_gone:
        return lost_device((*event)->name);
      case verbs::EventKind::completions_broken:
        broken_ = true;
        break;
      case verbs::EventKind::queue_broken:
        flushing_ = true;
        break;
      case verbs::EventKind::port_changed:
        refresh = refresh || (*event)->port.value_or(name_.port) == name_.port;
        break;
      case verbs::EventKind::other:
        break;
    }
  }
  if (refresh) {
    sysfs_ = read_sniffed_port(world_.root, name_);
    refresh_port();
  }
  return std::nullopt;
}

/// Whether the interface's MTU has grown beyond the ring's buffers and a new ring can be created: privileges
/// may have been dropped since the first one.
bool Sniffer::can_grow() {
  SniffedPort now = read_sniffed_port(world_.root, name_);
  if (infiniband_ || frame_room(needs_.rdma_mtu, now.largest_mtu()) <= plan_.buffer_bytes) return false;
  if (!has_right(Right::net_raw, world_.root) || !has_right(Right::net_admin, world_.root)) return false;
  sysfs_ = std::move(now);
  note("the interface's MTU grew to " + std::to_string(sysfs_.largest_mtu()) +
       ": the ring was created anew, frames in the meantime are lost");
  return true;
}

std::vector<InterfaceInfo> Sniffer::interfaces() const {
  InterfaceInfo info;
  info.name = name_.device + ":" + std::to_string(name_.port);
  info.description = std::string("RDMA sniffer, ") +
                     (ring_->hardware_stamps() ? "timestamps of the device" : "timestamps of the system") +
                     ", ring of " + describe(plan_, needs_) + (ring_->huge_pages() ? ", huge pages" : "");
  info.operating_system = operating_system();
  info.hardware = (sysfs_.driver.empty() ? name_.device : sysfs_.driver);
  if (!device_->facts().firmware.empty()) info.hardware += ", firmware " + device_->facts().firmware;
  info.link_type = link_type_;
  info.snap_length = options_.snap_length;
  info.speed_bps = needs_.speed_bps;
  info.ticks_per_second = 1'000'000'000;
  // Both directions are one capture point.
  std::vector<InterfaceInfo> both{info, info};
  both[1].name += sent_suffix;
  return both;
}

std::string Sniffer::format() const {
  return std::string("RDMA sniffer (") +
         (ring_->hardware_stamps() ? "timestamps of the device" : "timestamps of the system") + ")";
}

bool is_rdma_device(const std::string& device, const SnifferWorld& world) {
  const auto name = parse_rdma_name(device);
  return name && (has_rdma_device(world.root, *name) || verbs::lists_device(name->device, world.library));
}

Expected<std::unique_ptr<LiveDevice>> open_rdma_device(const LiveOptions& options, SnifferWorld world) {
  auto sniffer = Sniffer::open(options, std::move(world));
  if (!sniffer) return tl::unexpected(std::move(sniffer.error()));
  return std::unique_ptr<LiveDevice>(std::move(*sniffer));
}

}  // namespace roce::capture
