// SPDX-License-Identifier: Apache-2.0
#include "analyze/tracker/congestion_tracker.hpp"

#include <algorithm>
#include <utility>

#include "capture/core/frame.hpp"

namespace roce::analyze {
namespace {

/// From one time to a later one; 0 where either is missing or they ran backwards. Times are below 2^62.
std::uint64_t since(std::int64_t then, std::int64_t now) noexcept {
  if (then == capture::no_time || now == capture::no_time || now <= then) return 0;
  return static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(then);
}

}  // namespace

std::size_t CongestionTracker::Hash::operator()(const Pair& pair) const noexcept {
  FlowKey key;
  key.src = pair.src;
  key.dst = pair.dst;
  return key.hash();
}

void CongestionTracker::Last::step(std::int64_t now, Histogram& spacing) {
  if (now == capture::no_time) return;
  // Packets that waited for their other direction come after later ones of other connections.
  if (known && now < time_ns) return;
  if (known) spacing.add(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(time_ns));
  known = true;
  time_ns = now;
}

void CongestionTracker::marked(Connection& connection, unsigned side, const PacketRecord& r) {
  CongestionSide& congested = *connection.congestion[side];
  if (!congested.waiting) congested.waiting_ns = r.time_ns;
  congested.waiting = true;
  if (!r.has(PacketRecord::selected)) {
    ++congested.left_out;
    return;
  }
  ++congested.ce;
  ++congested.ce_after_cnp;
}

void CongestionTracker::notified(Connection& connection, unsigned side, const Flow* flow,
                                 const PacketRecord& r) {
  CongestionSide& congested = *connection.congestion[side];
  const bool asked = std::exchange(congested.waiting, false);
  const std::int64_t asked_ns = congested.waiting_ns;
  congested.ce_after_cnp = 0;
  if (!r.has(PacketRecord::selected)) {
    ++congested.left_out;
    return;
  }
  const bool first = congested.cnps++ == 0;
  // CNPs whose flow found its other direction late come behind what was sent later.
  const bool in_order = flow == nullptr || !flow->any_time || r.time_ns >= flow->last_time_ns;
  if (!asked) {
    if (in_order) ++congested.cnps_without_ce;
  } else if (asked_ns != capture::no_time && r.time_ns != capture::no_time && r.time_ns >= asked_ns) {
    const std::uint64_t delay = static_cast<std::uint64_t>(r.time_ns) - static_cast<std::uint64_t>(asked_ns);
    congested.ce_to_cnp.add(delay);
    ce_to_cnp_ns_.add(delay);
  }
  count_sender(r, congested, first);

  if (!in_order) return;
  const std::uint64_t bytes = flow != nullptr ? flow->bytes : 0;
  const std::int64_t began = flow != nullptr && flow->any_time ? flow->first_time_ns : capture::no_time;
  const std::uint64_t gap = since(first ? began : congested.last_cnp_ns, r.time_ns);
  const Sent sent{bytes - std::min(bytes, congested.bytes_then), gap};
  if (first) {
    congested.before = sent;
    congested.first_cnp_ns = r.time_ns;
  } else if (gap != 0) {
    congested.cnp_spacing.add(gap);
    congested.between.bytes += sent.bytes;
    congested.between.ns += sent.ns;
    constexpr double less = 0.9;
    if (congested.bps_then > 0) ++(sent.bps() < less * congested.bps_then ? congested.fell : congested.held);
  }
  if (r.time_ns == capture::no_time || (!first && gap == 0)) return;
  congested.bps_then = sent.bps();
  congested.bytes_then = bytes;
  congested.last_cnp_ns = r.time_ns;
}

void CongestionTracker::count_sender(const PacketRecord& r, CongestionSide& congested, bool first) {
  const auto known = sender_places_.find(Pair{r.key.src, {}});
  if (known == sender_places_.end() && senders_.size() >= sender_limit) {
    ++senders_dropped_;
    return;
  }
  std::uint32_t place = static_cast<std::uint32_t>(senders_.size());
  if (known != sender_places_.end()) {
    place = known->second;
  } else {
    sender_places_[Pair{r.key.src, {}}] = place;
    senders_.emplace_back();
    senders_.back().result.address = r.key.src;
  }
  Sender& sender = senders_[place];
  ++sender.result.cnps;
  if (first) ++sender.result.flows;
  sender.last.step(r.time_ns, sender.result.port_spacing_ns);
  if (!first) {
    Last of_flow{congested.last_cnp_ns != capture::no_time, congested.last_cnp_ns};
    of_flow.step(r.time_ns, sender.result.flow_spacing_ns);
  }
  const Pair pair{r.key.src, r.key.dst};
  auto of_pair = pairs_.find(pair);
  if (of_pair == pairs_.end()) {
    if (pairs_.size() >= pair_limit) return;
    of_pair = pairs_.insert({pair, Last{}}).first;
    ++sender.result.pairs;
  }
  of_pair.value().step(r.time_ns, sender.result.pair_spacing_ns);
}

void CongestionTracker::merge(Connection& into, unsigned side, Connection& from) {
  if (!from.congestion[side ^ 1U].there()) return;
  if (!into.congestion[side].there()) {
    into.congestion[side] = std::move(from.congestion[side ^ 1U]);
    return;
  }
  // Which CNP followed which CE was not known to either.
  CongestionSide& to = *into.congestion[side];
  const CongestionSide& more = *from.congestion[side ^ 1U];
  CongestionSide both;
  both.ce = to.ce + more.ce;
  both.cnps = to.cnps + more.cnps;
  both.left_out = to.left_out + more.left_out;
  both.ce_after_cnp = both.cnps == 0 ? both.ce : 0;
  both.cnp_spacing = to.cnps != 0 ? to.cnp_spacing : more.cnp_spacing;
  both.first_cnp_ns = std::max(to.first_cnp_ns, more.first_cnp_ns);
  both.last_cnp_ns = std::max(to.last_cnp_ns, more.last_cnp_ns);
  to = both;
}

void CongestionTracker::finish(Connection& connection, unsigned side, const Flow* flow) {
  if (!connection.congestion[side].there() || flow == nullptr || !flow->any_time) return;
  CongestionSide& congested = *connection.congestion[side];
  if (congested.cnps == 0) return;
  congested.after = {flow->bytes - std::min(flow->bytes, congested.bytes_then),
                     since(congested.last_cnp_ns, flow->last_time_ns)};
}

Congestion CongestionTracker::take() {
  Congestion all;
  all.ce_to_cnp_ns = std::move(ce_to_cnp_ns_);
  all.senders_dropped = std::exchange(senders_dropped_, 0);
  for (Sender& sender : senders_) all.senders.push_back(std::move(sender.result));
  senders_.clear();
  sender_places_.clear();
  pairs_.clear();
  std::sort(all.senders.begin(), all.senders.end(),
            [](const CnpSender& a, const CnpSender& b) { return a.address < b.address; });
  return all;
}

}  // namespace roce::analyze
