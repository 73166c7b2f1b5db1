// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/completeness.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>

#include "analyze/base/units.hpp"
#include "analyze/mrc/mrc.hpp"
#include "analyze/results/snapshot.hpp"
#include "analyze/results/unpaired_connections.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

using dissect::Service;
using Sampled = Completeness::Sampled;
using Hole = Completeness::Hole;

/// From so many copies on nobody can tell which of two places a packet was lost behind.
constexpr double doubled_throughout = 0.2;

bool acknowledges(Service service) noexcept {
  return service == Service::rc || service == Service::xrc;
}

/// Packets are missing all over the capture, not in one piece.
bool everywhere(const Coverage& coverage) noexcept {
  return 5 * coverage.breaks >= coverage.firsts;
}

/// Where one packet in N is counted off, N packets lie between two captured ones, never more; of these a flow
/// may have any part. At random the distances are spread widely: one in nine is more than 2.2 N.
void judge_distances(Sampled& sampled, std::span<const SequenceStep> steps, bool rate_is_sure) {
  constexpr std::size_t few = 6, enough = 8, many = 32;
  std::vector<double> distances;
  distances.reserve(steps.size());
  for (const SequenceStep& step : steps)
    distances.push_back(static_cast<double>(step.missing + 1) / static_cast<double>(step.frames));
  if (distances.size() < few) return;
  std::sort(distances.begin(), distances.end());
  const auto share_above = [&](double limit) {
    const auto above = std::upper_bound(distances.begin(), distances.end(), limit);
    return static_cast<double>(distances.end() - above) / static_cast<double>(distances.size());
  };
  const double usual = distances[distances.size() * 9 / 10];
  const double beyond = share_above(1.15 * usual);
  const bool of_that_rate = usual >= 0.6 * sampled.one_in && usual <= 2.2 * sampled.one_in;
  if (beyond <= 0.04 && share_above(0.9 * usual) - beyond >= 0.25 && of_that_rate) {
    sampled = {usual, true};
  } else if (distances.size() >= (rate_is_sure ? many : enough) &&
             share_above((rate_is_sure ? 1.4 : 2.2) * sampled.one_in) >= (rate_is_sure ? 0.01 : 0.04)) {
    sampled.regular = false;
  }
}

/// What a network loses is sent again; what a sampling mirror leaves out is missing everywhere and for good.
std::optional<Sampled> sampled_of(const CaptureGaps& gaps) {
  const bool only_unacknowledged = gaps.acknowledged.firsts == 0;
  const Coverage& all = only_unacknowledged ? gaps.unacknowledged : gaps.acknowledged;
  constexpr std::uint64_t least_steps = 2;
  if (all.firsts < all.spaces + least_steps || all.breaks == 0) return std::nullopt;
  if (!everywhere(all)) return std::nullopt;
  const double one_in = static_cast<double>(all.span - std::min(all.span, all.spaces)) /
                        static_cast<double>(all.firsts - all.spaces);
  // Of a handful of packets one gap in their middle has to be large.
  const double least = all.breaks < least_steps ? 3 : only_unacknowledged ? 1.8 : 1.5;
  if (one_in < least) return std::nullopt;
  // Each PSN was sent so often; this share of them would not be captured even once.
  const double sent = static_cast<double>(all.firsts + all.repeats) / static_cast<double>(all.firsts);
  double never = 1;
  for (double times = sent; times > 0; --times) never *= times >= 1 ? 1 - 1 / one_in : 1 - times / one_in;
  const std::uint64_t captured = std::min(all.firsts + all.refilled, all.span);
  if (static_cast<double>(all.span - captured) < 0.4 * never * static_cast<double>(all.span))
    return std::nullopt;
  Sampled sampled{one_in, std::nullopt};
  // Where much is sent again, less of the way between two packets shows in their PSNs, and where there are
  // READs, more: the responses have some of these.
  judge_distances(sampled, gaps.steps, 20 * all.repeats < all.firsts && all.responses == 0);
  return sampled;
}

