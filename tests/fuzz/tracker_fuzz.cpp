// SPDX-License-Identifier: Apache-2.0
// Bytes 0 to 2 choose how the tracker is used; each further 10 bytes are one packet between a few hosts
// and queue pairs, so that flows meet. Whatever comes: no crash, no growth beyond the bounds, and no
// count that the packets cannot explain.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "analyze/record/common_packet.hpp"
#include "analyze/record/time_order.hpp"
#include "analyze/tracker/pairing.hpp"
#include "analyze/tracker/tracker.hpp"
#include "dissect/icrc.hpp"
#include "dissect/opcode.hpp"
#include "tests/analyze/record/header_cache_book.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace roce;
using namespace roce::analyze;

constexpr std::size_t head_bytes = 3;
constexpr std::size_t packet_bytes = 10;
constexpr std::uint32_t largest_payload = 4096;

dissect::IpAddress host(unsigned n) {
  const std::uint8_t bytes[] = {10, 0, 0, static_cast<std::uint8_t>(n + 1)};
  return dissect::IpAddress::v4(bytes);
}

/// Makes packets of bytes. PSNs mostly go on where the flow, or the other direction, stands.
class Maker {
 public:
  PacketRecord next(const std::uint8_t* b) {
    PacketRecord r;
    const unsigned src = b[0] & 3U;
    const unsigned dst = b[0] >> 2U & 3U;
    const unsigned qp = b[0] >> 4U & 7U;
    r.key.src = host(src);
    r.key.dst = host(dst);
    r.key.dst_qp = 0x100 + qp;
    r.key.transport = (b[0] & 128U) != 0 ? dissect::Transport::roce_v1 : dissect::Transport::roce_v2_ipv4;
    r.key_hash = r.key.hash();
    r.opcode = b[1];
    const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
    r.flags = PacketRecord::valid;
    if ((b[2] & 1U) != 0) r.flags |= PacketRecord::ack_requested;
    if ((b[2] & 2U) == 0 && info.aeth_offset != dissect::OpcodeInfo::absent)
      r.flags |= PacketRecord::has_aeth;
    if ((b[2] & 4U) == 0) r.flags |= PacketRecord::selected;
    choose_port(r, src, dst, qp, b[2] >> 3U & 3U);
    r.traffic_class = static_cast<std::uint8_t>(b[2] >> 5U & 3U);
    r.psn = choose_psn(src, dst, qp, b[3], b[4]);
    r.aeth = static_cast<std::uint32_t>(b[5]) << 24U | (b[9] & 0xe0U) >> 5U;
    r.time_ns = choose_time(b[6]);
    choose_id(r, b[7]);
    r.payload = info.has_payload ? std::uint32_t{b[8]} << (b[9] & 4U) : 0;
    r.wire = r.payload + 62;
    if (info.remote_offset != dissect::OpcodeInfo::absent) {
      r.more |= PacketRecord::has_reth;
      // READs of one packet and of a few, for any path MTU.
      r.dma_length = (b[8] & 128U) != 0 ? std::uint32_t{b[8]} << (b[8] & 31U)
                     : info.has_payload ? r.payload
                                        : std::uint32_t{b[8]} * 40U;
      r.virtual_address = b[4];
    }
    r.icrc = b[9] & 3U;
    if ((b[9] & 0x83U) == 0x82U) r.icrc = PacketRecord::cut_away;
    r.path = b[9] >> 3U & 1U;
    r.point = r.path;
    r.source_mac = 0x020000000000U + src;
    return r;
  }

 private:
  static std::size_t index(unsigned src, unsigned dst, unsigned qp) { return (src * 4 + dst) * 8 + qp; }

  static void choose_port(PacketRecord& r, unsigned src, unsigned dst, unsigned qp, unsigned how) {
    if (how == 0 || r.key.transport == dissect::Transport::roce_v1) return;
    r.flags |= PacketRecord::has_ports;
    // 1: the formula of two queue pairs with the same number; 2: of neighbours; 3: useless.
    r.udp_source = how == 3 ? 4791 : source_port_of(0x100 + qp, 0x100 + (how == 1 ? qp : qp ^ (src ^ dst)));
  }

