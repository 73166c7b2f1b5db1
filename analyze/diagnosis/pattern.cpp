// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyze/base/median.hpp"
#include "analyze/base/units.hpp"
#include "analyze/connection/find_connection.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/results/path_columns.hpp"
#include "analyze/results/pause_facts.hpp"

namespace roce::analyze::diagnosis {
namespace {

/// Losses at even intervals: so many of them, of which most differ from the usual one by at most this share.
/// At random one interval in fourteen does so.
constexpr std::size_t enough_for_period = 6;
constexpr double even = 0.1;
constexpr double most_intervals = 0.75;
/// So many in a row are no chance where single packets are lost at random.
constexpr std::uint32_t a_row = 3;
/// Incidents from which on something is said at all.
constexpr std::size_t enough = 3;
/// The share of all losses that one place in time, or one path, must have for the rest not to matter.
constexpr double nearly_all = 0.9;
/// Chance that so many losses would lie on one path by themselves.
constexpr double by_chance = 1e-3;

/// `starts`: in order. Most intervals are about as long as the one in the middle, and fill most of the time,
/// as those in bursts do not: where nothing was sent the next loss is late, and so the one behind it early.
std::int64_t period_of(const std::vector<std::int64_t>& starts) {
  if (starts.size() < enough_for_period) return 0;
  std::vector<std::int64_t> intervals;
  for (std::size_t i = 1; i < starts.size(); ++i) intervals.push_back(starts[i] - starts[i - 1]);
  const std::int64_t usual = *median_of(intervals);
  const auto is_even = [usual](std::int64_t interval) {
    return std::abs(static_cast<double>(interval - usual)) <= even * static_cast<double>(usual);
  };
  const auto alike = std::count_if(intervals.begin(), intervals.end(), is_even);
  const bool most = static_cast<double>(alike) >= most_intervals * static_cast<double>(intervals.size());
  const bool fills = 2 * usual * alike >= starts.back() - starts.front();
  return usual > 0 && most && fills ? usual : 0;
}

/// When something was lost upstream, and how much in a row of one connection.
struct LostThen {
  std::int64_t at_ns = 0;
  std::uint64_t packets = 0;
  std::uint32_t row = 0;
  std::uint32_t connection = 0;
};

/// How many of them were lost in a row. Where nearly all that had to be sent again was lost, these were,
/// whatever PSNs came between: READs leave those of their responses out.
std::uint32_t row_of(const Incident& incident) {
  constexpr std::uint32_t many = 16;
  const bool nearly_all =
      incident.lost_before >= many && 4 * incident.lost_before >= 3 * incident.repeated_packets;
  return nearly_all ? std::max(incident.lost_row, incident.lost_before) : incident.lost_row;
}

std::vector<LostThen> losses_in_time(const Trouble& trouble) {
  std::vector<LostThen> losses;
  for (const Incident* each : trouble.incidents) {
    if (each->start_ns == capture::no_time || each->lost_row == 0) continue;
    losses.push_back({each->start_ns, each->lost_before, row_of(*each), each->connection});
  }
  std::sort(losses.begin(), losses.end(),
            [](const LostThen& a, const LostThen& b) { return a.at_ns < b.at_ns; });
  return losses;
}

/// Nothing got through for a while, once: all that was lost, in rows, on several connections, and in a small
/// part of the time in which they sent.
void look_for_outage(const std::vector<LostThen>& losses, std::int64_t time_ns, LossPattern& found) {
  constexpr std::uint64_t many = 16;
  constexpr std::int64_t part = 10;
  if (losses.empty()) return;
  std::uint64_t all = 0;
  std::size_t rows = 0;
  std::set<std::uint32_t> connections;
  for (const LostThen& each : losses) {
    all += each.packets;
    rows += each.row >= a_row ? 1 : 0;
    connections.insert(each.connection);
  }
  const std::int64_t lasted = span_ns(losses.front().at_ns, losses.back().at_ns);
  if (all < many || 2 * rows < losses.size() || connections.size() < 2 || part * lasted > time_ns) return;
  found.pattern = Pattern::outage;
  found.outage_ns = lasted;
  found.connections_hit = connections.size();
}

/// Losses that lie so close together in time that they are of one burst, on whatever connections; the shares
/// of losses that are in bursts.
double look_for_bursts(const std::vector<LostThen>& losses, LossPattern& found) {
  if (losses.empty()) return 0;
  constexpr std::int64_t much_closer = 16;
  const std::int64_t mean_ns =
      span_ns(losses.front().at_ns, losses.back().at_ns) / static_cast<std::int64_t>(losses.size());
  std::uint64_t all = 0;
  std::uint64_t in_bursts = 0;
  for (auto from = losses.begin(); from != losses.end();) {
    std::uint64_t together = from->packets > from->row ? from->row : from->packets;
    auto to = std::next(from);
    for (; to != losses.end() && much_closer * (to->at_ns - std::prev(to)->at_ns) <= mean_ns; ++to)
      together += to->row;
    all += together;
    if (together >= a_row) in_bursts += together;
    found.most_at_once = std::max(found.most_at_once, together);
    from = to;
  }
  return static_cast<double>(in_bursts) / static_cast<double>(all);
}

struct Portion {
  std::uint64_t lost = 0;
  std::uint64_t sent = 0;
};

/// The key that nearly all losses have in common though others send as well; end() if there is none. `times`:
/// how often something was lost: what is lost at once is one chance.
template <class Portions>
typename Portions::const_iterator common_key(const Portions& slices, std::size_t times) {
  Portion all;
  auto most = slices.end();
  for (auto each = slices.begin(); each != slices.end(); ++each) {
    all.lost += each->second.lost;
    all.sent += each->second.sent;
    if (most == slices.end() || each->second.lost > most->second.lost) most = each;
  }
  if (slices.size() < 2 || all.lost == 0 || all.sent == 0) return slices.end();
  const double share = static_cast<double>(most->second.sent) / static_cast<double>(all.sent);
  const bool concentrated =
      static_cast<double>(most->second.lost) >= nearly_all * static_cast<double>(all.lost);
  const auto chances = std::min<std::uint64_t>(times, all.lost);
  return concentrated && std::pow(share, static_cast<double>(chances)) <= by_chance ? most : slices.end();
}

/// How often something was lost. Where a capture tells of few losses, much that follows from others hangs on
/// them, which may have been on any path.
std::size_t times_lost(const Trouble& trouble) {
  if (trouble.seen != Whereabouts::downstream) return trouble.incidents.size();
  return static_cast<std::size_t>(std::count_if(trouble.incidents.begin(), trouble.incidents.end(),
                                                [](const Incident* each) { return each->lost_after != 0; }));
}

/// `trimmed`: what is lost upstream came here trimmed, as a rule.
std::uint64_t lost_of(const Events& sent, Whereabouts seen, bool trimmed) {
  switch (seen) {
    case Whereabouts::upstream:
      return sent.count(Event::lost_before_capture) + (trimmed ? sent.count(Event::lost_trimmed) : 0);
    case Whereabouts::downstream:
      return sent.count(Event::lost_after_capture);
    case Whereabouts::between_points:
      return sent.count(Event::lost_between_points);
    default:
      return 0;
  }
}

struct OnePath {
  FlowPath path;
  std::optional<dissect::IpAddress> segment;
};

/// The one path of a flow; none: it changes its path, or has no UDP port.
std::optional<OnePath> only_path_of(const Flow& flow) {
  const std::vector<PathShare> shares = flow.path_shares();
  if (flow.udp_sports.distinct() != 1 || shares.size() != 1) return std::nullopt;
  OnePath one{shares.front().path, std::nullopt};
  one.path.has_port = true;
  one.path.udp_source = flow.udp_sports.sorted().front().key;
  for (const OuterRow& each : flow.outer()) {
    if (each.outer.tunnel != dissect::Tunnel::ip_in_ip || each.outer.to.is_v4_mapped()) continue;
    if (one.segment && *one.segment != each.outer.to) return std::nullopt;
    one.segment = each.outer.to;
  }
  return one;
}

/// By UDP source port, flow label, segment, and the source MAC address where one host has several.
class LossesByPath {
 public:
  void add(const Flow& flow, const Portion& portion) {
    const std::optional<OnePath> one = only_path_of(flow);
    if (!one) return;
    macs_[flow.key.src].insert(one->path.source_mac);
    Portion& slice = paths_[{flow.key.src, one->path, one->segment}];
    slice.lost += portion.lost;
    slice.sent += portion.sent;
  }
  /// By what tells them apart.
  [[nodiscard]] std::map<std::string, Portion> take() const {
    std::map<std::string, Portion> named;
    for (const auto& [key, portion] : paths_) {
      const auto& [src, path, segment] = key;
      PathRow row;
      row.path = path;
      row.segment = segment;
      std::string name = path_text(row);
      if (macs_.at(src).size() > 1 && path.source_mac != 0)
        name += ", source MAC address " + mac_text(path.source_mac);
      Portion& slice = named[name];
      slice.lost += portion.lost;
      slice.sent += portion.sent;
    }
    return named;
  }

