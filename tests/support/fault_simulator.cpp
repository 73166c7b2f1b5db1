// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_simulator.hpp"

#include <algorithm>

#include "tests/support/frame_builder.hpp"

namespace roce::support {
namespace {

constexpr std::uint32_t first_qp = 0x11;
constexpr std::uint16_t constant_port = 0xd001;

std::uint32_t choose_psn(PsnChoice choice, Random& random) {
  switch (choice) {
    case PsnChoice::zero:
      return 0;
    case PsnChoice::wrap:
      return psn_mask - static_cast<std::uint32_t>(random.below(500));
    case PsnChoice::random:
      break;
  }
  return static_cast<std::uint32_t>(random.number()) & psn_mask;
}

}  // namespace

Simulator::Simulator(const FaultOptions& chosen, SimulatorSink& sink)
    : World(chosen),
      sink_(sink),
      next_qp_(chosen.hosts + 1, first_qp),
      ip_id_(chosen.hosts + 1),
      flow_ip_id_(2 * std::size_t{chosen.connections}) {
  if (options.marks.on && options.marks.pauses && options.marks.pauses_hold) {
    pausing_ = pausing_ports(options);
  }
  for (std::uint16_t& id : ip_id_) {
    id = static_cast<std::uint16_t>(random.number());
  }
  if (options.ip_id == IdChoice::flow) {
    for (std::uint16_t& id : flow_ip_id_) {
      id = static_cast<std::uint16_t>(random.number());
    }
  }
  const std::uint32_t at_once = options.connections / options.generations;
  connections_.reserve(options.connections);
  spaces_.reserve(2 * options.connections);
  for (std::uint32_t i = 0; i < options.connections; ++i) {
    Connection connection{.endpoints = make_endpoints(i)};
    const Time start = connect(i, random.below(options.stagger + 1));
    if (random.chance(options.rates.blackout)) {
      connection.dead_from = start + random.below(options.stagger + 1);
      connection.dead_half_link = static_cast<std::uint8_t>(random.below(4));
    }
    connections_.push_back(connection);
    for (const End end : {End::a, End::b}) {
      const SpaceId space = 2 * i + static_cast<unsigned>(end);
      const std::uint32_t psn = connection.endpoints.first_psn[static_cast<unsigned>(end)];
      spaces_.push_back({.requester = {},
                         .responder = {},
                         .truth = SpaceTruth(space, psn, options.window, options.rates.capture_drop)});
      const auto& host = connection.endpoints.host;
      const auto requester = static_cast<unsigned>(end);
      spaces_.back().responder.start(space, psn, befalls(options, host[requester], host[1 - requester]));
    }
    connections_.back().both_directions = random.chance(options.both_directions);
    if (i < at_once) {
      begin(i, start);
    }
  }
}

void Simulator::begin(std::uint32_t connection, Time time) {
  connections_[connection].begun = true;
  if (options.generations > 1) {
    close_at(connection, time + options.life);
  }
  schedule(time, Happening::start, 2 * connection);
  if (connections_[connection].both_directions) {
    schedule(time, Happening::start, 2 * connection + 1);
  }
}

// If `connection` is over, its queue pairs get their next one, when nothing of it is under way any more.
void Simulator::succeed(std::uint32_t connection) {
  const std::uint32_t next = connection + options.connections / options.generations;
  if (options.generations == 1 || next >= options.connections || connections_[next].begun || !posting ||
      may_post(2 * connection) || !spaces_[2 * connection].requester.idle() ||
      !spaces_[2 * connection + 1].requester.idle()) {
    return;
  }
  const Time drained =
      4 * (options.latency_a + options.latency_b + options.reorder_delay) + options.turnaround;
  begin(next, now + std::max(options.reuse_after, drained));
}

// Connection i joins host i mod H with one of the others. Each host counts its QP numbers for itself, so
// the same number is met on many hosts.
Endpoints Simulator::make_endpoints(std::uint32_t connection) {
  const std::uint32_t at_once = options.connections / options.generations;
  if (connection >= at_once) {
    Endpoints ends = connections_[connection - at_once].endpoints;
    for (std::uint32_t& psn : ends.first_psn) {
      psn = choose_psn(options.first_psn, random);
    }
    return ends;
  }
  const std::uint32_t hosts = options.hosts;
  const std::uint32_t a = connection % hosts;
  const std::uint32_t b = (a + 1 + (connection / hosts) % (hosts - 1)) % hosts;
  Endpoints ends{};
  ends.host[0] = a + 1;
  ends.host[1] = b + 1;
  for (unsigned i = 0; i < 2; ++i) {
    ends.qp[i] = next_qp_[ends.host[i]]++;
    ends.first_psn[i] = choose_psn(options.first_psn, random);
  }
  switch (options.port) {
    case PortChoice::formula:
      // The CM chooses a flow label of its own.
      ends.port = options.connection_manager ? static_cast<std::uint16_t>(0xc000U | random.below(0x4000))
                                             : rc_source_port(ends.qp[0], ends.qp[1]);
      break;
    case PortChoice::random:
      ends.port = static_cast<std::uint16_t>(0xc000U | random.below(0x4000));
      break;
    case PortChoice::constant:
      ends.port = constant_port;
  }
  return ends;
}

void Simulator::run() {
  Event event{};
  while (next(event)) {
    now = event.time;
    handle(event);
    posting = posting && totals_.frames < options.packets;
  }
  disconnect();
  for (std::uint32_t i = 0; i < options.connections; ++i) {
    ConnectionTruth truth{.id = i, .endpoints = connections_[i].endpoints, .frames = connections_[i].frames};
    for (unsigned end = 0; end < 2; ++end) {
      Space& space = spaces_[2 * i + end];
      space.truth.finish(sink_);
      truth.posted[end] = space.requester.posted();
      truth.completed[end] = space.requester.completed();
      truth.answered[end] = space.truth.answered();
      truth.state[end] = state_of(2 * i, static_cast<End>(end));
    }
    sink_.connection(truth);
  }
}

void Simulator::handle(const Event& event) {
  switch (event.happening) {
    case Happening::start: {
      const Endpoints& ends = connections_[event.target / 2].endpoints;
      spaces_[event.target].requester.start(*this, event.target, ends.first_psn[event.target % 2]);
      break;
    }
    case Happening::burst:
      spaces_[event.target].requester.post_burst(*this);
      succeed(event.target / 2);
      break;
    case Happening::request_turn:
      spaces_[event.target].requester.take_turn(*this);
      break;
    case Happening::ack_timer:
      spaces_[event.target].requester.ack_timer(*this);
      break;
    case Happening::rnr_timer:
      spaces_[event.target].requester.rnr_timer(*this);
      break;
    case Happening::response_turn:
      spaces_[event.target].responder.take_turn(*this);
      break;
    case Happening::at_capture:
      at_capture(event.target);
      break;
    case Happening::copy_captured:
      copy_captured(event.target);
      break;
    case Happening::at_receiver:
      at_receiver(event.target);
      break;
    case Happening::cm_message:
      pass_cm_message(static_cast<CmMessage>(event.target % 8), event.target / 8);
  }
}

// Returns when data may flow.
Time Simulator::connect(std::uint32_t connection, Time start) {
  if (!options.connection_manager) {
    return start;
  }
  const Time round_trip = 2 * (options.latency_a + options.latency_b);
  const std::uint32_t target = 8 * connection;
  schedule(start, Happening::cm_message, target + static_cast<std::uint32_t>(CmMessage::request));
  schedule(start + round_trip, Happening::cm_message, target + static_cast<std::uint32_t>(CmMessage::reply));
  schedule(start + 2 * round_trip, Happening::cm_message,
           target + static_cast<std::uint32_t>(CmMessage::ready));
  return start + 3 * round_trip;
}

void Simulator::disconnect() {
  for (std::uint32_t i = 0; options.connection_manager && i < options.connections; ++i) {
    if (state_of(2 * i, End::a) == EndState::working && state_of(2 * i, End::b) == EndState::working) {
      now += options.packet_gap;
      pass_cm_message(CmMessage::disconnect, i);
      now += options.turnaround;
      pass_cm_message(CmMessage::disconnected, i);
    }
  }
}

void Simulator::pass_cm_message(CmMessage message, std::uint32_t connection) {
  if (in_scope(sender_of(message))) {
    ++totals_.cm_messages;
    ++totals_.frames;
    sink_.captured_cm(message, connection, connections_[connection].endpoints, now);
  }
}

std::uint32_t Simulator::keep(const Packet& packet) {
  if (free_.empty()) {
    under_way_.push_back(packet);
    return static_cast<std::uint32_t>(under_way_.size() - 1);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  under_way_[number] = packet;
  return number;
}

Packet Simulator::release(std::uint32_t number) {
  free_.push_back(number);
  return under_way_[number];
}

void Simulator::new_run(SpaceId space, bool responses, std::uint32_t psn, bool alone) {
  spaces_[space].truth.new_run(responses, psn, alone, sink_);
}

void Simulator::proved_lost(SpaceId space, std::uint32_t psn) {
  spaces_[space].truth.proved_lost(psn, sink_);
}

void Simulator::not_needed(const Packet& packet) {
  spaces_[packet.space].truth.not_needed(packet);
}

void Simulator::send(Packet packet) {
  ++totals_.sent;
  packet.sequence = ++spaces_[packet.space].sequence[is_response(packet.kind) ? 1 : 0];
  number_ip(packet);
  sink_.passed_end(sender_of(packet), packet, connections_[packet.space / 2].endpoints, now);
  half_link(packet, false);
}

void Simulator::number_ip(Packet& packet) {
  const std::uint32_t connection = packet.space / 2;
  const auto sender = static_cast<unsigned>(sender_of(packet));
  switch (options.ip_id) {
    case IdChoice::counter:
      packet.ip_id = ip_id_[connections_[connection].endpoints.host[sender]]++;
      break;
    case IdChoice::flow:
      packet.ip_id = flow_ip_id_[2 * connection + sender]++;
      break;
    case IdChoice::random:
      packet.ip_id = static_cast<std::uint16_t>(random.number());
      break;
    case IdChoice::constant:
      break;
  }
}

bool Simulator::in_scope(End sender) const {
  const bool a_to_b = sender == End::a;
  return now >= options.skip &&
         (options.captured == Captured::both || (options.captured == Captured::a_to_b) == a_to_b);
}

// The frame that holds the other copy of a transmission, if it came first. 0: none.
std::uint64_t Simulator::twin_frame(const Packet& packet, std::uint64_t frame) {
  if (packet.twin == 0) {
    return 0;
  }
  const auto found = twins_.find(packet.twin);
  const std::uint64_t other_frame = found->second.frame;
  found->second.frame = frame;
  if (--found->second.left == 0) {
    twins_.erase(found);
  }
  return other_frame;
}

void Simulator::at_capture(std::uint32_t number) {
  Packet packet = release(number);
  ++totals_.at_capture;
  const bool scope = in_scope(sender_of(packet));
  bool dropped = false;
  if (!scope) {
    ++totals_.out_of_scope;
    twin_frame(packet, 0);
  } else if (capture_row_ > 0 || random.chance(options.rates.capture_drop)) {
    if (capture_row_ > 0) {
      --capture_row_;
    } else if (options.capture_row > 1) {
      capture_row_ = static_cast<std::uint32_t>(random.around(options.capture_row)) - 1;
    }
    ++totals_.capture_dropped;
    dropped = true;
    twin_frame(packet, 0);
  } else {
    capture(packet);
  }
  totals_.remarked += packet.remarked ? 1 : 0;
  if (packet.damage != 0 || packet.trimmed) {
    ++(packet.trimmed ? totals_.trimmed : totals_.damaged);
    lose(packet, false);
    return;
  }
  const std::uint64_t lost_before = totals_.lost_after;
  half_link(packet, true);
  if (dropped && totals_.lost_after == lost_before) {
    spaces_[packet.space].truth.lost(packet, LostWhere::by_capture, sink_);
  }
}

void Simulator::capture(Packet& packet) {
  packet.frame = ++totals_.frames;
  Connection& connection = connections_[packet.space / 2];
  ++connection.frames[static_cast<unsigned>(sender_of(packet))];
  sink_.captured(packet, connection.endpoints, now, false);
  if (packet.damage != 0) {
    twin_frame(packet, 0);
    return;
  }
  spaces_[packet.space].truth.captured(packet, twin_frame(packet, packet.frame), sink_);
  if (random.chance(options.rates.capture_duplicate)) {
    schedule(now + options.mirror_delay, Happening::copy_captured, keep(packet));
  }
}

void Simulator::copy_captured(std::uint32_t number) {
  const Packet packet = release(number);
  ++totals_.capture_copies;
  const std::uint64_t frame = ++totals_.frames;
  Connection& connection = connections_[packet.space / 2];
  ++connection.frames[static_cast<unsigned>(sender_of(packet))];
  sink_.captured(packet, connection.endpoints, now, true);
  sink_.frame({.frame = frame,
               .space = packet.space,
               .kind = packet.kind,
               .psn = packet.psn,
               .repeat = packet.repeat,
               .duplicate_capture = true,
               .duplicate_of = packet.frame});
}

void Simulator::at_receiver(std::uint32_t number) {
  Space& space = spaces_[under_way_[number].space];
  const bool response = is_response(under_way_[number].kind);
  if (!response && space.responder.busy_until() > now) {
    schedule(space.responder.busy_until(), Happening::at_receiver, number);
    return;
  }
  const Packet packet = release(number);
  ++totals_.delivered;
  if (response) {
    space.requester.receive(*this, packet);
  } else {
    space.responder.receive(*this, packet);
  }
}

}  // namespace roce::support