  std::uint32_t choose_psn(unsigned src, unsigned dst, unsigned qp, std::uint8_t how, std::uint8_t value) {
    std::uint32_t& own = psn_[index(src, dst, qp)];
    const std::uint32_t other = psn_[index(dst, src, qp)];
    switch (how & 7U) {
      case 0:
      case 1:
      case 2:
        own += 1;
        break;
      case 3:
        own += static_cast<std::uint32_t>(static_cast<std::int8_t>(value));
        break;
      case 4:
        own = other + static_cast<std::uint32_t>(static_cast<std::int8_t>(value) / 16);
        break;
      case 5:
        own = other;
        break;
      case 6:
        own += std::uint32_t{value} << (how >> 3U);  // up to far off, and round the number's end
        break;
      default:
        own = 0xfffffcU + value;
        break;
    }
    own &= 0xffffffU;
    return own;
  }

  std::int64_t choose_time(std::uint8_t how) {
    if (how == 255) return capture::no_time;
    if (how == 254) return INT64_MAX;  // what a file may say
    if (how == 253) return INT64_MIN + 1;
    if (how >= 240) {
      time_ns_ -= std::int64_t{1} << (how & 31U);
    } else {
      time_ns_ += std::int64_t{how & 7} << (how >> 3U);
    }
    return time_ns_;
  }

  void choose_id(PacketRecord& r, std::uint8_t how) {
    if ((how & 3U) == 3U) return;
    r.more |= PacketRecord::has_ip_id | PacketRecord::dont_fragment;
    if ((how & 3U) == 0) ++ip_id_;
    r.ip_id = (how & 3U) == 2U ? how >> 2U : ip_id_;
  }

  std::array<std::uint32_t, 4 * 4 * 8> psn_{};
  std::int64_t time_ns_ = 1'795'171'301'000'000'000;
  std::uint16_t ip_id_ = 1;
};

CmExchange exchange_of(const PacketRecord& r) {
  CmExchange exchange;
  exchange.transport = r.key.transport;
  exchange.client = r.key.src;
  exchange.server = r.key.dst;
  exchange.client_qpn = r.key.dst_qp;
  exchange.server_qpn = r.key.dst_qp;
  exchange.pmtu = (r.psn & 1U) != 0 ? 256 : 0;
  return exchange;
}

struct Fed {
  std::uint64_t packets = 0;
  std::uint64_t selected = 0;
};

/// Sums that cannot have wrapped, and cannot be more than what was fed.
void check_sequence(const SequenceCounts& c, const Fed& fed) {
  require(c.retransmitted_packets() <= fed.packets, "retransmitted packets");
  require(c.spurious <= fed.packets, "spurious");
  require(c.out_of_order <= fed.packets, "out of order");
  require(c.duplicate_captures <= fed.packets, "duplicates of the capture");
  require(c.duplicate_network <= fed.packets, "duplicates of the network");
  require(c.wasted_packets <= c.retransmitted_packets(), "wasted packets");
  require(c.wasted_bytes <= c.retransmitted_bytes, "wasted bytes");
  const std::uint64_t most = fed.packets << 24U;  // the PSNs of a gap
  require(c.gaps <= most, "gaps");
  for (const std::uint64_t lost : c.lost) require(lost <= most * 64, "lost");
}

void check_requester(const Requester& r, const Fed& fed) {
  require(r.requests <= fed.packets, "requests");
  require(r.acks <= fed.packets, "ACKs");
  for (const std::uint64_t naks : r.trouble->naks) require(naks <= fed.packets, "NAKs");
  require(r.new_bytes <= fed.packets * largest_payload, "goodput");
  require(r.in_flight_max <= 0xffffff, "in flight");
  require(r.first_psn <= 0xffffff && r.next_psn <= 0xffffff, "PSNs");
  require(r.trouble->refused.size() <= 4, "refused requests kept");
  require(r.operations.size() <= operation_kind_count, "operation kinds");
  require(r.trouble->chains <= fed.packets && r.trouble->worst_chain.resends <= fed.packets, "chains");
  for (const OperationStats& o : r.operations) {
    require(o.count <= fed.packets && o.packets <= fed.packets, "operations");
    require(o.retried <= fed.packets, "retried operations");
    require(o.latency_ns.count() <= fed.packets && o.size_bytes.count() <= o.count, "measured operations");
  }
}

