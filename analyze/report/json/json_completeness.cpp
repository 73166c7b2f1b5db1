// SPDX-License-Identifier: Apache-2.0
// What the capture can bear: capture.completeness.
#include <cmath>

#include "analyze/report/json/json_parts.hpp"

namespace roce::analyze {
namespace {

/// Four decimals: more would say more than is known.
double rounded(double value) noexcept {
  return std::round(value * 1e4) / 1e4;
}

const JsonObject<Completeness::Sampled>& sampled_object() {
  using Sampled = Completeness::Sampled;
  static const auto object = [] {
    JsonObject<Sampled> o("sampled");
    o.key("one_in", "about one packet in so many was captured",
          [](const Sampled& s) { return rounded(s.one_in); });
    o.key("regular", "true: counted off; false: at random; null: too few packets tell", &Sampled::regular);
    return o;
  }();
  return object;
}

const JsonObject<Completeness::Hole>& hole_object() {
  using Hole = Completeness::Hole;
  static const auto object = [] {
    JsonObject<Hole> o("hole");
    o.key("after_packet", "number of the last packet before it", &Hole::after);
    o.key("before_packet", "number of the first packet that shows it", &Hole::before);
    o.key("from", "time of the packet before it", [](const Hole& h) { return json_time(h.from_ns); });
    o.key("to", "time of the packet behind it", [](const Hole& h) { return json_time(h.to_ns); });
    o.key("packets", "missing packets, at least", &Hole::packets);
    o.key("delivered",
          "some of them were delivered; false: nobody says so, and they may have been lost all at once",
          &Hole::delivered);
    return o;
  }();
  return object;
}

const JsonObject<Completeness>& completeness_keys() {
  using C = Completeness;
  static const auto object = [] {
    JsonObject<C> o("completeness");
    o.object("sampled",
             "the capture has one packet of many, as a mirror or collector samples them; null: it has all",
             sampled_object(), &C::sampled);
    o.key("opcode_filtered",
          "names of opcodes that must have been sent and that the capture does not have at all",
          &C::opcode_filtered);
    o.key("one_direction",
          "connections of which one direction goes on although nothing of the other was captured",
          [](const C& c) { return c.one_direction.size(); });
    o.list(
        "holes",
        "pieces of at least six packets that are missing at once: the capture stopped, or a file is missing",
        hole_object(), &C::holes);
    o.key("doubled", "share of packets that are copies of others, 0 to 1",
          [](const C& c) { return rounded(c.doubled); });
    o.key("several_points",
          "the copies have another TTL, MAC address, VLAN or tunnel: several points of the path",
          &C::several_points);
    o.key("cut_at", "bytes that the capture keeps of a packet; 0: whole, or not known", &C::cut_at)
        .in("byte");
    o.key("clock_steps", "times that the clock was set", &C::clock_steps);
    o.key("equal_stamps", "share of frames with the timestamp of the one before, 0 to 1",
          [](const C& c) { return rounded(c.equal_stamps); });
    o.key("unacknowledged",
          "connections (UC) and flows (UD) of which no answer tells whether packets arrived",
          &C::unacknowledged);
    o.key("missing_elsewhere",
          "packets that were delivered and are not in the capture, outside of holes, at least",
          &C::missing_elsewhere);
    o.key(
        "undecided",
        "packets that are missing and were sent again along with others, though nothing asked for them: lost "
        "upstream or not captured",
        &C::undecided);
    o.key("datagrams", "UD packets that were sent, as their PSNs count them", &C::datagrams);
    o.key("datagrams_missing", "of these: lost on the way here, or not captured", &C::datagrams_missing);
    o.key("samples_only", "switches exported samples, and no traffic was captured itself", &C::samples_only);
    o.key("judges_losses", "false if sampled or filtered: no verdict on losses, retransmissions and answers",
          &C::may_judge_losses);
    o.key("limited", "something was captured that is not judged in full", &C::limited);
    return o;
  }();
  return object;
}

}  // namespace

const JsonObject<Snapshot>& completeness_object() {
  static const auto object = [] {
    JsonObject<Snapshot> o("completeness");
    o.include(completeness_keys(), &Snapshot::completeness);
    o.key("text", "all of it in words, as in the first line of the report; empty if there is nothing to say",
          capture_limits_text);
    return o;
  }();
  return object;
}

}  // namespace roce::analyze
