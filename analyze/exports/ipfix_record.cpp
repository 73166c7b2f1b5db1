// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/ipfix_record.hpp"

#include <algorithm>
#include <limits>

#include "dissect/dissect.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::analyze {
namespace {

namespace ipfix = dissect::ipfix;
namespace element = dissect::ipfix::element;

struct ElementSlot {
  std::uint16_t element;
  Slot slot;
};
constexpr ElementSlot element_slots[] = {{element::protocol, Slot::protocol},
                                         {element::source_port, Slot::source_port},
                                         {element::destination_port, Slot::destination_port},
                                         {element::ingress, Slot::ingress},
                                         {element::egress, Slot::egress},
                                         {element::direction, Slot::direction},
                                         {element::forwarding_status, Slot::forwarding_status},
                                         {element::sampling_interval, Slot::sampling_interval},
                                         {element::sampler_interval, Slot::sampler_interval},
                                         {element::sampler_id, Slot::sampler_id},
                                         {element::selection_sequence, Slot::selection_sequence},
                                         {element::selector, Slot::selector},
                                         {element::algorithm, Slot::algorithm},
                                         {element::sampling_packets, Slot::packets},
                                         {element::sampling_space, Slot::space},
                                         {element::sampling_size, Slot::size},
                                         {element::sampling_population, Slot::population},
                                         {element::observed, Slot::observed},
                                         {element::selected, Slot::selected},
                                         {element::frame_size, Slot::frame_size},
                                         {element::frame_type, Slot::frame_type},
                                         {element::layer2_offset, Slot::section_offset},
                                         {element::section_offset, Slot::section_offset},
                                         {element::section_octets, Slot::section_octets},
                                         {element::layer2_section, Slot::frame_section},
                                         {element::frame_section, Slot::frame_section},
                                         {element::ip_section, Slot::ip_section}};

Slot slot_of(const ipfix::Element& of, bool netflow9) noexcept {
  // Scopes of NetFlow are numbered on their own.
  if (of.enterprise != 0 || (netflow9 && of.scope)) return Slot::passed;
  const auto found = std::find_if(std::begin(element_slots), std::end(element_slots),
                                  [&](const ElementSlot& row) { return row.element == of.id; });
  return found == std::end(element_slots) ? Slot::passed : found->slot;
}

}  // namespace

std::optional<RecordTemplate> keep_template(const ipfix::Template& of, bool options, bool netflow9,
                                            std::size_t at_most) {
  RecordTemplate kept;
  kept.options = options;
  ipfix::Elements elements(of, netflow9);
  ipfix::Element each;
  while (elements.next(each)) {
    if (each.length == 0) continue;
    if (kept.rows.size() >= at_most) return std::nullopt;
    kept.rows.push_back({slot_of(each, netflow9), each});
    kept.least += each.length == ipfix::Element::variable ? 1 : each.length;
  }
  return kept.rows.empty() ? std::nullopt : std::optional(std::move(kept));
}

SamplingRate sampling_rate(std::uint64_t packets, std::uint64_t per) noexcept {
  if (per == 0 || packets < per) return {};
  while (packets > std::numeric_limits<std::uint32_t>::max()) {
    packets >>= 1U;
    per = std::max<std::uint64_t>(per >> 1U, 1);
  }
  return {static_cast<std::uint32_t>(packets), static_cast<std::uint32_t>(per)};
}

SamplingRate ExportRecord::rate() const noexcept {
  constexpr std::uint64_t property_match = 5;  // a filter: takes all that match (IANA, selectorAlgorithm)
  if (get(Slot::packets) && get(Slot::space))
    return sampling_rate(*get(Slot::packets) + *get(Slot::space), *get(Slot::packets));
  if (get(Slot::size) && get(Slot::population))
    return sampling_rate(*get(Slot::population), *get(Slot::size));
  for (const Slot slot : {Slot::sampler_interval, Slot::sampling_interval}) {
    if (get(slot).value_or(0) != 0) return sampling_rate(*get(slot), 1);
  }
  return get(Slot::algorithm) == property_match ? SamplingRate{1, 1} : SamplingRate{};
}

std::optional<ExportRecord::Section> ExportRecord::beginning() const {
  if (section == Slot::passed) return std::nullopt;
  const bool ethernet = get(Slot::frame_type).value_or(ipfix::ethernet_frame) == ipfix::ethernet_frame;
  const bool frame = section == Slot::frame_section;
  if (number(Slot::section_offset) != 0 || (frame && !ethernet)) return std::nullopt;
  // A section of fixed width may be longer than what is in it.
  const std::uint32_t told = number(Slot::frame_size);
  std::size_t size = section_bytes.size();
  if (const auto octets = get(Slot::section_octets)) size = std::min<std::uint64_t>(size, *octets);
  if (frame && told != 0) size = std::min<std::size_t>(size, told);
  return Section{section_bytes.first(size), frame ? told : 0,
                 frame ? dissect::link_ethernet : dissect::link_raw};
}

SampledPacket ExportRecord::packet() const {
  SampledPacket out;
  out.header = true;
  const std::uint32_t told = number(Slot::frame_size);
  if (const auto shown = beginning()) read_packet(shown->bytes, shown->wire, shown->link_type, out);
  if (told != 0) out.length = told;
  return out;
}

bool ExportRecord::of_roce() const noexcept {
  constexpr std::uint64_t udp = 17;
  return get(Slot::protocol).value_or(udp) == udp &&
         (get(Slot::destination_port) == dissect::udp_port_roce_v2 ||
          get(Slot::source_port) == dissect::udp_port_roce_v2);
}

dissect::End take_record(const RecordTemplate& by, dissect::Part& rest, ExportRecord& out) {
  for (const RecordTemplate::Row& row : by.rows) {
    dissect::Part value;
    if (const dissect::End end = ipfix::take_value(rest, row.element.length, value);
        end != dissect::End::complete)
      return end;
    if (value.is_cut()) return dissect::End::cut;
    if (row.slot == Slot::passed) continue;
    if (row.slot > Slot::numbers_) {
      out.section = row.slot;
      out.section_bytes = value.captured;
      continue;
    }
    const std::optional<std::uint64_t> number = ipfix::number_of(value);
    if (!number) continue;
    out.numbers[static_cast<std::size_t>(row.slot)] = *number;
    out.present |= 1U << static_cast<unsigned>(row.slot);
    if (row.slot == Slot::selector && out.selector_count < ExportRecord::selectors_at_most)
      out.selectors[out.selector_count++] = static_cast<std::uint32_t>(*number);
  }
  return dissect::End::complete;
}

}  // namespace roce::analyze