void check_connection(const Connection& c, const Fed& fed) {
  require(c.packets[0] + c.packets[1] <= fed.selected, "packets of a connection");
  require(c.packets[0] + c.packets[1] > 0, "a connection without packets");
  require(c.pairing.confidence >= 0 && c.pairing.confidence <= 1, "confidence");
  require(c.paired() || c.pairing.confidence == 0, "confidence of one direction");
  require(c.pairing.answered + c.pairing.unfitting <= fed.packets, "answers");
  for (const std::uint64_t cnps : c.cnps) require(cnps <= fed.packets, "CNPs");
  for (const Requester& r : c.requester) check_requester(r, fed);
  for (const Events& events : c.sent) {
    for (std::size_t i = 0; i < event_count; ++i) {
      const EventLog* log = events.find(static_cast<Event>(i));
      if (log == nullptr) continue;
      require(log->count > 0 && log->count <= (fed.packets << 30U), "events");
      std::uint64_t before = 0;
      for (const std::uint64_t frame : log->frames) {
        if (frame == 0) break;
        require(frame > before && frame <= fed.packets, "frames of events");
        before = frame;
      }
    }
  }
}

/// `forgets`: flows may have left that count in nothing.
void check_result(const Tracker::Result& result, const Fed& fed, std::size_t limit, bool forgets = false) {
  require(result.flows.size() <= limit + Tracker::group, "flows in the table");
  require(result.connections.size() <= fed.packets, "connections");
  require(result.series.buckets().size() <= Series::limit, "buckets of the series");
  std::uint64_t counted = result.departed.packets + result.unlisted_copies + result.not_roce.roce_packets;
  for (const StrayPackets& strays : result.strays) counted += strays.packets;
  for (const Flow& flow : result.flows) {
    const SequenceCounts& sequence = flow.sequence();
    check_sequence(sequence, fed);
    counted += flow.packets + sequence.duplicate_captures;
    require(!flow.connection || *flow.connection <= fed.packets, "a flow's connection");
  }
  require(counted <= fed.selected, "packets counted twice");
  const bool kept_all = result.departed.flows == 0 && result.departed.packets == 0;
  if (kept_all && !forgets && fed.selected == fed.packets)
    require(counted == fed.selected, "packets not counted");
  std::uint32_t last = 0;
  for (const Connection& c : result.connections) {
    check_connection(c, fed);
    require(&c == &result.connections.front() || c.id > last, "connections by id");
    last = c.id;
  }
}

void check_verdicts(VerdictStore& store, const Fed& fed) {
  for (std::uint64_t number = 1; number <= fed.packets; ++number) {
    const Verdict* verdict = store.find(number);
    if (verdict == nullptr) continue;
    require(verdict->original <= fed.packets && verdict->request <= fed.packets, "frames of a verdict");
    require(verdict->response <= fed.packets, "the response of a verdict");
    require(verdict->original != number && verdict->request != number, "a packet that repeats itself");
    require(verdict->cause < Cause::count_, "words of a verdict");
    require(verdict->connection == Verdict::no_connection || verdict->connection < 2 * fed.packets,
            "the connection of a verdict");
    require((verdict->cause != Cause::none) == verdict->has(Verdict::retransmission), "cause");
  }
}

