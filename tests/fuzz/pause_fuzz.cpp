// SPDX-License-Identifier: Apache-2.0
// Link control frames in any order, of a few ports at two capture points, with RoCE packets between. Byte 0
// chooses bounds and speeds; then each frame is a byte of kind and port, two of time, and what the kind
// needs. Kind 7 is any bytes behind a MAC control or LLDP ethertype. Whatever comes: no crash, no growth
// beyond the bounds, and the figures that a plain list of the same pauses gives.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "analyze/link/dcbx.hpp"
#include "analyze/link/link_view.hpp"
#include "analyze/link/pause_tracker.hpp"
#include "dissect/dissect.hpp"
#include "tests/fuzz/require.hpp"

namespace {

using namespace roce;
using namespace roce::analyze;

/// What is left of the input.
struct Input {
  const std::uint8_t* data;
  std::size_t size;
  std::uint8_t byte() {
    if (size == 0) return 0;
    --size;
    return *data++;
  }
  std::uint16_t word() {
    const unsigned high = byte();
    return static_cast<std::uint16_t>(high << 8U | byte());
  }
};

/// One lane's XOFFs and XONs, for the plain count.
using LaneKey = std::tuple<std::uint16_t, std::uint64_t, unsigned>;
struct Told {
  std::int64_t time_ns;
  std::uint16_t quanta;
};

struct Counted {
  std::uint64_t pauses = 0, refreshed = 0, needless = 0;
  std::int64_t paused_ns = 0;
};

Counted count(const std::vector<Told>& all, std::uint64_t speed, std::int64_t end_ns) {
  Counted counted;
  std::int64_t from = 0;
  std::int64_t until = -1;
  for (const Told& told : all) {
    const bool running = until >= 0 && told.time_ns <= until;
    if (!running && until >= 0) {
      counted.paused_ns += until - from;
      until = -1;
    }
    if (told.quanta == 0) {
      counted.needless += running ? 0 : 1;
      if (running) counted.paused_ns += told.time_ns - from;
      until = -1;
      continue;
    }
    if (!running) {
      from = told.time_ns;
      ++counted.pauses;
    } else {
      ++counted.refreshed;
    }
    until = told.time_ns + quanta_to_ns(told.quanta, speed);
  }
  if (until >= 0) counted.paused_ns += std::min(until, end_ns) - from;
  return counted;
}

class Capture {
 public:
  explicit Capture(std::uint8_t how) : options_(options_of(how)), pauses_(options_), dcbx_(limit_of(how)) {}

  void frame(Input& in) {
    const std::uint8_t head = in.byte();
    const unsigned kind = head & 7U;
    point_ = head >> 6U & 1U;
    source_ = {0x02, 0, 0, 0, 0, static_cast<std::uint8_t>(head >> 3U & 7U)};
    const std::uint16_t step = in.word();
    time_ns_ += std::int64_t{step} << (step & 7U);
    ++number_;
    switch (kind) {
      case 0:
      case 1:
      case 2:
        pfc(in.byte(), in.word(), in.byte());
        break;
      case 3:
        pause(in.word());
        break;
      case 4:
      case 5:
        packet(in.byte(), in.byte());
        break;
      case 6:
        lldp(in);
        break;
      default:
        anything(in);
        break;
    }
  }

  void finish() {
    const Pauses pauses = pauses_.finish(time_ns_);
    require(pauses.ports.size() <= options_.port_limit, "ports");
    require(pauses.mutual.size() <= 256, "mutual pauses");
    for (const PausePort& port : pauses.ports) check_port(port);
    for (const MutualPause& mutual : pauses.mutual) {
      require(mutual.a < mutual.b && mutual.b < pauses.ports.size(), "ports of a mutual pause");
      const auto& x = pauses.ports[mutual.a].lanes[mutual.lane];
      const auto& y = pauses.ports[mutual.b].lanes[mutual.lane];
      require(x && y && mutual.total_ns > 0, "a mutual pause of nobody");
      require(mutual.longest_ns <= mutual.total_ns, "the longest mutual pause");
      require(mutual.total_ns <= std::min(x->paused_ns, y->paused_ns), "mutual for longer than paused");
    }
    const DcbxTable table = dcbx_.finish();
    require(table.ports.size() <= dcbx_limit_, "LLDP ports");
    for (const DcbxPort& port : table.ports) {
      require(port.changes.size() <= DcbxPort::changes_kept && port.changes.size() <= port.changed,
              "changes");
      require(port.changed < port.frames.count, "more changes than frames");
      require(port.ieee.applications.size() <= 64 && port.cee.applications.size() <= 64, "applications");
    }
    for (const DcbxLink& link : links_of(table))
      require(link.a < link.b && link.b < table.ports.size(), "links");
  }

