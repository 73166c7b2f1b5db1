// SPDX-License-Identifier: Apache-2.0
#include "analyze/cm/cm_tracker.hpp"

#include <tsl/robin_map.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "analyze/cm/cm_entry.hpp"

namespace roce::analyze {
namespace {

using dissect::CmKind;
using dissect::CmMessage;
using dissect::Dissection;
using dissect::IpAddress;
using dissect::Ulp;

/// Reject reason "timeout" (IBTA 12.6.7.2).
constexpr std::uint16_t reject_timeout = 4;

/// The message that an MRA or REJ responds to (IBTA 12.6.6, 12.6.7); 2 is a LAP in an MRA, none in a REJ.
constexpr std::uint8_t answers_req = 0;
constexpr std::uint8_t answers_rep = 1;

bool names_nobody(const CmMessage& m) noexcept {
  return m.local_comm_id == 0 && m.remote_comm_id == 0;
}

}  // namespace

struct CmTracker::Impl {
  enum class Sender : std::uint8_t { either, client, server };

  /// The exchange that a message belongs to.
  struct Match {
    CmEntry* entry = nullptr;
    bool from_client = false;
  };

  std::size_t limit = 1;
  std::deque<CmEntry> entries;  ///< oldest first
  std::uint32_t first = 0;      ///< number of the oldest
  std::uint64_t forgotten = 0;
  std::optional<std::uint32_t> learned;  ///< number of the exchange that the last packet belongs to
  tsl::robin_map<CmPlace, std::uint32_t, CmPlace::Hash> places;  ///< to CmExchange::number

  [[nodiscard]] const CmEntry* at(const CmPlace& place) const {
    const auto found = places.find(place);
    if (found == places.end()) return nullptr;
    // Numbers may wrap around; their distance from the oldest one does not.
    const std::uint32_t index = found->second - first;
    return index < entries.size() ? &entries[index] : nullptr;
  }
  [[nodiscard]] CmEntry* at(const CmPlace& place) {
    return const_cast<CmEntry*>(std::as_const(*this).at(place));
  }

  void forget_oldest();
  CmEntry& make(const CmArrival& a, bool from_client);
  Match make_match(const CmArrival& a, bool from_client);
  void name_sides(const Match& match, const CmArrival& a);
  void name_queue_pair(CmEntry& entry, bool of_client, std::uint32_t qpn, bool made_now);
  Match find(const CmArrival& a, Sender sender);
  static Match check(CmEntry& entry, bool from_client, const CmArrival& a, Sender sender);

  // Each returns the exchange that the message belongs to; nullptr if the message is ignored.
  CmEntry* learn_req(const CmArrival& a);
  CmEntry* learn_rep(const CmArrival& a);
  CmEntry* learn_rtu(const CmArrival& a);
  CmEntry* learn_mra(const CmArrival& a);
  CmEntry* learn_rej(const CmArrival& a);
  CmEntry* learn_dreq(const CmArrival& a);
  CmEntry* learn_drep(const CmArrival& a);
  CmEntry* learn_sidr(const CmArrival& a);