/// Packets of RC, if there are any, tell better.
void find_sampled_mrc(const Snapshot& s, Completeness& found) {
  constexpr std::uint64_t few = 16;
  if (s.mrc == nullptr || found.sampled || s.gaps.acknowledged.firsts >= few) return;
  if (const std::optional<double> one_in = sampled_one_in(*s.mrc))
    found.sampled = Sampled{*one_in, std::nullopt};
}

/// UD counts PSNs by the queue pair that sends, whoever receives, and no other header than its own names that
/// one: what is missing is known where all that a host sends goes to one queue pair.
void find_missing_datagrams(const Snapshot& s, Completeness& found) {
  constexpr std::uint64_t believable = 1U << 20U, least_packets = 3;
  const auto counts = [](const Flow& f) {
    return f.service_known && f.service == Service::ud && f.key.dst_qp > dissect::gsi_qpn;
  };
  std::map<dissect::IpAddress, unsigned> flows;
  for (const Flow& flow : s.flows) {
    if (counts(flow)) ++flows[flow.key.src];
  }
  std::uint64_t captured = 0;
  for (const Flow& flow : s.flows) {
    if (!counts(flow) || flows[flow.key.src] != 1 || flow.packets < least_packets) continue;
    const std::uint64_t span = std::uint64_t{(flow.last_psn - flow.first_psn) & dissect::serial_mask} + 1;
    if (span < flow.packets || span > believable) continue;
    captured += flow.packets;
    found.datagrams += span;
  }
  found.datagrams_missing = found.datagrams - captured;
  if (found.datagrams_missing == 0) return;
  const bool nothing_else = s.gaps.acknowledged.firsts + s.gaps.unacknowledged.firsts == 0;
  const double one_in = static_cast<double>(found.datagrams) / static_cast<double>(captured);
  if (nothing_else && one_in >= 1.8) found.sampled = Sampled{one_in, std::nullopt};
}

/// Rows of unseen PSNs between the same two packets of the capture.
struct RowsTogether {
  Hole hole;
  bool odd = false;
};

std::vector<RowsTogether> rows_together(const CaptureGaps& gaps) {
  std::vector<UnseenRow> rows = gaps.rows;
  std::erase_if(rows, [](const UnseenRow& row) { return row.before == 0 || row.psns == 0; });
  std::sort(rows.begin(), rows.end(),
            [](const UnseenRow& a, const UnseenRow& b) { return a.frame < b.frame; });
  std::vector<RowsTogether> all;
  for (const UnseenRow& row : rows) {
    if (all.empty() || row.before >= all.back().hole.before)
      all.push_back({{row.before, row.frame, row.before_ns, row.ns, 0, false}, false});
    Hole& now = all.back().hole;
    all.back().odd = all.back().odd || row.odd;
    if (row.before > now.after) {
      now.after = row.before;
      now.from_ns = row.before_ns;
    }
    now.packets += row.psns;
    now.delivered = now.delivered || row.delivered;
  }
  return all;
}

/// Rows of unseen PSNs that a single stop of the capture explains.
void find_holes(const CaptureGaps& gaps, std::uint64_t frames, Completeness& found) {
  // Less is what a busy capture drops here and there.
  constexpr std::uint64_t least_packets = 6;
  const std::vector<RowsTogether> all = rows_together(gaps);
  std::uint64_t unseen = 0;
  for (const RowsTogether& each : all) unseen += each.hole.packets;
  for (const auto& [hole, odd] : all) {
    if (!hole.delivered && !odd) continue;
    // Not every connection sends just before the hole and just behind it. Then they show together that far
    // more is missing between the two packets than usually is between two so far from each other.
    const std::uint64_t within = hole.before - hole.after - 1;
    constexpr std::uint64_t far_more = 10;
    const bool usual = far_more * (unseen - hole.packets) * (within + 1) > hole.packets * frames;
    const bool at_once = odd || within <= hole.packets || !usual;
    if (hole.packets >= least_packets && at_once) {
      found.holes.push_back(hole);
    } else if (hole.delivered) {
      found.missing_elsewhere += hole.packets;
    }
  }
}