/// What the flows count is what is said of each packet, where all flows are still there.
void check_sums(const Tracker::Result& result, VerdictStore& store, const Fed& fed) {
  SequenceCounts counted;
  std::uint64_t repeats = 0, lost_of_flows = 0, lost_of_connections = 0;
  // Shown by themselves: behind the capture point where they were seen. Those that were lost before the one
  // where the connection is followed are no copies, but count as such.
  std::uint64_t between = 0;
  for (const Connection& c : result.connections)
    between += c.sent[0].count(Event::lost_between_points) + c.sent[1].count(Event::lost_between_points);
  constexpr std::array places{std::pair(Lost::before_capture, Event::lost_before_capture),
                              std::pair(Lost::after_capture, Event::lost_after_capture),
                              std::pair(Lost::by_capture, Event::lost_by_capture),
                              std::pair(Lost::trimmed, Event::lost_trimmed),
                              std::pair(Lost::undecided, Event::lost_undecided)};
  for (const auto& [where, event] : places) {
    for (const Connection& c : result.connections)
      counted.lost[static_cast<std::size_t>(where)] += c.sent[0].count(event) + c.sent[1].count(event);
  }
  counted.lost[static_cast<std::size_t>(Lost::after_capture)] += between;
  // Of UD, which has no connections, a flow alone counts what a switch trimmed.
  for (const Flow& flow : result.flows) {
    if (flow.connection) continue;
    for (std::size_t i = 0; i < counted.lost.size(); ++i) counted.lost[i] += flow.sequence().lost[i];
  }
  // One that began with UD has counted before it became part of a connection.
  for (const Connection& c : result.connections) {
    for (unsigned side = 0; side < 2; ++side) {
      const auto flow = std::find_if(result.flows.begin(), result.flows.end(),
                                     [&](const Flow& each) { return c.flow[side] == each.id; });
      if (flow == result.flows.end()) continue;
      const std::uint64_t trimmed = flow->sequence().lost[static_cast<std::size_t>(Lost::trimmed)];
      const std::uint64_t own = c.sent[side].count(Event::lost_trimmed);
      counted.lost[static_cast<std::size_t>(Lost::trimmed)] += trimmed - std::min(trimmed, own);
    }
  }
  for (const std::uint64_t lost : counted.lost) lost_of_connections += lost;
  counted.duplicate_captures += result.unlisted_copies;
  for (const Flow& flow : result.flows) {
    const SequenceCounts& c = flow.sequence();
    repeats += c.retransmitted_packets();
    for (const std::uint64_t lost : c.lost) lost_of_flows += lost;
    counted.spurious += c.spurious;
    counted.out_of_order += c.out_of_order;
    counted.duplicate_captures += c.duplicate_captures;
    counted.duplicate_network += c.duplicate_network;
    counted.gaps += c.gaps;
  }
  for (std::uint64_t number = 1; number <= fed.packets; ++number) {
    const Verdict* const v = store.find(number);
    if (v == nullptr) continue;
    const bool copy = v->has(Verdict::duplicate_capture) || v->has(Verdict::duplicate_network);
    repeats -= static_cast<std::uint64_t>(v->has(Verdict::retransmission) && !copy);
    counted.spurious -= static_cast<std::uint64_t>(v->has(Verdict::spurious));
    counted.out_of_order -= static_cast<std::uint64_t>(v->has(Verdict::out_of_order));
    counted.duplicate_captures -= static_cast<std::uint64_t>(v->has(Verdict::duplicate_capture));
    counted.duplicate_network -= static_cast<std::uint64_t>(v->has(Verdict::duplicate_network));
    counted.gaps -= v->gap;
    for (const auto& [where, event] : places) counted.lost[static_cast<std::size_t>(where)] -= v->lost(where);
  }
  require(repeats == 0, "sum of repeats");
  require(lost_of_flows <= lost_of_connections, "losses of flows");
  require(counted.spurious == 0, "sum of needless repeats");
  require(counted.out_of_order == 0, "sum of late packets");
  require(counted.duplicate_captures <= between && counted.duplicate_network == 0, "sum of copies");
  require(counted.gaps == 0, "sum of gaps");
  for (const std::uint64_t lost : counted.lost) require(lost == 0, "sum of losses");
}

/// The short way for common packets must say what the long way says.
void check_same(const Tracker::Result& a, const Tracker::Result& b) {
  require(a.flows.size() == b.flows.size() && a.connections.size() == b.connections.size(),
          "both ways: lists");
  require(a.departed.packets == b.departed.packets, "both ways: evicted");
  for (std::size_t i = 0; i < a.flows.size(); ++i) {
    const Flow& x = a.flows[i];
    const Flow& y = b.flows[i];
    require(x.key == y.key && x.packets == y.packets && x.bytes == y.bytes, "both ways: a flow");
    require(x.sequence().lost == y.sequence().lost, "both ways: losses");
    require(x.sequence().retransmitted == y.sequence().retransmitted, "both ways: repeats");
  }
  for (std::size_t i = 0; i < a.connections.size(); ++i) {
    const Connection& x = a.connections[i];
    const Connection& y = b.connections[i];
    require(x.packets == y.packets && x.flow == y.flow && x.pmtu == y.pmtu, "both ways: a connection");
    require(x.pairing.answered == y.pairing.answered && x.first_frame == y.first_frame, "both ways: answers");
    for (std::size_t side = 0; side < 2; ++side) {
      const Requester& p = x.requester[side];
      const Requester& q = y.requester[side];
      require(p.requests == q.requests && p.acks == q.acks && p.new_bytes == q.new_bytes &&
                  p.in_flight_max == q.in_flight_max && p.idle_ns == q.idle_ns && p.next_psn == q.next_psn,
              "both ways: a requester");
      require(p.operations.size() == q.operations.size(), "both ways: operations");
      for (std::size_t k = 0; k < p.operations.size(); ++k) {
        const OperationStats& m = p.operations[k];
        const OperationStats& n = q.operations[k];
        require(m.count == n.count && m.bytes == n.bytes && m.packets == n.packets &&
                    m.latency_ns.count() == n.latency_ns.count() &&
                    m.latency_ns.max() == n.latency_ns.max() && m.size_bytes.count() == n.size_bytes.count(),
                "both ways: an operation");
      }
    }
  }
}

