// SPDX-License-Identifier: Apache-2.0
#include "analyze/episode/incident_losses.hpp"

#include <algorithm>
#include <tuple>

namespace roce::analyze::episode {

std::uint32_t longest_row(const Group& group) {
  List<const Loss*> lost;
  for (const Loss* loss : group.losses) {
    if (loss->where == Lost::before_capture) lost.push_back(loss);
  }
  std::sort(lost.begin(), lost.end(), [](const Loss* a, const Loss* b) {
    return std::tuple(a->request, a->shown, a->psn) < std::tuple(b->request, b->shown, b->psn);
  });
  std::uint32_t longest = lost.empty() ? 0 : 1;
  std::uint32_t row = 1;
  for (std::size_t i = 1; i < lost.size(); ++i) {
    const bool next = lost[i]->request == lost[i - 1]->request && lost[i]->shown == lost[i - 1]->shown &&
                      lost[i]->psn == lost[i - 1]->psn + 1;
    row = next ? row + 1 : 1;
    longest = std::max(longest, row);
  }
  return longest;
}

std::uint32_t least_lost_bytes(const Grouping& all, const Group& group) {
  std::uint32_t least = 0;
  for (const Loss* loss : group.losses) {
    const std::int32_t same = loss->note >= 0 ? loss->note : loss->needed;
    const std::uint32_t bytes = same < 0 || all.at(same).request != loss->request ? 0 : all.at(same).bytes;
    if (bytes == 0) return 0;
    least = least == 0 ? bytes : std::min(least, bytes);
  }
  return least;
}

std::uint32_t lost_again(const Group& group) {
  std::uint32_t times = 0;
  for (std::size_t i = 1; i < group.passes.size(); ++i) {
    const LivePass& pass = group.passes[i];
    if (pass.pass->rule != Rule::timer || !pass.pass->request) continue;
    const auto lost = std::count_if(group.losses.begin(), group.losses.end(), [&](const Loss* loss) {
      return loss->request && loss->psn == pass.from && loss->needed <= pass.begins;
    });
    if (lost > 1) ++times;
  }
  return times;
}

void measure_answers(const Grouping& all, const Group& group, Incident& incident) {
  constexpr std::size_t looked_at = 16;
  constexpr std::size_t enough = 6;
  List<std::int64_t> took;  // the last one first
  for (std::int32_t i = group.notes.front() - 1; i >= 0 && took.size() < looked_at; --i) {
    const Note& answer = all.at(i);
    if (answer.request || nak_of(answer) != Nak::none || answer.time_ns == capture::no_time) continue;
    const std::int32_t request = all.request_before(answer.psn, i);
    if (request < 0 || all.at(request).time_ns == capture::no_time || all.repeated(request)) continue;
    took.push_back(answer.time_ns - all.at(request).time_ns);
  }
  if (took.size() < enough) return;
  const auto half = static_cast<std::ptrdiff_t>(took.size() / 2);
  const auto median = [](auto from, auto to) {
    const auto middle = from + (to - from) / 2;
    std::nth_element(from, middle, to);
    return *middle;
  };
  incident.answers_late_ns = median(took.begin(), took.begin() + half);
  incident.answers_early_ns = median(took.begin() + half, took.end());
}

}  // namespace roce::analyze::episode