/// Packets by the low bits of their opcode, of some services.
struct OpcodeSums {
  static constexpr std::size_t rc = 0x00, uc = 0x20, xrc = 0xa0;  ///< where their opcodes begin
  std::array<std::uint64_t, 32> packets{};

  OpcodeSums(const Totals& totals, std::initializer_list<std::size_t> services) {
    for (const std::size_t service : services) {
      for (std::size_t i = 0; i < packets.size(); ++i) packets[i] += totals.opcodes[service + i];
    }
  }
  [[nodiscard]] std::uint64_t of(std::initializer_list<std::uint8_t> opcodes) const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint8_t opcode : opcodes) sum += packets[opcode];
    return sum;
  }
};

/// The parts of messages: a message of several packets has a First, a Last, and all between them is Middle.
struct MessageParts {
  std::uint8_t first, middle, last;
  std::initializer_list<std::uint8_t> ends;  ///< what may be the last packet
};

/// Somebody sends in the direction in which the answers to that connection would pass.
bool hears_other_direction(const Snapshot& s, const Connection& c, unsigned requester) {
  if (c.flow[requester ^ 1U]) return true;
  return std::any_of(s.flows.begin(), s.flows.end(), [&](const Flow& f) {
    return f.key.src == c.ends[requester ^ 1U].address && f.key.dst == c.ends[requester].address;
  });
}

/// Parts of messages that are missing although the others are there, all over the capture.
/// `reads_again`: READs asked for again. An answer to the rest of a READ has a First of its own, and where it
/// is broken off for the next one no Last.
void find_missing_parts(const OpcodeSums& sums, const Coverage& coverage, std::uint64_t reads_again,
                        std::vector<std::string>& missing) {
  constexpr std::uint64_t enough = 8;
  const MessageParts kinds[] = {
      {0x00, 0x01, 0x02, {0x02, 0x03, 0x16}}, {0x06, 0x07, 0x08, {0x08, 0x09}}, {0x0d, 0x0e, 0x0f, {0x0f}}};
  const auto name = [&](std::uint8_t opcode) { missing.emplace_back(dissect::opcode_name(opcode)); };
  for (const MessageParts& parts : kinds) {
    const std::uint64_t first = sums.packets[parts.first], middle = sums.packets[parts.middle];
    const std::uint64_t last = sums.of(parts.ends);
    // There are as many of one as of the other, whatever a mirror left out.
    const bool answers = parts.first == 0x0d;
    const std::uint64_t again = answers ? std::min(first, reads_again) : 0;
    const std::uint64_t ends = std::max(first - again, last);
    if (ends < enough || coverage.breaks < enough / 2) continue;
    if (2 * coverage.breaks < ends && !everywhere(coverage)) continue;
    if (first == 0) name(parts.first);
    // A message of two packets has none. Where only they are missing, no message lacks its beginning.
    const bool only_inside = 10 * coverage.breaks_at_start < coverage.breaks;
    if (middle == 0 && (last == 0 || only_inside) && coverage.span >= 3 * coverage.firsts / 2)
      name(parts.middle);
    if (last == 0) name(parts.last);
  }
}

std::uint64_t sent_again(const Events& sent) {
  return sent.count(Event::retransmitted_nak) + sent.count(Event::retransmitted_timeout) +
         sent.count(Event::retransmitted_read_retry) + sent.count(Event::retransmitted_unknown);
}

