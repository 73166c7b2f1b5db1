// SPDX-License-Identifier: Apache-2.0
#include "analyze/cm/cm_entry.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "dissect/headers/cm.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::analyze {
namespace {

using dissect::CmKind;
using dissect::CmMessage;
using dissect::Dissection;
using dissect::HeaderId;
using State = CmExchange::State;

/// Copies of one transmission (a mirror, a second interface) come within this time; a retry comes after a
/// response timeout, and with the next PSN of its sender's GSI queue pair.
constexpr std::uint64_t copy_spacing_ns = 1'000'000'000;
/// A REQ may be captured so long after its REP if interfaces were merged out of order.
constexpr std::uint64_t disorder_ns = 5'000'000'000;
/// Enough for 16 transmissions of 4.3 s each, as in Linux; later the request ID is reused.
constexpr std::uint64_t sidr_life_ns = 120'000'000'000;

constexpr CmSeen CmExchange::*slots[] = {&CmExchange::req, &CmExchange::mra, &CmExchange::rep,
                                         &CmExchange::rtu, &CmExchange::rej, &CmExchange::dreq,
                                         &CmExchange::drep};

bool no_time(std::int64_t a, std::int64_t b) noexcept {
  return a == capture::no_time || b == capture::no_time;
}

std::uint64_t distance(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::uint64_t>(std::max(a, b)) - static_cast<std::uint64_t>(std::min(a, b));
}

bool differs(const std::optional<std::uint32_t>& known, std::uint32_t said) noexcept {
  return known && *known != said;
}

std::uint16_t ip_id_of(const std::uint8_t* frame, const Dissection& d) noexcept {
  const dissect::Layer& network = d.layers[d.network];
  if (network.id != HeaderId::ipv4) return 0;
  return dissect::read<dissect::Ipv4::ident>(frame + network.offset);
}

std::uint32_t qpn_of(const std::uint8_t* frame, const Dissection& d, const CmMessage& m) noexcept {
  if (m.kind == CmKind::dreq) return m.remote_qpn.value();
  const std::size_t body = std::size_t{d.mad} + 1;
  if (m.kind != CmKind::rep || m.local_qpn.value() != 0 || body >= d.layer_count) return m.local_qpn.value();
  // Linux puts an XRC target's number where the EE context's was (cm_format_rep() in
  // drivers/infiniband/core/cm.c); the other field is 0 then.
  return dissect::read<dissect::CmRep::eecn>(frame + d.layers[body].offset);
}

}  // namespace

std::optional<CmArrival> cm_arrival(std::uint64_t number, const capture::Frame& frame,
                                    const Dissection& d) noexcept {
  if (d.mad == Dissection::none || d.network == Dissection::none || d.bth == Dissection::none)
    return std::nullopt;
  const auto message = dissect::decode_cm({frame.data, frame.captured}, d);
  if (!message || !message->whole) return std::nullopt;
  const FlowKey ends = ends_of(frame.data, d);
  CmArrival a;
  a.message = *message;
  a.src = ends.src;
  a.dst = ends.dst;
  a.number = number;
  a.time_ns = frame.time_ns;
  a.qpn = qpn_of(frame.data, d, *message);
  a.psn = dissect::read<dissect::Bth::psn>(frame.data + d.layers[d.bth].offset);
  a.ip_id = ip_id_of(frame.data, d);
  a.transport = d.transport;
  return a;
}

bool CmEntry::Transmission::copied_by(const Transmission& other) const noexcept {
  return transaction_id == other.transaction_id && psn == other.psn && ip_id == other.ip_id &&
         (no_time(time_ns, other.time_ns) || distance(time_ns, other.time_ns) < copy_spacing_ns);
}

bool CmEntry::may_hold(const CmArrival& a, bool from_client) const noexcept {
  const CmExchange& x = exchange;
  switch (a.message.kind) {
    case CmKind::req:
      return is_its_req(a);
    case CmKind::rep:
      return !differs(x.server_qpn, a.qpn) && !differs(x.client_psn, a.message.starting_psn.value());
    case CmKind::dreq:
      return !differs(from_client ? x.server_qpn : x.client_qpn, a.qpn);
    default:
      return true;  // has nothing to compare but the IDs
  }
}

bool CmEntry::is_its_req(const CmArrival& a) const noexcept {
  const CmExchange& x = exchange;
  if (differs(x.client_qpn, a.qpn) || differs(x.server_psn, a.message.starting_psn.value())) return false;
  if (x.req) return x.service_id == a.message.service_id;
  // Its REP came first: either the capture is out of order, or it began between REQ and REP and the ID is
  // reused.
  if (no_time(a.time_ns, first_time_ns)) return !ended();
  if (a.time_ns <= first_time_ns) return true;
  return !ended() && distance(a.time_ns, first_time_ns) < disorder_ns;
}

bool CmEntry::is_its_sidr_req(const CmArrival& a) const noexcept {
  if (exchange.req && exchange.service_id != a.message.service_id) return false;
  return no_time(a.time_ns, first_time_ns) || distance(a.time_ns, first_time_ns) < sidr_life_ns;
}

void CmEntry::swap_sides() noexcept {
  CmExchange& x = exchange;
  std::swap(x.client, x.server);
  std::swap(x.client_comm_id, x.server_comm_id);
  std::swap(x.client_qpn, x.server_qpn);
  std::swap(x.client_psn, x.server_psn);
  for (Transmission& t : last_) t.from_client = !t.from_client;
}

bool CmEntry::see(CmSeen CmExchange::*slot, const CmArrival& a, bool from_client) noexcept {
  static_assert(std::size(slots) == std::tuple_size_v<decltype(last_)>);
  const auto i = static_cast<std::size_t>(std::find(std::begin(slots), std::end(slots), slot) - slots);
  const Transmission now{a.time_ns, a.message.transaction_id, a.psn, a.ip_id, from_client};
  CmSeen& seen = exchange.*slot;
  if (!seen) {
    seen = {a.number, a.time_ns, 1, 0, a.number, a.time_ns};
    last_[i] = now;
    return true;
  }
  if (last_[i].from_client != from_client) {  // the peer's own message
    if (seen.of_other_side < std::numeric_limits<std::uint32_t>::max()) ++seen.of_other_side;
    return false;
  }
  if (!last_[i].copied_by(now) && seen.count < std::numeric_limits<std::uint32_t>::max()) {
    ++seen.count;
    seen.last_frame = a.number;
    seen.last_time_ns = a.time_ns;
  }
  last_[i] = now;
  return false;
}

void CmEntry::update_state() noexcept {
  CmExchange& x = exchange;
  if (x.sidr) {
    x.state = !x.rep ? State::requested : x.sidr_status == 0 ? State::replied : State::rejected;
  } else if ((x.dreq || x.drep) && (x.rtu || !x.rej)) {
    x.state = State::disconnected;
  } else if (x.rej) {
    x.state = State::rejected;
  } else {
    x.state = x.rtu ? State::established : x.rep ? State::replied : State::requested;
  }
}

}  // namespace roce::analyze
