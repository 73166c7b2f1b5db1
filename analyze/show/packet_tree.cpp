// SPDX-License-Identifier: Apache-2.0
#include "analyze/show/packet_tree.hpp"

#include <algorithm>
#include <array>

#include "analyze/base/address_text.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/filter/field_extract.hpp"
#include "analyze/filter/field_registry.hpp"
#include "analyze/filter/field_virtual.hpp"
#include "analyze/packet/packet_facts.hpp"
#include "analyze/policy/subject.hpp"
#include "analyze/show/field_words.hpp"
#include "analyze/show/packet_line.hpp"
#include "analyze/show/packet_words.hpp"
#include "dissect/dissect.hpp"
#include "dissect/fast_cnp.hpp"
#include "dissect/header_table.hpp"
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/headers/ipfix_elements.hpp"
#include "dissect/ipfix.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {
namespace {

using dissect::Display;
using dissect::Field;
using dissect::HeaderId;
using dissect::HeaderInfo;
using dissect::Layer;

constexpr std::size_t longest_value = 256;  // bytes of a field shown; all are in the hex dump

/// Bytes, truncated to longest_value.
void append_bytes(std::string& out, dissect::Bytes bytes) {
  append_hex(out, bytes.first(std::min(bytes.size(), longest_value)));
  if (bytes.size() > longest_value) out += "...";
}

/// ".10. .... = " for fields that share bytes with others.
void append_bit_pattern(std::string& out, const Field& field, dissect::Bytes bytes) {
  if (field.bits == 0 || (field.bit % 8U == 0 && field.bits % 8U == 0) || bytes.size() > 4) return;
  const std::size_t first = field.bit % 8U, end = first + field.bits;
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    if (i != 0 && i % 4 == 0) out.push_back(' ');
    const std::size_t byte = field.little_endian ? bytes.size() - 1 - i / 8 : i / 8;
    const bool set = (unsigned{bytes[byte]} >> (7U - i % 8) & 1U) != 0;
    out.push_back(i < first || i >= end ? '.' : set ? '1' : '0');
  }
  out += " = ";
}

void append_field_value(std::string& out, const Field& field, const Value& value) {
  switch (value.type) {
    case ValueType::boolean:
      out += value.number != 0 ? "True" : "False";
      return;
    case ValueType::bytes:
      append_bytes(out, value.bytes);
      return;
    case ValueType::number:
      if (value.text.empty()) break;
      out += value.text;
      out += " (";
      if (field.display == Display::hex) {
        append_hex_number(out, value.number, hex_digits_of(field));
      } else {
        append_decimal(out, value.number);
      }
      out += ')';
      return;
    default:
      break;
  }
  FieldFacts facts;
  facts.hex = field.display == Display::hex;
  facts.hex_digits = hex_digits_of(field);
  append_value(out, facts, value);
}

/// ", Src: 10.77.0.1, Dst: 10.77.0.2" after the title of headers with addresses or ports.
void append_ends(std::string& out, const HeaderInfo& header, const std::uint8_t* p, std::size_t length) {
  struct Ends {
    HeaderId id;
    const Field& source;
    const Field& destination;
    std::string_view source_label, destination_label;
  };
  static constexpr Ends table[] = {
      {HeaderId::ethernet, dissect::Ethernet::src, dissect::Ethernet::dst, ", Src: ", ", Dst: "},
      {HeaderId::ipv4, dissect::Ipv4::src, dissect::Ipv4::dst, ", Src: ", ", Dst: "},
      {HeaderId::ipv6, dissect::Ipv6::src, dissect::Ipv6::dst, ", Src: ", ", Dst: "},
      {HeaderId::grh, dissect::Grh::sgid, dissect::Grh::dgid, ", Src: ", ", Dst: "},
      {HeaderId::udp, dissect::Udp::srcport, dissect::Udp::dstport, ", Src Port: ", ", Dst Port: "},
  };
  for (const Ends& row : table) {
    if (row.id != header.id) continue;
    out += row.source_label;
    if (const auto value = read_value(row.source, p, length)) append_field_value(out, row.source, *value);
    out += row.destination_label;
    if (const auto value = read_value(row.destination, p, length))
      append_field_value(out, row.destination, *value);
  }
}