std::uint64_t reads_sent_again(const Snapshot& s) {
  std::uint64_t again = 0;
  for (const Connection& c : s.connections) {
    for (const Events& sent : c.sent)
      again += sent.count(Event::retransmitted_read_retry) - sent.count(Event::response_repeated);
  }
  return again;
}

/// A capture or hardware filter that passed some opcodes only: others are missing that must have been there.
std::vector<std::string> opcode_filtered_of(const Snapshot& s) {
  std::vector<std::string> missing;
  // What was selected here says nothing of what was captured.
  if (s.totals.packets != s.frames_read || s.totals.roce_packets == 0) return missing;
  constexpr std::uint64_t enough = 8;
  const std::uint64_t cnps = s.totals.opcodes[dissect::opcode_cnp];
  if (cnps >= enough && cnps == s.totals.roce_packets) return {"all but CNP"};
  const OpcodeSums sums(s.totals, {OpcodeSums::rc, OpcodeSums::xrc});
  const std::uint64_t writes = sums.of({2, 3, 4, 5, 8, 9, 0x0a, 0x0b, 0x16, 0x17});
  const std::uint64_t reads = sums.of({0x0c});
  const std::uint64_t atomics = sums.of({0x13, 0x14, 0x1c, 0x1d});
  const std::uint64_t responses = sums.of({0x0d, 0x0e, 0x0f, 0x10});
  const std::uint64_t acks = sums.of({0x11});
  const std::uint64_t requests = writes + reads + atomics + sums.of({0, 1, 6, 7});
  Coverage coverage = s.gaps.acknowledged;
  coverage.add(s.gaps.unacknowledged);
  find_missing_parts({s.totals, {OpcodeSums::rc, OpcodeSums::uc, OpcodeSums::xrc}}, coverage,
                     reads_sent_again(s), missing);
  bool heard = false, asked_again = false, goes_on = false;
  std::uint64_t answer_directions = 0;
  for (const Connection& c : s.connections) {
    if (!acknowledges(c.service)) continue;
    for (unsigned side = 0; side < 2; ++side) {
      if (c.requester[side].requests != 0 && !heard) heard = hears_other_direction(s, c, side);
      // Who sends little but one request again and again waits for its answer.
      constexpr std::uint32_t again_and_again = 3;
      const RetryChain& chain = c.requester[side].trouble->worst_chain;
      const bool waits = !chain.answered && chain.resends >= again_and_again &&
                         2 * sent_again(c.sent[side]) > c.packets[side];
      goes_on = goes_on || (c.requester[side].requests != 0 && !waits);
      // Where most of what is sent is sent again, it is not known that the READs were answered.
      asked_again = asked_again || 4 * c.requester[side].trouble->timeouts > c.requester[side].requests ||
                    2 * sent_again(c.sent[side]) > c.packets[side];
    }
    if (c.paired()) answer_directions = 2;
  }
  // READ responses and answers to atomics confirm the WRITEs before them, too. A SEND is rarely left to that.
  const std::uint64_t sends = sums.of({2, 3, 4, 5, 0x16, 0x17});
  if (acks == 0 && heard && goes_on && (sends >= enough || (writes >= enough && writes > reads + atomics)))
    missing.emplace_back(dissect::opcode_name(0x11));
  // Nor where most READs were asked again, whatever else their senders got through: a path on which
  // only what is larger than an ACK does not come back looks like that.
  asked_again = asked_again || 2 * reads_sent_again(s) >= reads;
  if (responses == 0 && reads >= enough / 2 && acks + sums.of({0x12}) != 0 && heard && !asked_again)
    missing.emplace_back(dissect::opcode_name(0x10));
  if (requests == 0 && acks + responses >= enough && answer_directions == 2) missing.emplace_back("requests");
  return missing;
}

/// Longer than answers take: a window that is not answered yet proves nothing, nor do answers to requests
/// that were sent before the capture began.
bool lasts(const Connection& connection) {
  constexpr std::int64_t answered_within_ns = 1'000'000;
  if (connection.first_time_ns == capture::no_time) return true;  // no timestamps
  return span_ns(connection.first_time_ns, connection.last_time_ns) >= answered_within_ns;
}

