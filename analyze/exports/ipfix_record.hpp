// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/exports/sampled_packet.hpp"
#include "dissect/ipfix.hpp"

// Internal to this room.
namespace roce::analyze {

/// The elements that are read.
enum class Slot : std::uint8_t {
  passed,  ///< by its length
  protocol,
  source_port,
  destination_port,
  ingress,
  egress,
  direction,
  forwarding_status,
  sampling_interval,
  sampler_interval,
  sampler_id,
  selection_sequence,
  selector,
  algorithm,
  packets,
  space,
  size,
  population,
  observed,
  selected,
  frame_size,
  frame_type,
  section_offset,
  section_octets,
  numbers_,  ///< the rest are bytes
  frame_section,
  ip_section,
};

/// A template as it is kept: what is passed, too, but nothing without a length.
struct RecordTemplate {
  struct Row {
    Slot slot;
    dissect::ipfix::Element element;
    [[nodiscard]] bool operator==(const Row&) const noexcept = default;
  };
  std::vector<Row> rows;
  std::size_t least = 0;  ///< bytes that a record has at least
  bool options = false;
  [[nodiscard]] bool operator==(const RecordTemplate&) const noexcept = default;
};
/// Nothing: it cannot be kept, as its records would have no length, or it has more rows than `at_most`.
[[nodiscard]] std::optional<RecordTemplate> keep_template(const dissect::ipfix::Template& of, bool options,
                                                          bool netflow9, std::size_t at_most);

/// One packet in how many: `packets` of which `per` are sampled; 0: not known.
struct SamplingRate {
  std::uint32_t packets = 0, per = 1;
  [[nodiscard]] bool known() const noexcept { return packets != 0; }
};
[[nodiscard]] SamplingRate sampling_rate(std::uint64_t packets, std::uint64_t per) noexcept;

struct ExportRecord {
  static constexpr std::size_t selectors_at_most = 4;

  std::array<std::uint64_t, static_cast<std::size_t>(Slot::numbers_)> numbers{};
  std::uint32_t present = 0;  ///< bits of Slot
  std::array<std::uint32_t, selectors_at_most> selectors{};
  std::size_t selector_count = 0;
  Slot section = Slot::passed;  ///< or frame_section, ip_section
  dissect::Bytes section_bytes;

  [[nodiscard]] std::optional<std::uint64_t> get(Slot slot) const noexcept {
    const auto i = static_cast<std::size_t>(slot);
    return (present >> i & 1U) != 0 ? std::optional(numbers[i]) : std::nullopt;
  }
  [[nodiscard]] std::uint32_t number(Slot slot) const noexcept {
    return static_cast<std::uint32_t>(get(slot).value_or(0));
  }
  /// What it says itself of the sampling.
  [[nodiscard]] SamplingRate rate() const noexcept;
  /// The beginning of a packet, if it shows one from its first byte on.
  struct Section {
    dissect::Bytes bytes;
    std::uint32_t wire = 0;  ///< of the whole frame; 0: not told
    std::uint16_t link_type = 0;
  };
  [[nodiscard]] std::optional<Section> beginning() const;
  /// Dissects its section.
  [[nodiscard]] SampledPacket packet() const;
  [[nodiscard]] bool of_roce() const noexcept;
};
/// Takes a record from the front of `rest`.
[[nodiscard]] dissect::End take_record(const RecordTemplate& by, dissect::Part& rest, ExportRecord& out);

}  // namespace roce::analyze