/// "[Marking violation: class.data.dscp: DSCP 26 expected, DSCP 0 found]"
std::string violation_text(const Violation& violation) {
  std::string text = "[Marking violation: ";
  text.append(violation.key).append(": ").append(violation.expected).append(" expected, ");
  return text.append(violation.found).append(" found]");
}

class Builder {
 public:
  explicit Builder(const PacketView& packet) : packet_(packet) {}

  std::vector<TreeLine> build() {
    comments();
    frame();
    for (const Layer& layer : by_offset()) {
      exported_until(layer.offset);
      header(layer);
    }
    exported_until(packet_.frame->captured);
    analysis();
    marking();
    notes();
    return std::move(lines_);
  }

 private:
  TreeLine& add(std::uint32_t depth, std::string text, std::string_view field = {}) {
    TreeLine& line = lines_.emplace_back();
    line.depth = depth;
    line.text = std::move(text);
    line.field = field;
    return line;
  }

  /// Layers in the order of their bytes, outer before inner; the CRCs at the end of the frame and what a
  /// switch put behind it last. Those of a sampled frame stay beneath the record that has it.
  [[nodiscard]] std::vector<Layer> by_offset() const {
    const auto all = packet_.dissection->all();
    std::vector<Layer> layers(all.begin(), all.end());
    const auto rank = [](const Layer& layer) {
      if (layer.sampled) return 0;
      if (dissect::is_trailer(layer.id)) return 3;
      return layer.id == HeaderId::vcrc ? 2 : layer.id == HeaderId::icrc ? 1 : 0;
    };
    std::stable_sort(layers.begin(), layers.end(), [&](const Layer& a, const Layer& b) {
      return rank(a) != rank(b) ? rank(a) < rank(b) : a.offset < b.offset;
    });
    return layers;
  }

  void computed(std::string_view label, std::string_view name, std::string_view unit = {}) {
    const auto field = find_field(name);
    Values values;
    if (field) extract(packet_, *field, values);
    for (const Value& value : values) {
      std::string text(label);
      text += ": ";
      if (value.type == ValueType::boolean) {
        text += value.number != 0 ? "True" : "False";
      } else {
        append_value(text, field_facts(*field), value);
      }
      text += unit;
      add(1, std::move(text), name);
    }
  }

  /// Comments come first, as in Wireshark.
  void comments() {
    if (packet_.comments.empty()) return;
    add(0, "Packet comments", "frame.comment");
    for (const std::string_view comment : packet_.comments) {
      std::string text;
      append_printable(text, comment);
      add(1, std::move(text), "frame.comment");
    }
  }

  void frame() {
    std::string text = "Frame ";
    append_decimal(text, packet_.number);
    text += ": ";
    append_decimal(text, packet_.frame->wire);
    text += " bytes on wire, ";
    append_decimal(text, packet_.frame->captured);
    text += " bytes captured";
    TreeLine& line = add(0, std::move(text), "frame.number");
    line.length = packet_.frame->captured;
    if (packet_.has_time()) {
      PacketLine utc(TimeFormat::utc_date);
      std::string arrival = "Arrival Time: ";
      utc.append_time(arrival, packet_);
      arrival += " UTC";
      add(1, std::move(arrival), "frame.time");
    }
    computed("Epoch Time", "frame.time_epoch", " seconds");
    computed("Time since previous frame", "frame.time_delta", " seconds");
    computed("Time since first frame", "frame.time_relative", " seconds");
    computed("Interface", "frame.interface_name");
    computed("Protocols in frame", "frame.protocols");
  }