void check_same(VerdictStore& a, VerdictStore& b, std::uint64_t packets) {
  for (std::uint64_t number = 1; number <= packets; ++number) {
    const Verdict* const x = a.find(number);
    const Verdict* const y = b.find(number);
    require((x == nullptr) == (y == nullptr), "both ways: a verdict is missing");
    require(x == nullptr || std::memcmp(x, y, sizeof *x) == 0, "both ways: a verdict");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < head_bytes || size > 64 * 1024) return 0;
  const std::size_t limit = data[0] == 255 ? FlowTable::default_limit : std::size_t{1} + data[0];
  const bool store = (data[1] & 1U) != 0;
  const bool in_groups = (data[1] & 2U) != 0;
  const bool ordered = (data[1] & 4U) != 0 && !in_groups;
  const bool all_selected = (data[1] & 8U) != 0;
  const std::size_t group = in_groups ? 1 + data[2] % Tracker::group : 1;

  VerdictStore verdicts;
  TrackerOptions options;
  options.flow_limit = limit;
  options.verdicts = store ? &verdicts : nullptr;
  Tracker tracker(options);
  VerdictStore long_verdicts;
  options.verdicts = store ? &long_verdicts : nullptr;
  options.short_way = false;
  Tracker long_way(options);
  options.verdicts = nullptr;
  Tracker forgetful(options);  // everything leaves it now and then
  ImageBook book;
  TimeOrder order;
  Maker maker;
  Fed fed;
  std::vector<PacketRecord> records;
  std::uint32_t exchanges = 0;
  std::uint64_t tracked = 0;

  const auto track_group = [&] {
    for (PacketRecord& r : records) r.common = static_cast<std::uint8_t>(common_of(r));
    book.track(tracker, records, tracked + 1);
    for (const PacketRecord& r : records) {
      long_way.track(r, ++tracked);
      forgetful.track(r, tracked);
    }
    records.clear();
  };
  const auto track_in_order = [&](bool all) {
    TimeOrder::Waiting next;
    while (order.pop(next, all)) {
      tracker.track_one(next.record, next.number);
      long_way.track_one(next.record, next.number);
      forgetful.track_one(next.record, next.number);
      ++tracked;
    }
  };

  for (std::size_t at = head_bytes; at + packet_bytes <= size; at += packet_bytes) {
    PacketRecord r = maker.next(data + at);
    if (all_selected) r.flags |= PacketRecord::selected;
    ++fed.packets;
    if (r.has(PacketRecord::selected)) ++fed.selected;
    if ((data[at + 9] & 0xf0U) == 0xf0U) {
      tracker.connected(exchange_of(r), exchanges);
      forgetful.connected(exchange_of(r), exchanges);
      long_way.connected(exchange_of(r), exchanges++);
    }
    if (ordered) {
      order.push(r, fed.packets);
      track_in_order(false);
    } else {
      records.push_back(r);
      if (records.size() == group) track_group();
    }
    constexpr std::uint64_t now_and_then = 32;
    if (tracked == fed.packets && tracked % now_and_then == 7) {
      Tracker copy(tracker);
      check_result(copy.finish(), fed, limit);
      forgetful.retire_idle(tracked + 2 * now_and_then);
    }
  }
  track_group();
  track_in_order(true);
  require(tracked == fed.packets, "a packet that waits for ever");
  const Tracker::Result result = tracker.finish();
  check_result(result, fed, limit);
  check_same(result, long_way.finish());
  check_result(forgetful.finish(), fed, limit, true);
  if (store) {
    check_verdicts(verdicts, fed);
    check_same(verdicts, long_verdicts, fed.packets);
    const bool kept_all = result.departed.flows == 0 && result.departed.packets == 0;
    if (kept_all && fed.selected == fed.packets) check_sums(result, verdicts, fed);
  }
  return 0;
}