 private:
  static std::size_t limit_of(std::uint8_t how) { return (how & 1U) != 0 ? 1 + (how >> 5U) : 1024; }
  PauseOptions options_of(std::uint8_t how) {
    constexpr std::array<std::uint64_t, 4> speeds{100'000'000'000, 10'000'000'000, 400'000'000'000, 1};
    dcbx_limit_ = limit_of(how);
    PauseOptions options;
    options.link_speed_bps = speeds[how >> 1U & 3U];
    options.port_limit = dcbx_limit_;
    options.storm_ns = std::int64_t{1} << (how >> 3U);
    options.watchdog = {options.storm_ns, (how >> 3U & 1U) != 0 ? 0 : options.storm_ns};
    return options;
  }

  std::vector<std::uint8_t> ethernet(std::array<std::uint8_t, 6> to, std::uint16_t type) const {
    std::vector<std::uint8_t> bytes(to.size() + source_.size());
    std::copy(source_.begin(), source_.end(), std::copy(to.begin(), to.end(), bytes.begin()));
    put(bytes, type);
    return bytes;
  }
  static void put(std::vector<std::uint8_t>& bytes, unsigned word) {
    bytes.push_back(static_cast<std::uint8_t>(word >> 8U));
    bytes.push_back(static_cast<std::uint8_t>(word));
  }

  void pfc(std::uint8_t vector, std::uint16_t quanta, std::uint8_t how) {
    std::vector<std::uint8_t> bytes = ethernet({0x01, 0x80, 0xc2, 0, 0, 1}, 0x8808);
    put(bytes, 0x0101);
    put(bytes, vector);
    std::array<std::uint16_t, 8> times{};
    for (unsigned p = 0; p < 8; ++p) {
      times[p] = (how >> p & 1U) != 0 ? quanta : std::uint16_t{0};
      put(bytes, times[p]);
    }
    if (!give(bytes)) return;
    for (unsigned p = 0; p < 8; ++p) {
      if ((vector >> p & 1U) != 0) told_[{point_, source_[5], p}].push_back({time_ns_, times[p]});
    }
  }

  void pause(std::uint16_t quanta) {
    std::vector<std::uint8_t> bytes = ethernet({0x01, 0x80, 0xc2, 0, 0, 1}, 0x8808);
    put(bytes, 0x0001);
    put(bytes, quanta);
    if (give(bytes)) told_[{point_, source_[5], PausePort::global}].push_back({time_ns_, quanta});
  }

  /// Whether it counts: a second record of one frame does not.
  bool give(const std::vector<std::uint8_t>& bytes) {
    const auto key = std::pair(point_, source_[5]);
    const auto before = last_.find(key);
    std::vector<std::uint8_t> parameters(bytes.begin() + 14, bytes.end());
    const bool copy = before != last_.end() && before->second == std::pair(time_ns_, parameters);
    last_[key] = {time_ns_, std::move(parameters)};
    feed(bytes, static_cast<std::uint32_t>(bytes.size()));
    return !copy;
  }

  void packet(std::uint8_t to, std::uint8_t how) {
    std::vector<std::uint8_t> bytes =
        ethernet({0x02, 0, 0, 0, 0, static_cast<std::uint8_t>(to & 7U)}, (how & 1U) != 0 ? 0x8100 : 0x0800);
    if ((how & 1U) != 0) {
      put(bytes, static_cast<unsigned>(how) << 8U);
      put(bytes, 0x0800);
    }
    bytes.push_back(0x45);
    bytes.push_back(to);
    bytes.resize(70, 0x11);
    feed(bytes, 70);
  }

  void lldp(Input& in) {
    std::vector<std::uint8_t> bytes = ethernet({0x01, 0x80, 0xc2, 0, 0, 0x0e}, 0x88cc);
    for (const int v : {0x02, 0x02, 0x07, 0x41, 0x04, 0x02, 0x05, 0x65, 0x06, 0x02, 0x00}) {
      bytes.push_back(static_cast<std::uint8_t>(v));
    }
    bytes.push_back(in.byte());
    for (const int v : {0xfe, 0x06, 0x00, 0x80, 0xc2, 0x0b}) bytes.push_back(static_cast<std::uint8_t>(v));
    put(bytes, in.word());
    put(bytes, 0);
    feed(bytes, static_cast<std::uint32_t>(bytes.size()));
  }

  void anything(Input& in) {
    const std::uint8_t length = in.byte();
    const bool tagged = (length & 0x80U) != 0;
    std::vector<std::uint8_t> bytes = ethernet({0x01, 0x80, 0xc2, 0, 0, in.byte()}, tagged ? 0x8100 : 0x88cc);
    if (tagged) {
      put(bytes, 0x6005);
      put(bytes, 0x8808);
      put(bytes, 0x0002);  // another opcode, or cut before: what they pause is not counted here
      bytes.resize(bytes.size() - (length & 1U));
    }
    for (unsigned i = 0; i < length && in.size != 0 && !tagged; ++i) bytes.push_back(in.byte());
    feed(bytes, static_cast<std::uint32_t>(bytes.size() + (length & 3U)));
  }

  void feed(const std::vector<std::uint8_t>& bytes, std::uint32_t wire) {
    capture::Frame frame;
    frame.data = bytes.data();
    frame.captured = static_cast<std::uint32_t>(bytes.size());
    frame.wire = wire;
    frame.time_ns = time_ns_;
    frame.point = point_;
    frame.link_type = dissect::link_ethernet;
    dissect::Dissection d;
    dissect::dissect({bytes.data(), bytes.size()}, wire, frame.link_type, d);
    const auto link = link_view(bytes.data(), d);
    switch (link_control_of(d)) {
      case LinkControl::mac_control:
        pauses_.see(number_, frame, d, 0);
        break;
      case LinkControl::lldp:
        dcbx_.see(number_, frame, d);
        if (link) pauses_.see_end(point_, link->src);
        break;
      case LinkControl::none: {
        const auto fast = link_view_fast(frame);
        if (fast && link) {
          require(fast->dst == link->dst && fast->src == link->src && fast->pcp == link->pcp &&
                      fast->dscp == link->dscp,
                  "both ways: a packet on its link");
        }
        if (fast && pauses_.watches(time_ns_)) pauses_.see_packet(number_, frame, *fast);
        break;
      }
    }
  }

  void check_port(const PausePort& port) const {
    for (unsigned i = 0; i < PausePort::lane_count; ++i) {
      const PauseLane* lane = port.lanes[i].get();
      if (lane == nullptr) continue;
      require(!lane->paused, "a pause that goes on");
      require(lane->pauses + lane->refreshed == lane->xoff.count, "XOFFs");
      require(lane->expired + (lane->paused_at_end ? 1 : 0) <= lane->pauses, "expired pauses");
      require(lane->needless_xon <= lane->xon.count, "needless XONs");
      require(lane->longest_ns <= lane->paused_ns, "the longest pause");
      const auto& over_time = lane->over_time.buckets();
      require(over_time.size() <= PauseSeries::limit, "the bound of pauses over time");
      require(std::accumulate(over_time.begin(), over_time.end(), std::int64_t{0}) == lane->paused_ns,
              "pauses over time");
      require(lane->storms.count <= lane->pauses, "storms");
      check_watchdog(*lane);
      const auto told = told_.find({port.point, port.mac & 7U, i});
      require(told != told_.end(), "a lane that nobody paused");
      const Counted counted = count(told->second, options_.link_speed_bps, time_ns_);
      require(counted.pauses == lane->pauses, "pauses");
      require(counted.refreshed == lane->refreshed, "refreshes");
      require(counted.needless == lane->needless_xon, "XONs while not paused");
      require(counted.paused_ns == lane->paused_ns, "the paused time");
    }
  }

  /// It was told to detect what is a storm here.
  void check_watchdog(const PauseLane& lane) const {
    require(lane.watchdog != nullptr, "a watchdog");
    const WatchdogFacts& facts = *lane.watchdog;
    require(facts.fires.count <= lane.storms.count, "a watchdog without a storm");
    require((facts.fires.count != 0) == (lane.storms.count != 0), "a storm without a watchdog");
    if (options_.watchdog.restoration_ns == 0)
      require(facts.fires.count == lane.storms.count, "storms that a watchdog forgets at once");
    require(facts.restored.count + (facts.held_at_end ? 1 : 0) == facts.fires.count, "restored watchdogs");
    require(facts.held_ns >= 0, "the time that a watchdog held");
  }

  std::size_t dcbx_limit_ = 0;
  PauseOptions options_;
  PauseTracker pauses_;
  DcbxTracker dcbx_;
  std::map<LaneKey, std::vector<Told>> told_;
  std::map<std::pair<std::uint16_t, std::uint8_t>, std::pair<std::int64_t, std::vector<std::uint8_t>>> last_;
  std::array<std::uint8_t, 6> source_{};
  std::uint16_t point_ = 0;
  std::uint64_t number_ = 0;
  std::int64_t time_ns_ = 1'795'171'301'000'000'000;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1 || size > 16 * 1024) return 0;
  Input in{data + 1, size - 1};
  Capture capture(data[0]);
  while (in.size != 0) capture.frame(in);
  capture.finish();
  return 0;
}
