// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/value_format.hpp"
#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {
namespace {

std::uint64_t dropped_at(const capture::InterfaceInfo& interface) noexcept {
  return interface.dropped_by_kernel.value_or(0) + interface.dropped_by_interface.value_or(0);
}

/// " 12 by the kernel (the program read too slowly), 3 by the interface."
std::string parts_text(const Snapshot& snapshot) {
  std::uint64_t kernel = 0;
  std::uint64_t device = 0;
  const capture::InterfaceInfo* worst = nullptr;
  for (const capture::InterfaceInfo& interface : snapshot.interfaces) {
    kernel += interface.dropped_by_kernel.value_or(0);
    device += interface.dropped_by_interface.value_or(0);
    if (worst == nullptr || dropped_at(interface) > dropped_at(*worst)) worst = &interface;
  }
  std::string text;
  if (kernel != 0) text += fmt::format(" {} by the kernel: the capturing program read too slowly.", kernel);
  if (device != 0) text += fmt::format(" {} by the interface itself.", device);
  if (snapshot.skipped_packets != 0) {
    text +=
        fmt::format(" {} skipped, of interfaces that the file does not describe.", snapshot.skipped_packets);
  }
  if (snapshot.interfaces.size() > 1 && worst != nullptr && !worst->name.empty()) {
    std::string name;
    append_printable(name, worst->name);
    text += fmt::format(" Most on interface {}.", name);
  }
  return text;
}

/// Packets that show gaps of the capture; if there are none, its first and last packet, between which the
/// drops are.
Proof proof_of(const Snapshot& snapshot) {
  Proof proof;
  for_each_side(snapshot, [&](const Connection& connection, unsigned side) {
    proof.add(connection.sent[side].find(Event::lost_by_capture));
  });
  if (proof.frames.empty()) {
    proof.add_frame(snapshot.frames_read == 0 ? 0 : 1);
    proof.add_frame(snapshot.frames_read);
  }
  if (!proof.first_time_ns && snapshot.totals.any_time) {
    proof.add_time(snapshot.totals.first_time_ns);
    proof.add_time(snapshot.totals.last_time_ns);
  }
  return proof;
}

}  // namespace

void find_capture_drops(const Snapshot& snapshot, FindingSink& sink) {
  const std::uint64_t dropped = snapshot.dropped().value_or(0);
  if (dropped == 0) return;
  const Proof proof = proof_of(snapshot);
  constexpr Scale scale{.warning_from = 0.001};
  Finding finding;
  finding.severity = severity_of(dropped, snapshot.frames_read + dropped, scale);
  finding.subject = "the capture";
  finding.count = dropped;
  finding.packets = proof.frames;
  finding.first_time_ns = proof.first_time_ns;
  finding.last_time_ns = proof.last_time_ns;
  finding.explanation =
      dropped == snapshot.skipped_packets
          ? fmt::format("{} of the capture cannot be used.{}",
                        share_text(dropped, snapshot.frames_read + dropped), parts_text(snapshot))
          : fmt::format("The capture's own statistics report that {} were dropped while capturing.{}",
                        share_text(dropped, snapshot.frames_read + dropped), parts_text(snapshot));
  if (proof.count != 0)
    finding.explanation += fmt::format(" Known to be among them: {} of analysed connections.", proof.count);
  finding.explanation +=
      " Every gap may come from the capture itself: other findings on loss are less certain, and their "
      "confidence is lower.";
  finding.advice =
      "Capture again with a larger buffer (dumpcap -B 512, tcpdump -B 524288), a capture filter (udp port "
      "4791), a snap length (-s 128) and a fast disk. On the capturing host: ethtool -S DEV | grep -iE "
      "'drop|miss|no_buf', larger rings with ethtool -G DEV rx 8192.";
  sink.add(std::move(finding));
}

}  // namespace roce::analyze
