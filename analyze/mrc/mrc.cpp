// SPDX-License-Identifier: Apache-2.0
#include "analyze/mrc/mrc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dissect/aeth.hpp"
#include "dissect/enum_names.hpp"
#include "dissect/headers/mrc.hpp"

namespace roce::analyze {

std::string_view mrc_place_name(MrcPlace place) noexcept {
  using enum MrcPlace;
  static constexpr EnumNames<MrcPlace, mrc_place_count> names({{before_capture, "before_capture"},
                                                               {after_capture, "after_capture"},
                                                               {trimmed_before, "trimmed_before"},
                                                               {trimmed_after, "trimmed_after"},
                                                               {trimmed_last_hop, "trimmed_last_hop"}});
  return names[place];
}

std::uint64_t MrcStream::losses() const noexcept {
  return std::accumulate(lost.begin(), lost.end(), std::uint64_t{0});
}
std::uint64_t MrcStream::trimmed() const noexcept {
  return losses() - lost[static_cast<std::size_t>(MrcPlace::before_capture)] -
         lost[static_cast<std::size_t>(MrcPlace::after_capture)];
}
std::uint64_t MrcStream::nacked() const noexcept {
  return std::accumulate(nacks.begin(), nacks.end(), std::uint64_t{0});
}

void MrcEvidence::add(std::uint64_t packet, std::int64_t time_ns) {
  if (count++ == 0) first_ns = last_ns = time_ns;
  first_ns = std::min(first_ns, time_ns);
  last_ns = std::max(last_ns, time_ns);
  if (packets.size() < kept) packets.push_back(packet);
}

bool MrcRefusal::fatal() const noexcept {
  constexpr std::uint8_t unexpected_event = 0x19, psn_sequence_error = 0;
  return of_message ? code != psn_sequence_error : code == unexpected_event;
}

std::string MrcRefusal::text() const {
  const std::string_view name =
      of_message ? dissect::nak_name(code) : dissect::name_of(dissect::mrc_nack_reason_names, code);
  const std::string_view kind = of_message ? "NAK" : "NACK";
  return name.empty() ? fmt::format("{} reason {:#04x}", kind, code) : fmt::format("{} {}", kind, name);
}

namespace {

/// The chance that a path of `packets` loses `lost` or more, if it loses as the others do (Poisson).
double chance_of(std::uint64_t lost, double expected) {
  if (expected <= 0) return 0;
  double term = std::exp(-expected), below = 0;
  for (std::uint64_t i = 0; i < lost; ++i) {
    below += term;
    term *= expected / static_cast<double>(i + 1);
  }
  return std::max(0.0, 1 - below);
}

}  // namespace

std::vector<MrcBadPath> bad_paths(const Mrc& mrc) {
  constexpr std::uint64_t losses_enough = 4;  // fewer may be one burst
  constexpr double one_in_a_million = 1e-6, times_the_others = 4;
  std::vector<MrcBadPath> bad;
  for (std::uint32_t s = 0; s < mrc.streams.size(); ++s) {
    const std::vector<MrcPath>& paths = mrc.streams[s].paths;
    std::uint64_t packets = 0, lost = 0;
    for (const MrcPath& path : paths) {
      packets += path.packets;
      lost += path.lost;
    }
    for (std::uint32_t p = 0; p < paths.size(); ++p) {
      const MrcPath& path = paths[p];
      // Without others there is nothing to compare with; one with most of all packets is the rest itself.
      if (path.lost < losses_enough || packets < 2 * path.packets) continue;
      const auto others = static_cast<double>(packets - path.packets);
      // As if the others had lost one more: none may be luck.
      const double rate = (static_cast<double>(lost - path.lost) + 1) / others;
      const double share = static_cast<double>(path.lost) / static_cast<double>(path.packets);
      if (share < times_the_others * rate ||
          chance_of(path.lost, rate * static_cast<double>(path.packets)) > one_in_a_million)
        continue;
      bad.push_back({s, p, lost - path.lost, packets - path.packets});
    }
  }
  return bad;
}

std::optional<double> sampled_one_in(const Mrc& mrc) {
  constexpr double least = 1.5;
  constexpr std::uint64_t few = 3, some = 2, seldom = 4;
  std::uint64_t span = 0, psns = 0, here = 0, named = 0;
  for (const MrcStream& stream : mrc.streams) {
    span += stream.span;
    psns += stream.psns;
    here += stream.unseen_here;
    named += stream.rtt_ns.count();
  }
  // Who sees but some of the paths sees all that SACKs name on these.
  if (psns < few || here < some || seldom * here < here + named) return std::nullopt;
  const double one_in = static_cast<double>(span) / static_cast<double>(psns);
  return one_in < least ? std::nullopt : std::optional(one_in);
}

void add_losses(const Mrc& mrc, std::vector<LostTransmission>& losses) {
  for (const MrcLoss& loss : mrc.losses)
    losses.push_back(
        {mrc.streams[loss.stream].key, loss.psn, LostTransmission::no_connection, loss.packet, loss.time_ns});
}

std::string mrc_path_text(const MrcStream& stream, const MrcPath& path) {
  return stream.key.transport == dissect::Transport::roce_v2_ipv6
             ? fmt::format("port {}, label {:#06x}", path.udp_source, path.flow_label)
             : fmt::format("port {}", path.udp_source);
}

std::string mrc_nacks_text(const MrcStream& stream) {
  std::string text;
  for (std::size_t i = 0; i < stream.nacks.size(); ++i) {
    if (stream.nacks[i] == 0) continue;
    const std::string_view name = i < mrc_reasons.size()
                                      ? dissect::name_of(dissect::mrc_nack_reason_names, mrc_reasons[i])
                                      : std::string_view{"another reason"};
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, stream.nacks[i]);
  }
  return text;
}

}  // namespace roce::analyze
