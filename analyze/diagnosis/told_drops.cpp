// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/told_drops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/exports/exports.hpp"
#include "analyze/findings/shared/drop_remedy.hpp"

namespace roce::analyze::diagnosis {
namespace {

struct Told {
  std::uint64_t packets = 0;
  std::string words;  ///< place and reason
  DropReason reason;
};

std::vector<Told> places_of(const Exports& exports, const Trouble& trouble) {
  std::vector<Told> places;
  for (const ExportDropGroup& group : drop_groups(exports)) {
    const auto of_trouble = std::count_if(group.drops.begin(), group.drops.end(), [&](std::size_t i) {
      const ExportDrop& drop = exports.drops[i];
      return drop.proved && trouble.ways.contains({drop.key.src, drop.key.dst});
    });
    if (of_trouble != 0)
      places.push_back(
          {static_cast<std::uint64_t>(of_trouble),
           fmt::format("switch {}: {}", drop_place_text(exports, group), drop_reason_text(group.reason)),
           group.reason});
  }
  std::stable_sort(places.begin(), places.end(),
                   [](const Told& a, const Told& b) { return a.packets > b.packets; });
  return places;
}

}  // namespace

ToldDrops told_drops(const Snapshot& snapshot, const Trouble& trouble) {
  constexpr Causes lost{RootCause::loss, RootCause::loss_or_reordering};
  if (!lost.has(trouble.cause) || snapshot.exports.drops.empty()) return {};
  const std::vector<Told> places = places_of(snapshot.exports, trouble);
  if (places.empty()) return {};
  ToldDrops told;
  // Notifications are limited in rate, and get lost.
  constexpr std::uint64_t nearly_all = 9, of = 10;
  if (of * places.front().packets >= nearly_all * trouble.at_least) {
    told.place = fmt::format(", at {}", places.front().words);
    told.remedy = drop_remedy(places.front().reason);
  }
  constexpr std::size_t most_places = 3;
  std::string list;
  for (std::size_t i = 0; i < std::min(places.size(), most_places); ++i)
    list += fmt::format("{}{} at {}", list.empty() ? "" : "; ", places[i].packets, places[i].words);
  if (places.size() > most_places)
    list += fmt::format("; and at {} more places", places.size() - most_places);
  told.fact = fmt::format("Drops that switches told of, packet by packet: {}.", list);
  return told;
}

}  // namespace roce::analyze::diagnosis
