// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "dissect/headers/ip.hpp"
#include "dissect/headers/ipfix.hpp"
#include "dissect/ipfix.hpp"
#include "dissect/walk_export.hpp"

namespace roce::dissect {
namespace {

using ipfix::Set;
using ipfix::SetKind;

std::uint32_t start_of_set(const Walk& walk, const Set& set) noexcept {
  return static_cast<std::uint32_t>(set.body.captured.data() - Set::head - walk.base);
}

HeaderId template_id(bool options, bool netflow9, bool withdrawal) noexcept {
  if (!options || withdrawal) return HeaderId::ipfix_template;
  return netflow9 ? HeaderId::netflow9_options_template : HeaderId::ipfix_options_template;
}

bool walk_templates(Walk& walk, const Set& set, bool netflow9) noexcept {
  if (!add_export(walk, HeaderId::ipfix_set, start_of_set(walk, set), Set::head)) return false;
  const bool options = set.kind == SetKind::options_templates;
  ipfix::Templates templates(set, netflow9);
  ipfix::Template each;
  while (templates.next(each)) {
    const HeaderId id = template_id(options, netflow9, each.count == 0 && !netflow9);
    const auto start = static_cast<std::uint32_t>(each.rows.captured.data() - each.size - walk.base);
    if (!add_export(walk, id, start, each.length)) return false;
  }
  note_end(walk, templates.end(), template_id(options, netflow9, false));
  return true;
}

bool walk_drop(Walk& walk, const Set& set, const ipfix::DropMirror& drop) noexcept {
  const std::uint32_t start = start_of_set(walk, set);
  return add_export(walk, HeaderId::ipfix_set, start, Set::head) &&
         add_export(walk, HeaderId::ipfix_drop_mirror, start + static_cast<std::uint32_t>(Set::head),
                    ipfix::DropMirror::size) &&
         walk_exported(walk, drop.section.captured, 0, Step::ethernet);
}

/// Records cannot be told apart without their template, which another frame has, as a rule.
bool walk_set(Walk& walk, const ipfix::Message& message, const Set& set) noexcept {
  if (set.kind == SetKind::templates || set.kind == SetKind::options_templates)
    return walk_templates(walk, set, message.netflow9);
  ipfix::DropMirror drop;
  bool room = true;
  if (ipfix::read_drop_mirror(message, set, drop) == End::complete) {
    room = walk_drop(walk, set, drop);
  } else {
    room =
        add_export(walk, HeaderId::ipfix_set, start_of_set(walk, set), Set::head + set.body.captured.size());
  }
  if (room && set.body.is_cut()) note_end(walk, End::cut, HeaderId::ipfix_set);
  return room;
}

}  // namespace

bool begins_ipfix(const Walk& walk, std::uint16_t port) noexcept {
  constexpr std::uint32_t words_of_version = 2, least = 20;
  if (walk.sampled || walk.left() < words_of_version) return false;
  const std::uint16_t version = load_be16(walk.at());
  const bool usual = std::find(std::begin(udp_ports_netflow), std::end(udp_ports_netflow), port) !=
                     std::end(udp_ports_netflow);
  if (version == ipfix::version_netflow9) return usual && walk.declared >= walk.offset + least;
  if (version != ipfix::version_ipfix) return false;
  return port == udp_port_ipfix || ipfix::resembles_ipfix(udp_payload(walk));
}

Step walk_ipfix(Walk& walk) noexcept {
  ipfix::Message message;
  const End end = ipfix::read_message(udp_payload(walk), message);
  const HeaderId id = message.netflow9 ? HeaderId::netflow9_message : HeaderId::ipfix_message;
  if (end != End::complete) {
    note_end(walk, end, id);
    return Step::done;
  }
  if (!add_export(walk, id, walk.offset, message.size)) return Step::done;
  ipfix::Sets sets = message.sets();
  Set set;
  while (sets.next(set)) {
    if (!walk_set(walk, message, set)) return Step::done;
  }
  note_end(walk, sets.end(), HeaderId::ipfix_set);
  return Step::done;
}

}  // namespace roce::dissect