/// Nothing but one direction of it, and too little of that to say more.
bool shows_too_little(const Connection& c) {
  if (c.paired() || !acknowledges(c.service) || c.state == Connection::State::failed) return false;
  const Events& sent = c.sent[seen_side(c)];
  return sent.count(Event::go_back_n) == 0;
}

void find_one_direction(const Snapshot& s, Completeness& found) {
  const UnpairedConnections unpaired(s);
  for (const Connection& c : s.connections) {
    if (!goes_on_unanswered(c) || unpaired.other_may_be_there(c) || unpaired.reached(c)) {
      if (shows_too_little(c)) ++found.too_little;
      continue;
    }
    found.one_direction.push_back(c.id);
    const unsigned side = seen_side(c);
    found.unheard.emplace(c.ends[side ^ 1U].address, c.ends[side].address);
  }
  if (found.unheard.empty()) return;
  for (const Flow& flow : s.flows) found.unheard.erase({flow.key.src, flow.key.dst});
}

void find_doubled(const Snapshot& s, Completeness& found) {
  std::set<std::uint32_t> elsewhere;  // connections of several points: their copies are wanted
  for (const Connection& c : s.connections) {
    if (c.points.size() > 1) elsewhere.insert(c.id);
  }
  std::uint64_t packets = 0, copies = 0;
  if (s.mrc != nullptr) {
    for (const MrcStream& stream : s.mrc->streams) {
      packets += stream.packets + stream.copies;
      copies += stream.copies;
    }
  }
  for (const Flow& flow : s.flows) {
    if (flow.service == Service::mrc) continue;
    if (flow.connection && elsewhere.contains(*flow.connection)) continue;
    packets += flow.packets + flow.sequence().duplicate_captures;
    copies += flow.sequence().duplicate_captures;
  }
  if (packets == 0) return;
  found.doubled = static_cast<double>(copies) / static_cast<double>(packets);
  Coverage all = s.gaps.acknowledged;
  all.add(s.gaps.unacknowledged);
  found.several_points = found.doubled >= 0.01 && 2 * all.copies_elsewhere > all.copies;
}

void find_cuts(const Snapshot& s, Completeness& found) {
  constexpr std::uint32_t no_limit = 65535;
  if (s.totals.diagnostics.of(DiagnosticId::cut_by_capture) == 0) return;
  for (const capture::InterfaceInfo& interface : s.interfaces) {
    if (interface.snap_length == 0 || interface.snap_length >= no_limit) continue;
    found.cut_at = found.cut_at == 0 ? interface.snap_length : std::min(found.cut_at, interface.snap_length);
  }
  // Ethernet, IPv4, UDP, BTH and AETH.
  constexpr std::uint32_t with_aeth = 14 + 20 + 8 + 12 + 4;
  found.headers_cut = found.cut_at != 0 && found.cut_at < with_aeth;
}

/// Whether the capture shows nearly all of it twice, and hardly anything three times. Some repeats may pass
/// for copies.
bool shown_by_both_points(const Connection& connection) noexcept {
  for (unsigned side = 0; side < 2; ++side) {
    const std::uint64_t copies = connection.sent[side].count(Event::duplicate_capture);
    if (4 * copies < 3 * connection.packets[side] || 4 * copies > 5 * connection.packets[side]) return false;
  }
  return true;
}

}  // namespace

