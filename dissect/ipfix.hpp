// SPDX-License-Identifier: Apache-2.0
// IPFIX (RFC 7011), PSAMP (RFC 5476, 5477) and NetFlow version 9 (RFC 3954): messages of sets, whose records
// templates describe. Also the drop notifications of Broadcom switches, which look like IPFIX and have no
// template ("PSAMP format 2", by one public source).
//
// Readers borrow the datagram's bytes, allocate nothing, and take no length field's word for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dissect/bytes.hpp"
#include "dissect/part.hpp"

namespace roce::dissect::ipfix {

inline constexpr std::uint16_t version_ipfix = 10, version_netflow9 = 9;

/// What is in a set, by its number.
enum class SetKind : std::uint8_t { templates, options_templates, data, reserved };

struct Set {
  static constexpr std::size_t head = 4;  ///< bytes before the body
  static constexpr std::uint16_t first_of_data = 256;

  std::uint16_t id = 0;
  SetKind kind = SetKind::reserved;
  Part body;
};

/// The sets of a message, one after the other.
class Sets {
 public:
  Sets(Part list, bool netflow9) noexcept : rest_(list), netflow9_(netflow9) {}
  /// False at the end, of which end() says what it was.
  [[nodiscard]] bool next(Set& set) noexcept;
  [[nodiscard]] End end() const noexcept { return end_; }

 private:
  Part rest_;
  bool netflow9_;
  End end_ = End::complete;
};

struct Message {
  bool netflow9 = false;
  std::uint16_t count = 0;        ///< NetFlow: records, templates included
  std::uint32_t uptime_ms = 0;    ///< NetFlow
  std::uint32_t export_time = 0;  ///< s
  std::uint32_t sequence = 0;     ///< IPFIX: data records sent before; NetFlow: messages
  std::uint32_t domain = 0;       ///< observation domain, source ID
  std::size_t size = 0;           ///< bytes before the first set
  Part list;

  [[nodiscard]] Sets sets() const noexcept { return {list, netflow9}; }
};
/// `payload`: of the UDP datagram.
[[nodiscard]] End read_message(Part payload, Message& out) noexcept;
/// Whether a datagram begins as an IPFIX message of its length does, down to its first set: no other field
/// says so, and exporters use any port.
[[nodiscard]] bool resembles_ipfix(Part payload) noexcept;

/// A row of a template: how the records of its sets have this element.
struct Element {
  static constexpr std::uint16_t variable = 0xffff;  ///< the length is in the record
  std::uint32_t enterprise = 0;                      ///< 0: the element is IANA's
  std::uint16_t id = 0;
  std::uint16_t length = 0;
  bool scope = false;  ///< of an options template: what the record is about
  [[nodiscard]] bool operator==(const Element&) const noexcept = default;
};

/// A template record; without rows it is the withdrawal of one, or of all where `id` is that of its set.
struct Template {
  std::uint16_t id = 0;
  std::uint16_t count = 0;   ///< rows
  std::uint16_t scopes = 0;  ///< the first of them
  std::size_t size = 0;      ///< bytes before the first row
  std::size_t length = 0;    ///< bytes captured of it, rows included
  Part rows;
};

class Elements {
 public:
  Elements(const Template& of, bool netflow9) noexcept
      : rest_(of.rows), left_(of.count), scopes_(of.scopes), netflow9_(netflow9) {}
  [[nodiscard]] bool next(Element& element) noexcept;
  [[nodiscard]] End end() const noexcept { return end_; }
  /// What follows the rows that were read.
  [[nodiscard]] Part rest() const noexcept { return rest_; }

 private:
  Part rest_;
  std::uint16_t left_, scopes_;
  bool netflow9_;
  End end_ = End::complete;
};

/// The templates of a set of either kind.
class Templates {
 public:
  Templates(const Set& set, bool netflow9) noexcept
      : rest_(set.body), options_(set.kind == SetKind::options_templates), netflow9_(netflow9) {}
  [[nodiscard]] bool next(Template& out) noexcept;
  [[nodiscard]] End end() const noexcept { return end_; }