 private:
  using Key = std::tuple<dissect::IpAddress, FlowPath, std::optional<dissect::IpAddress>>;
  std::map<Key, Portion> paths_;
  std::map<dissect::IpAddress, std::set<std::uint64_t>> macs_;
};

/// Whether the losses are of one DSCP, or of one path, while others between the same hosts lose none.
void look_for_share(const Snapshot& snapshot, const Trouble& trouble, LossPattern& found) {
  std::map<std::uint8_t, Portion> classes;
  LossesByPath by_path;
  for (const Connection& connection : snapshot.connections) {
    for (unsigned side = 0; side < 2; ++side) {
      if (!trouble.ways.contains({connection.ends[side].address, connection.ends[1 - side].address}))
        continue;
      const Flow* const flow = flow_of(snapshot, connection, side);
      if (flow == nullptr) continue;
      const std::uint64_t lost =
          lost_of(connection.sent[side], trouble.seen, trouble.cause == RootCause::trimming);
      const auto add = [&](Portion& slice) {
        slice.lost += lost;
        slice.sent += connection.packets[side] + lost;
      };
      if (flow->dscp.distinct() == 1) add(classes[flow->dscp.sorted().front().key]);
      by_path.add(*flow, {lost, connection.packets[side] + lost});
    }
  }
  const std::map<std::string, Portion> paths = by_path.take();
  const std::size_t times = times_lost(trouble);
  if (const auto of = common_key(classes, times); of != classes.end()) {
    found.pattern = Pattern::by_class;
    found.dscp = of->first;
    found.others = classes.size() - 1;
  } else if (const auto on = common_key(paths, times); on != paths.end()) {
    found.pattern = Pattern::by_path;
    found.path = on->first;
    found.others = paths.size() - 1;
  }
}

}  // namespace

LossPattern pattern_of(const Snapshot& snapshot, const Trouble& trouble) {
  LossPattern found;
  if (trouble.cause == RootCause::outage) {
    found.pattern = Pattern::outage;
    return found;
  }
  if (trouble.cause == RootCause::path_mtu) {
    found.pattern = Pattern::by_size;
    found.size = size_hole(snapshot, trouble.ways);
    return found;
  }
  if (!counted_in_packets.has(trouble.cause)) return found;
  std::int64_t time_ns = 0;
  for (const auto& [id, side] : trouble.sides) {
    const Connection* const connection = find_connection(snapshot.connections, id);
    if (connection != nullptr && connection->first_time_ns != capture::no_time)
      time_ns = std::max(time_ns, span_ns(connection->first_time_ns, connection->last_time_ns));
  }
  // Downstream of the capture point a NAK names one packet: neither rows nor bursts can be told there.
  const std::vector<LostThen> losses = losses_in_time(trouble);
  look_for_outage(losses, time_ns, found);
  if (found.pattern != Pattern::none) return found;
  look_for_share(snapshot, trouble, found);
  if (found.pattern != Pattern::none) return found;
  std::vector<std::int64_t> starts;
  // Of all, only where none tells what it lost: the others are what followed.
  for (const LostThen& each : losses) starts.push_back(each.at_ns);
  for (const Incident* each : trouble.incidents) {
    if (losses.empty() && each->start_ns != capture::no_time) starts.push_back(each->start_ns);
  }
  std::sort(starts.begin(), starts.end());
  found.period_ns = period_of(starts);
  const double in_bursts = look_for_bursts(losses, found);
  if (found.period_ns != 0) {
    found.pattern = Pattern::periodic;
  } else if (in_bursts >= 0.5 && found.most_at_once >= a_row) {
    found.pattern = Pattern::bursts;
  } else if (losses.size() >= enough) {
    found.pattern = Pattern::single;
  }
  return found;
}

}  // namespace roce::analyze::diagnosis