  void header(const Layer& layer) {
    const HeaderInfo& info = dissect::header_info(layer.id);
    const std::uint8_t* p = packet_.frame->data + layer.offset;
    const std::uint32_t depth = layer.sampled ? 1 : 0;
    if (layer.id == HeaderId::icrc && !layer.sampled) {
      icrc(layer);
      return;
    }
    std::string title(info.title);
    if (layer.id == HeaderId::payload) {
      title += payload_words(layer);
    } else {
      append_ends(title, info, p, layer.length);
    }
    TreeLine& line = add(depth, std::move(title), info.name);
    line.offset = layer.offset;
    line.length = layer.length;
    for (const Field& field : info.fields) {
      if (const auto value = read_value(field, p, layer.length)) field_line(layer, field, *value);
    }
  }

  /// Values of the records that a switch exports, as far as they begin at `offset`.
  void exported_until(std::uint32_t offset) {
    for (; exported_ < packet_.exported.size(); ++exported_) {
      const dissect::ipfix::RecordValue& row = packet_.exported[exported_];
      if (row.offset > offset) return;
      if (exported_ == 0 || row.record != packet_.exported[exported_ - 1].record) {
        std::string text = "Record ";
        append_decimal(text, row.record + std::uint64_t{1});
        text += " (template ";
        append_decimal(text, row.set);
        text += ')';
        add(1, std::move(text)).offset = row.offset;
      }
      exported_line(row);
    }
  }

  void exported_line(const dissect::ipfix::RecordValue& row) {
    const auto value = read_value(row, packet_.frame->data);
    std::string text(row.element.scope ? "Scope " : "");
    text += row.info->label;
    if (row.info == &dissect::ipfix::other_element) {
      text += ' ';
      append_decimal(text, row.element.id);
      if (row.element.enterprise != 0) {
        text += " of enterprise ";
        append_decimal(text, row.element.enterprise);
      }
    }
    text += ": ";
    if (value) {
      Field field{row.info->name, row.info->label, 0, 0, row.info->display};
      field.hex_digits = value->hex_digits;
      append_field_value(text, field, *value);
    } else {
      append_bytes(text, {packet_.frame->data + row.offset, row.length});
    }
    TreeLine& line = add(2, std::move(text), row.info->name);
    line.offset = row.offset;
    line.length = row.length;
  }

  void field_line(const Layer& layer, const Field& field, const Value& value) {
    std::string text;
    append_bit_pattern(text, field, value.bytes);
    text += field.label;
    text += ": ";
    append_field_value(text, field, value);
    append_field_meaning(text, field, value.number, value.bytes);
    TreeLine& line = add(layer.sampled ? 2 : 1, std::move(text), field.name);
    line.offset = layer.offset + static_cast<std::uint32_t>(field.first_byte());
    line.length = static_cast<std::uint32_t>(value.bytes.size());
  }

  [[nodiscard]] std::string payload_words(const Layer& layer) const {
    std::string text = " (";
    append_decimal(text, layer.length);
    text += " bytes";
    const std::uint8_t* bth = bth_of(packet_);
    if (bth != nullptr) {
      const unsigned pad = dissect::read<dissect::Bth::padcnt>(bth);
      if (dissect::opcode_info(bth[0]).operation == dissect::Operation::cnp) {
        text += ", reserved";
      } else if (pad != 0) {
        text += ", the last ";
        append_decimal(text, pad);
        text += " are pad";
      }
    }
    if (layer.length < packet_.dissection->payload_length) {
      text += " of ";
      append_decimal(text, packet_.dissection->payload_length);
      text += packet_.dissection->has(dissect::Note::fragmented) ? ", the rest is in other IP fragments"
                                                                 : ", the rest was not captured";
    }
    text += ')';
    return text;
  }