 private:
  Part rest_;
  bool options_, netflow9_;
  End end_ = End::complete;
};

/// Takes the value of an element from the front of `rest`.
[[nodiscard]] End take_value(Part& rest, std::uint16_t length, Part& value) noexcept;
/// Of 1 to 8 bytes, as far as they were captured: elements may be shorter than their type.
[[nodiscard]] std::optional<std::uint64_t> number_of(const Part& value) noexcept;

struct ElementInfo;
/// A value of a data record, and where it stands in its frame.
struct RecordValue {
  const ElementInfo* info = nullptr;  ///< of the whole run
  Element element;
  std::uint32_t offset = 0, length = 0;  ///< bytes of the frame, without the length of a variable one
  std::uint32_t record = 0;              ///< of the frame, from 0
  std::uint16_t set = 0;                 ///< which is the number of its template
};

/// Numbers of elements (IANA; NetFlow has the same below 128).
namespace element {
inline constexpr std::uint16_t protocol = 4, source_port = 7, ingress = 10, destination_port = 11,
                               egress = 14, sampling_interval = 34, sampler_id = 48, sampler_interval = 50,
                               direction = 61, forwarding_status = 89, layer2_offset = 102,
                               layer2_section = 104, selection_sequence = 301, selector = 302,
                               algorithm = 304, sampling_packets = 305, sampling_space = 306,
                               sampling_size = 309, sampling_population = 310, frame_size = 312,
                               ip_section = 313, frame_section = 315, observed = 318, selected = 319,
                               frame_type = 408, section_offset = 409, section_octets = 410;
}  // namespace element
inline constexpr std::uint64_t ethernet_frame = 1;  ///< of element::frame_type
inline constexpr std::uint64_t egress_direction = 1;

/// element::forwarding_status (RFC 7270): the two bits at its top say what became of the packet.
[[nodiscard]] constexpr bool says_dropped(std::uint64_t forwarding_status) noexcept {
  return (forwarding_status & 0xc0U) == 0x80U;
}
/// Empty for reasons that the registry does not name.
[[nodiscard]] std::string_view forwarding_status_name(std::uint32_t status) noexcept;
inline constexpr std::uint32_t status_too_big = 133, status_wred = 139;

/// A packet that a Broadcom switch dropped, as it mirrors it to a collector.
struct DropMirror {
  static constexpr std::uint16_t set_tomahawk5 = 0x1234, set_tomahawk6 = 0x1239;
  static constexpr std::size_t size = 24;  ///< bytes before `section`

  bool tomahawk6 = false;  ///< has one code, of all pipelines, and a byte of which no use is known
  std::uint32_t switch_id = 0;
  std::uint16_t egress = 0, ingress = 0;  ///< the chip's numbers of ports
  std::uint16_t codes = 0;                ///< as they are on the wire
  Part section;                           ///< the beginning of the Ethernet frame

  /// What is known of its reason: 0 where the switch says none.
  [[nodiscard]] std::uint32_t reason() const noexcept;
};
/// Only where every length agrees: there is no template that says so.
[[nodiscard]] End read_drop_mirror(const Message& message, const Set& set, DropMirror& out) noexcept;

/// DropMirror::reason(): the pipeline that dropped, and its code, which SDKs program.
inline constexpr std::uint32_t mirror_ingress = 0x000, mirror_memory = 0x100, mirror_egress = 0x200;
inline constexpr std::uint32_t mirror_code_bits = 0xff;
/// "ingress ", "memory ", "egress ".
[[nodiscard]] std::string_view mirror_pipeline_name(std::uint32_t reason) noexcept;
[[nodiscard]] std::string_view mirror_reason_name(std::uint32_t reason) noexcept;
inline constexpr std::uint32_t mirror_ingress_limit = mirror_memory | 0x01,
                               mirror_egress_limit = mirror_memory | 0x03;

}  // namespace roce::dissect::ipfix
