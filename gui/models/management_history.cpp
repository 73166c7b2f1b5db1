// SPDX-License-Identifier: Apache-2.0
#include "gui/models/management_history.hpp"

#include <algorithm>
#include <mutex>

#include "dissect/cm.hpp"
#include "dissect/ulp.hpp"

namespace roce::gui {
namespace {

analyze::FlowKey end_of(const dissect::IpAddress& address, std::uint32_t qpn) {
  analyze::FlowKey end;
  end.dst = address;
  end.dst_qp = qpn;
  return end;
}

}  // namespace

bool ManagementHistory::learn(std::uint64_t number, const capture::Frame& frame,
                              const dissect::Options& dissecting) {
  const dissect::Bytes bytes{frame.data, frame.captured};
  dissect::dissect(bytes, frame.wire, frame.link_type, dissection_, dissecting);
  static_cast<void>(tracker_.learn(number, frame, dissection_));
  const std::lock_guard lock(mutex_);
  packets_.push_back({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(tracker_.forgotten()),
                      tracker_.ulp_of(bytes, dissection_)});
  const auto message = dissect::decode_cm(bytes, dissection_);
  const bool refused = message && (message->kind == dissect::CmKind::rej ||
                                   (message->kind == dissect::CmKind::sidr_rep && message->status != 0));
  const analyze::CmExchange* learned = tracker_.last_learned();
  if (learned == nullptr) return refused;
  if (learned->client_qpn) note(number, learned->client, *learned->client_qpn);
  if (learned->server_qpn) note(number, learned->server, *learned->server_qpn);
  return refused;
}

/// Records a change of the exchange or the protocol of a queue pair.
void ManagementHistory::note(std::uint64_t number, const dissect::IpAddress& address, std::uint32_t qpn) {
  const analyze::CmExchange* owner = tracker_.exchange_of(address, qpn);
  if (owner == nullptr) return;
  const dissect::Ulp ulp = tracker_.ulp_of(address, qpn);
  const auto found = ends_.find(end_of(address, qpn));
  if (found == ends_.end()) {
    // Most carry no known protocol: no entry needed.
    if (ulp != dissect::Ulp::none)
      ends_[end_of(address, qpn)].push_back({static_cast<std::uint32_t>(number), owner->number, ulp});
    return;
  }
  const Change& last = found->second.back();
  if (last.exchange != owner->number || last.ulp != ulp)
    found->second.push_back({static_cast<std::uint32_t>(number), owner->number, ulp});
}

dissect::Ulp ManagementHistory::ulp_of(std::uint64_t number, dissect::Bytes frame,
                                       const dissect::Dissection& dissection) const {
  if (complete_.load(std::memory_order_acquire)) return find(number, frame, dissection);
  const std::shared_lock lock(mutex_);
  return find(number, frame, dissection);
}

dissect::Ulp ManagementHistory::find(std::uint64_t number, dissect::Bytes frame,
                                     const dissect::Dissection& dissection) const {
  using dissect::Ulp;
  const auto behind =
      std::upper_bound(packets_.begin(), packets_.end(), number,
                       [](std::uint64_t wanted, const Packet& packet) { return wanted < packet.number; });
  if (behind == packets_.begin()) return Ulp::none;
  const Packet& last = *(behind - 1);
  if (last.number == number) return last.ulp;
  if (ends_.empty() || !dissection.is_transport() || dissection.network == dissect::Dissection::none)
    return Ulp::none;
  const analyze::FlowKey flow = analyze::ends_of(frame.data(), dissection);
  const auto end = ends_.find(end_of(flow.dst, flow.dst_qp));
  if (end == ends_.end()) return Ulp::none;
  const std::vector<Change>& changes = end->second;
  const auto next =
      std::upper_bound(changes.begin(), changes.end(), number,
                       [](std::uint64_t wanted, const Change& change) { return wanted < change.packet; });
  if (next == changes.begin()) return Ulp::none;
  const Change& change = *(next - 1);
  return change.exchange < last.forgotten ? Ulp::none : change.ulp;
}

}  // namespace roce::gui