  void icrc(const Layer& layer) {
    std::string text = "Invariant CRC: ";
    append_hex_number(text, dissect::load_be32(packet_.frame->data + layer.offset), 8);
    if (packet_.icrc) {
      text += " [";
      if (packet_.icrc->soft_roce_flush) {
        text += "as computed by Linux Soft-RoCE for FLUSH, with BTH, FETH and RETH twice; by the standard ";
        append_hex_number(text, packet_.icrc->computed, 8);
      } else {
        text += dissect::crc_status_name(packet_.icrc->status);
        if (packet_.icrc->status == dissect::CrcStatus::mismatch) {
          text += ", computed ";
          append_hex_number(text, packet_.icrc->computed, 8);
        }
      }
      text += ']';
    }
    TreeLine& line = add(0, std::move(text), dissect::Icrc::crc.name);
    line.offset = layer.offset;
    line.length = layer.length;
  }

  void analysis() {
    if (packet_.verdict == nullptr) return;
    const std::size_t title = lines_.size();
    add(0, "[RoCE analysis]");
    for (const VirtualField& row : analysis_fields()) {
      if (row.facts.type == ValueType::presence) continue;
      computed(row.facts.label, row.facts.name, row.facts.type == ValueType::time ? " seconds" : "");
    }
    if (lines_.size() == title + 1) lines_.pop_back();  // no results
  }

  void marking() {
    for (const Violation& violation : violations_of(packet_)) {
      add(0, violation_text(violation), "roce.marking.violation");
    }
  }

  void notes() {
    const dissect::Dissection& d = *packet_.dissection;
    if (d.is_transport() && packet_.icrc && packet_.icrc->status == dissect::CrcStatus::not_checkable) {
      std::string text = "[ICRC not checkable: ";
      text += dissect::crc_obstacle_name(packet_.icrc->obstacle);
      text += ']';
      add(0, std::move(text), "roce.icrc.status");
    }
    if (const auto named = dissect::fast_cnp_address(packet_.bytes(), d)) {
      std::string text = "[Fast CNP (one draft) for packets to ";
      append_address(text, dissect::IpAddress::v6(packet_.frame->data + *named));
      TreeLine& line = add(0, text + ", whose queue pair the BTH has]", "roce.fast_cnp.dst");
      line.offset = *named;
      line.length = 16;
    }
    std::string words;
    append_unknown_words(words, packet_);
    if (!words.empty()) add(0, "[Not dissected: " + words + "]", "roce.stop");
    words.clear();
    append_dissection_notes(words, packet_);
    if (const std::size_t text = words.find_first_not_of(' '); text != std::string::npos)
      add(0, words.substr(text), "roce.stop");
  }

  const PacketView& packet_;
  std::vector<TreeLine> lines_;
  std::size_t exported_ = 0;  ///< values of records that were shown
};

}  // namespace

std::vector<TreeLine> packet_tree(const PacketView& packet) {
  return Builder(packet).build();
}

void append_tree(std::string& out, const PacketView& packet) {
  for (const TreeLine& line : packet_tree(packet)) {
    out.append(std::size_t{4} * line.depth, ' ');
    out += line.text;
    out.push_back('\n');
  }
}

void append_hex_dump(std::string& out, dissect::Bytes bytes) {
  constexpr char digits[] = "0123456789abcdef";
  constexpr std::size_t row_size = 16;
  for (std::size_t row = 0; row < bytes.size(); row += row_size) {
    const unsigned width = bytes.size() > 0x10000 ? 8 : 4;
    for (unsigned i = width; i-- > 0;) out.push_back(digits[(row >> (4 * i)) & 15U]);
    out += "  ";
    std::array<char, row_size> text;
    text.fill(' ');
    for (std::size_t i = 0; i < row_size; ++i) {
      if (row + i < bytes.size()) {
        const std::uint8_t byte = bytes[row + i];
        out.push_back(digits[byte >> 4U]);
        out.push_back(digits[byte & 15U]);
        out.push_back(' ');
        text[i] = byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '.';
      } else {
        out += "   ";
      }
    }
    out += "  ";
    out.append(text.data(), std::min(row_size, bytes.size() - row));
    out.push_back('\n');
  }
}

}  // namespace roce::analyze