  struct Rule {
    CmKind kind;
    CmEntry* (Impl::*learn)(const CmArrival&);
    bool makes_queue_pair;
  };
  static const Rule rules[];
};

// Without LAP and APR: they change paths, not queue pairs.
const CmTracker::Impl::Rule CmTracker::Impl::rules[] = {
    {CmKind::req, &Impl::learn_req, true},        {CmKind::rep, &Impl::learn_rep, true},
    {CmKind::rtu, &Impl::learn_rtu, false},       {CmKind::mra, &Impl::learn_mra, false},
    {CmKind::rej, &Impl::learn_rej, false},       {CmKind::dreq, &Impl::learn_dreq, false},
    {CmKind::drep, &Impl::learn_drep, false},     {CmKind::sidr_req, &Impl::learn_sidr, false},
    {CmKind::sidr_rep, &Impl::learn_sidr, false},
};

void CmTracker::Impl::forget_oldest() {
  const CmExchange& x = entries.front().exchange;
  const auto forget = [&](const CmPlace& place) {
    const auto found = places.find(place);
    if (found != places.end() && found->second == x.number) places.erase(found);
  };
  const auto kind = x.sidr ? CmPlace::request : CmPlace::communication;
  forget({kind, x.client, x.server, x.client_comm_id});
  forget({kind, x.server, x.client, x.server_comm_id});
  if (x.client_qpn) forget({CmPlace::queue_pair, x.client, {}, *x.client_qpn});
  if (x.server_qpn) forget({CmPlace::queue_pair, x.server, {}, *x.server_qpn});
  entries.pop_front();
  ++first;
  ++forgotten;
}

CmEntry& CmTracker::Impl::make(const CmArrival& a, bool from_client) {
  if (entries.size() >= limit) forget_oldest();
  CmEntry& entry = entries.emplace_back();
  CmExchange& x = entry.exchange;
  x.number = first + static_cast<std::uint32_t>(entries.size() - 1);
  x.client = from_client ? a.src : a.dst;
  x.server = from_client ? a.dst : a.src;
  x.transport = a.transport;
  entry.first_time_ns = a.time_ns;
  return entry;
}

CmTracker::Impl::Match CmTracker::Impl::make_match(const CmArrival& a, bool from_client) {
  return {&make(a, from_client), from_client};
}

/// Records the communication IDs of a message; 0 is none.
void CmTracker::Impl::name_sides(const Match& match, const CmArrival& a) {
  CmExchange& x = match.entry->exchange;
  const auto name = [&](std::uint32_t& known, std::uint32_t said, const IpAddress& own,
                        const IpAddress& peer) {
    if (known != 0 || said == 0) return;
    known = said;
    places.insert_or_assign({CmPlace::communication, own, peer, said}, x.number);
  };
  const CmMessage& m = a.message;
  name(x.client_comm_id, match.from_client ? m.local_comm_id : m.remote_comm_id, x.client, x.server);
  name(x.server_comm_id, match.from_client ? m.remote_comm_id : m.local_comm_id, x.server, x.client);
}

/// Records a queue pair of the exchange. A REQ or REP begins its use (`made_now`) and takes the number from
/// an older exchange. A DREQ only mentions it: a late one must not take the number from a newer exchange.
void CmTracker::Impl::name_queue_pair(CmEntry& entry, bool of_client, std::uint32_t qpn, bool made_now) {
  CmExchange& x = entry.exchange;
  std::optional<std::uint32_t>& known = of_client ? x.client_qpn : x.server_qpn;
  if (known) return;
  known = qpn;
  const CmPlace place(CmPlace::queue_pair, of_client ? x.client : x.server, {}, qpn);
  const CmEntry* owner = at(place);
  if (made_now || owner == nullptr || owner->ended()) places.insert_or_assign(place, x.number);
}

/// By the IDs in the message, the sender's first. If the queue pairs contradict, the ID is reused.
CmTracker::Impl::Match CmTracker::Impl::find(const CmArrival& a, Sender sender) {
  const CmMessage& m = a.message;
  if (m.local_comm_id != 0) {
    CmEntry* entry = at({CmPlace::communication, a.src, a.dst, m.local_comm_id});
    if (entry != nullptr) {
      const Match match = check(*entry, entry->is_client(a.src, m.local_comm_id), a, sender);
      if (match.entry != nullptr) return match;
    }
  }
  if (m.remote_comm_id == 0) return {};
  CmEntry* entry = at({CmPlace::communication, a.dst, a.src, m.remote_comm_id});
  return entry == nullptr ? Match{} : check(*entry, !entry->is_client(a.dst, m.remote_comm_id), a, sender);
}

CmTracker::Impl::Match CmTracker::Impl::check(CmEntry& entry, bool from_client, const CmArrival& a,
                                              Sender sender) {
  const auto contradict = [](std::uint32_t known, std::uint32_t said) {
    return known != 0 && said != 0 && known != said;
  };
  const CmExchange& x = entry.exchange;
  const CmMessage& m = a.message;
  if (contradict(from_client ? x.client_comm_id : x.server_comm_id, m.local_comm_id) ||
      contradict(from_client ? x.server_comm_id : x.client_comm_id, m.remote_comm_id)) {
    return {};
  }
  const bool swap = sender != Sender::either && from_client != (sender == Sender::client);
  if (swap && entry.sides_known) return {};
  if (swap) entry.swap_sides();
  from_client = from_client != swap;
  if (!entry.may_hold(a, from_client)) {
    if (swap) entry.swap_sides();
    return {};
  }
  if (sender != Sender::either) entry.sides_known = true;
  return {&entry, from_client};
}

CmEntry* CmTracker::Impl::learn_req(const CmArrival& a) {
  const CmMessage& m = a.message;
  Match match = find(a, Sender::client);
  if (match.entry == nullptr) match = make_match(a, true);
  name_sides(match, a);
  CmEntry& entry = *match.entry;
  if (!entry.see(&CmExchange::req, a, true)) return &entry;
  CmExchange& x = entry.exchange;
  x.transport = a.transport;
  x.service = m.transport;
  x.service_id = m.service_id;
  x.server_psn = m.starting_psn.value();  // the starting PSN is the one the sender expects (IBTA 12.7.31)
  x.pmtu = m.mtu;
  x.retry_count = m.retry_count;
  x.rnr_retry = m.rnr_retry_count;
  x.ack_timeout_code = m.local_ack_timeout;
  x.traffic_class = m.traffic_class;
  x.sl = m.sl;
  x.response_timeout_code = m.remote_response_timeout;
  x.max_cm_retries = m.max_cm_retries;
  name_queue_pair(entry, true, a.qpn, true);
  return &entry;
}

CmEntry* CmTracker::Impl::learn_rep(const CmArrival& a) {
  Match match = find(a, Sender::server);
  if (match.entry == nullptr) match = make_match(a, false);
  name_sides(match, a);
  if (match.entry->see(&CmExchange::rep, a, false)) {
    match.entry->exchange.client_psn = a.message.starting_psn.value();
    name_queue_pair(*match.entry, false, a.qpn, true);
  }
  return match.entry;
}

CmEntry* CmTracker::Impl::learn_rtu(const CmArrival& a) {
  if (names_nobody(a.message)) return nullptr;
  Match match = find(a, Sender::client);
  if (match.entry == nullptr) match = make_match(a, true);
  name_sides(match, a);
  match.entry->see(&CmExchange::rtu, a, true);
  return match.entry;
}

CmEntry* CmTracker::Impl::learn_mra(const CmArrival& a) {
  if (a.message.message > answers_rep) return nullptr;
  const Match match = find(a, a.message.message == answers_req ? Sender::server : Sender::client);
  if (match.entry == nullptr) return nullptr;
  name_sides(match, a);
  match.entry->see(&CmExchange::mra, a, match.from_client);
  return match.entry;
}

CmEntry* CmTracker::Impl::learn_rej(const CmArrival& a) {
  const CmMessage& m = a.message;
  if (names_nobody(m)) return nullptr;
  const Sender sender = m.message == answers_req   ? Sender::server
                        : m.message == answers_rep ? Sender::client
                                                   : Sender::either;
  Match match = find(a, sender);
  if (match.entry == nullptr) {
    // A sender that does not know the peer's ID is the client after a timeout.
    match = make_match(a, sender == Sender::client || (sender == Sender::either && m.remote_comm_id == 0));
  }
  name_sides(match, a);
  CmExchange& x = match.entry->exchange;
  const bool only_gave_up = x.rej && !x.rejected_by_server && x.reject_reason == reject_timeout;
  if (only_gave_up && !match.from_client) x.rej = {};
  if (match.entry->see(&CmExchange::rej, a, match.from_client)) {
    x.reject_reason = m.reject_reason;
    x.rejected_by_server = !match.from_client;
  }
  return match.entry;
}

CmEntry* CmTracker::Impl::learn_dreq(const CmArrival& a) {
  if (names_nobody(a.message)) return nullptr;
  Match match = find(a, Sender::either);
  if (match.entry == nullptr) {
    match = make_match(a, true);
    match.entry->sides_known = false;
  }
  name_sides(match, a);
  match.entry->see(&CmExchange::dreq, a, match.from_client);
  name_queue_pair(*match.entry, !match.from_client, a.qpn, false);
  return match.entry;
}

CmEntry* CmTracker::Impl::learn_drep(const CmArrival& a) {
  const Match match = find(a, Sender::either);
  if (match.entry == nullptr) return nullptr;
  name_sides(match, a);
  match.entry->see(&CmExchange::drep, a, match.from_client);
  return match.entry;
}

/// SIDR_REQ and SIDR_REP have one ID, the client's.
CmEntry* CmTracker::Impl::learn_sidr(const CmArrival& a) {
  const CmMessage& m = a.message;
  const bool request = m.kind == CmKind::sidr_req;
  const CmPlace place(CmPlace::request, request ? a.src : a.dst, request ? a.dst : a.src, m.request_id);
  CmEntry* entry = at(place);
  if (entry == nullptr || (request && !entry->is_its_sidr_req(a))) {
    entry = &make(a, request);
    entry->exchange.sidr = true;
    entry->exchange.client_comm_id = m.request_id;
    places.insert_or_assign(place, entry->exchange.number);
  }
  CmExchange& x = entry->exchange;
  if (!entry->see(request ? &CmExchange::req : &CmExchange::rep, a, request)) return entry;
  if (request) {
    x.transport = a.transport;
    x.service_id = m.service_id;
    return entry;
  }
  if (!x.req) x.service_id = m.service_id;
  x.sidr_status = m.status;
  x.rejected_by_server = m.status != 0;
  if (m.status == 0) name_queue_pair(*entry, false, a.qpn, true);
  return entry;
}

CmTracker::CmTracker(std::size_t limit) : impl_(std::make_unique<Impl>()) {
  impl_->limit = std::max<std::size_t>(limit, 1);
}
CmTracker::CmTracker(const CmTracker& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
CmTracker::CmTracker(CmTracker&&) noexcept = default;
CmTracker& CmTracker::operator=(CmTracker&&) noexcept = default;
CmTracker::~CmTracker() = default;

const CmExchange* CmTracker::learn(std::uint64_t number, const capture::Frame& frame, const Dissection& d) {
  impl_->learned.reset();
  if (d.mad == Dissection::none) return nullptr;
  const auto arrival = cm_arrival(number, frame, d);
  if (!arrival) return nullptr;
  const auto* rule = std::find_if(std::begin(Impl::rules), std::end(Impl::rules),
                                  [&](const Impl::Rule& r) { return r.kind == arrival->message.kind; });
  if (rule == std::end(Impl::rules)) return nullptr;
  CmEntry* const entry = (*impl_.*rule->learn)(*arrival);
  if (entry == nullptr) return nullptr;
  entry->update_state();

  const CmExchange& x = entry->exchange;
  impl_->learned = x.number;
  if (x.sidr || entry->announced || !x.client_qpn || !x.server_qpn) return nullptr;
  entry->announced = true;
  return rule->makes_queue_pair && !entry->ended() ? &x : nullptr;
}

const CmExchange* CmTracker::last_learned() const noexcept {
  const auto place = impl_->learned ? place_of(*impl_->learned) : std::nullopt;
  return place ? &impl_->entries[*place].exchange : nullptr;
}

const CmExchange* CmTracker::exchange_of(const IpAddress& address, std::uint32_t qpn) const {
  const CmEntry* entry = std::as_const(*impl_).at({CmPlace::queue_pair, address, {}, qpn});
  return entry == nullptr ? nullptr : &entry->exchange;
}

Ulp CmTracker::ulp_of(dissect::Bytes frame, const Dissection& d) const {
  if (!d.is_transport() || d.network == Dissection::none) return Ulp::none;
  const FlowKey ends = ends_of(frame.data(), d);
  if (d.mad == Dissection::none) return ulp_of(ends.dst, ends.dst_qp);
  const auto m = dissect::decode_cm(frame, d);
  if (!m || (m->kind != CmKind::rep && m->kind != CmKind::rej)) return Ulp::none;
  const CmEntry* entry =
      std::as_const(*impl_).at({CmPlace::communication, ends.dst, ends.src, m->remote_comm_id});
  return entry == nullptr ? Ulp::none : dissect::ulp_of_service(entry->exchange.service_id);
}

Ulp CmTracker::ulp_of(const IpAddress& address, std::uint32_t qpn) const {
  const CmExchange* exchange = exchange_of(address, qpn);
  return exchange == nullptr ? Ulp::none : dissect::ulp_of_service(exchange->service_id);
}

std::optional<std::uint32_t> CmTracker::place_of(std::uint32_t number) const noexcept {
  const std::uint32_t place = number - impl_->first;
  return place < impl_->entries.size() ? std::optional(place) : std::nullopt;
}

std::vector<CmExchange> CmTracker::take_exchanges() {
  std::vector<CmExchange> result;
  result.reserve(impl_->entries.size());
  for (const CmEntry& entry : impl_->entries) result.push_back(entry.exchange);
  impl_->first += static_cast<std::uint32_t>(result.size());
  impl_->entries.clear();
  impl_->places.clear();
  return result;
}

std::uint64_t CmTracker::forgotten() const noexcept {
  return impl_->forgotten;
}

}  // namespace roce::analyze
