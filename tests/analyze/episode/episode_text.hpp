// SPDX-License-Identifier: Apache-2.0
// Episodes written down as text.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "analyze/episode/note.hpp"

namespace roce::analyze::episode {

struct EpisodeLine {
  Note note;
  std::string expected;
};

/// A line a packet: microseconds, what, PSN, perhaps "+COUNT" of a READ, "#ID", "@PATH" and "=MSN", "~" where
/// the mirror lost packets just before it (a number follows it that means nothing), and
/// behind '|' what is to be said. What: write, read (requests), ack, nak, response (or its begin, inner,
/// end), atomic request and its answer.
inline std::vector<EpisodeLine> parse_episode(const std::string& text) {
  std::vector<EpisodeLine> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t bar = line.find('|');
    if (bar == std::string::npos) continue;
    std::istringstream words(line.substr(0, bar));
    std::int64_t microseconds = 0;
    std::string what;
    std::uint32_t msn = 0;
    EpisodeLine made;
    Note& note = made.note;
    note.mirror_gaps = lines.empty() ? 0 : lines.back().note.mirror_gaps;
    words >> microseconds >> what >> note.psn;
    note.time_ns = 1'000'000'000 + microseconds * 1000;
    note.frame = lines.size() + 1;
    note.bytes = 1000;
    for (std::string more; words >> more;) {
      const auto number = static_cast<std::uint16_t>(std::stoul(more.substr(1)));
      if (more[0] == '+') note.count = number;
      if (more[0] == '@') note.path = number;
      if (more[0] == '=') msn = number;
      if (more[0] == '~') ++note.mirror_gaps;
      if (more[0] == '#') {
        note.has_ip_id = true;
        note.ip_id = number;
      }
    }
    const bool part = what == "first" || what == "middle" || what == "last";
    note.request = part || what == "write" || what == "read" || what == "swap";
    note.has_aeth = !note.request && what != "inner";
    note.aeth = what == "nak"       ? 0x60U << 24U
                : what == "rnr"     ? 0x21U << 24U
                : what == "refused" ? 0x62U << 24U
                                    : 0x1fU << 24U;
    note.aeth |= msn;
    note.opcode = what == "write"      ? 0x0a
                  : what == "first"    ? 0x06
                  : what == "middle"   ? 0x07
                  : what == "last"     ? 0x08
                  : what == "read"     ? 0x0c
                  : what == "swap"     ? 0x13
                  : what == "response" ? 0x10
                  : what == "begin"    ? 0x0d
                  : what == "inner"    ? 0x0e
                  : what == "end"      ? 0x0f
                  : what == "swapped"  ? 0x12
                                       : 0x11;
    std::istringstream expected(line.substr(bar + 1));
    for (std::string word; expected >> word;) made.expected += (made.expected.empty() ? "" : " ") + word;
    lines.push_back(made);
  }
  return lines;
}

}  // namespace roce::analyze::episode