bool goes_on_unanswered(const Connection& connection) {
  constexpr std::uint64_t enough = 8;
  if (connection.paired() || !acknowledges(connection.service)) return false;
  const unsigned side = seen_side(connection);
  const Requester& requester = connection.requester[side];
  if (connection.packets[side] + connection.left_out[side] < enough) return false;
  // A NAK made it go back, or answers without any request leave no doubt.
  if (requester.went_back_later) return true;
  if (!lasts(connection)) return false;
  const Requester& other = connection.requester[side ^ 1U];
  if (other.seen && other.requests + other.requests_left_out == 0) return true;
  if (requester.retries_exhausted) return false;
  const Events& sent = connection.sent[side];
  const std::uint64_t repeats =
      sent.count(Event::retransmitted_nak) + sent.count(Event::retransmitted_timeout) +
      sent.count(Event::retransmitted_rnr) + sent.count(Event::retransmitted_read_retry) +
      sent.count(Event::retransmitted_unknown);
  return 4 * repeats < connection.packets[side] + connection.left_out[side];
}

bool Completeness::bears(Needs needs) const noexcept {
  if (needs.has(Need::packets) && (sampled || !opcode_filtered.empty())) return false;
  if (needs.has(Need::place) && doubled >= doubled_throughout) return false;
  return !needs.has(Need::headers) || !headers_cut;
}

bool Completeness::bears(Needs needs, const Connection& connection) const noexcept {
  if (!bears(needs) && !(shown_by_both_points(connection) && bears(needs.without(Need::place)))) return false;
  if (!needs.has(Need::directions) || connection.paired()) return true;
  if (std::binary_search(one_direction.begin(), one_direction.end(), connection.id)) return false;
  const unsigned side = seen_side(connection);
  return !unheard.contains({connection.ends[side ^ 1U].address, connection.ends[side].address});
}

bool Completeness::lacks_many() const noexcept {
  constexpr std::uint64_t one_in = 10;
  return one_in * missing_elsewhere >= delivered && missing_elsewhere != 0;
}

bool Completeness::limited() const noexcept {
  return !bears(Need::packets | Need::place | Need::headers) || !holes.empty() || !one_direction.empty() ||
         only_too_little() || missing_elsewhere != 0 || undecided != 0 || datagrams_missing != 0 ||
         samples_only;
}

bool Completeness::explains_missing(std::uint64_t shown_by) const noexcept {
  if (!holes.empty() && missing_elsewhere == 0) return true;
  // The answer that shows it comes somewhat later.
  return std::any_of(holes.begin(), holes.end(), [&](const Hole& hole) {
    return shown_by > hole.after && shown_by <= hole.before + 64 + 2 * hole.packets;
  });
}

Completeness completeness_of(const Snapshot& s) {
  Completeness found;
  found.samples_only = s.exports.any() && s.totals.roce_packets == 0;
  found.opcode_filtered = opcode_filtered_of(s);
  if (found.opcode_filtered.empty()) found.sampled = sampled_of(s.gaps);
  find_sampled_mrc(s, found);
  find_missing_datagrams(s, found);
  if (found.bears(Need::packets)) {
    // Where clocks put answers before their requests, these seem to be missing.
    const bool by_clocks = std::any_of(s.connections.begin(), s.connections.end(),
                                       [](const Connection& c) { return c.split || c.answers_first; });
    if (!by_clocks) find_holes(s.gaps, s.frames_read, found);
    find_one_direction(s, found);
  }
  found.delivered = s.gaps.acknowledged.span;
  find_doubled(s, found);
  find_cuts(s, found);
  found.clock_steps = s.totals.diagnostics.of(DiagnosticId::clock_stepped) + s.totals.stepped_back;
  if (s.frames_read > 1)
    found.equal_stamps = static_cast<double>(s.totals.equal_stamps) / static_cast<double>(s.frames_read - 1);
  for (const Connection& c : s.connections)
    ++(acknowledges(c.service) ? found.connections : found.unacknowledged);
  for (const Flow& flow : s.flows) {
    if (!flow.connection && flow.service == Service::ud && flow.key.dst_qp > dissect::gsi_qpn)
      ++found.unacknowledged;
  }
  return found;
}

}  // namespace roce::analyze
