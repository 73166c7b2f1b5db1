// SPDX-License-Identifier: Apache-2.0
#include "dissect/ipfix.hpp"

#include "dissect/headers/ipfix_names.hpp"

namespace roce::dissect::ipfix {
namespace {

constexpr std::uint16_t netflow_templates = 0, netflow_options = 1, ipfix_templates = 2, ipfix_options = 3;

SetKind set_kind_of(std::uint16_t id, bool netflow9) noexcept {
  if (id >= Set::first_of_data) return SetKind::data;
  if (id == (netflow9 ? netflow_templates : ipfix_templates)) return SetKind::templates;
  if (id == (netflow9 ? netflow_options : ipfix_options)) return SetKind::options_templates;
  return SetKind::reserved;
}

std::uint16_t word(const Part& part, std::size_t at) noexcept {
  return load_be16(part.captured.data() + at);
}

}  // namespace

bool Sets::next(Set& set) noexcept {
  // Some exporters fill their messages up.
  if (rest_.declared < Set::head) return false;
  end_ = rest_.holds(Set::head);
  if (end_ != End::complete) return false;
  const std::size_t length = word(rest_, 2);
  set.id = word(rest_, 0);
  set.kind = set_kind_of(set.id, netflow9_);
  if (length < Set::head || length > rest_.declared) {
    end_ = End::contradicts;
    return false;
  }
  set.body = rest_.first(length).from(Set::head);
  rest_ = rest_.from(length);
  return true;
}

End read_message(Part payload, Message& out) noexcept {
  constexpr std::size_t ipfix_size = 16, netflow_size = 20;
  if (const End end = payload.holds(2); end != End::complete) return end;
  const std::uint16_t version = word(payload, 0);
  if (version != version_ipfix && version != version_netflow9) return End::contradicts;
  out.netflow9 = version == version_netflow9;
  out.size = out.netflow9 ? netflow_size : ipfix_size;
  if (const End end = payload.holds(out.size); end != End::complete) return end;
  const std::uint8_t* const p = payload.captured.data();
  if (out.netflow9) {
    out.count = load_be16(p + 2);
    out.uptime_ms = load_be32(p + 4);
    out.list = payload.from(out.size);
  } else {
    const std::size_t length = load_be16(p + 2);
    if (length < out.size || length > payload.declared) return End::contradicts;
    out.list = payload.first(length).from(out.size);
  }
  out.export_time = load_be32(p + out.size - 12);
  out.sequence = load_be32(p + out.size - 8);
  out.domain = load_be32(p + out.size - 4);
  return End::complete;
}

bool resembles_ipfix(Part payload) noexcept {
  constexpr std::size_t with_set = 20;
  if (payload.holds(with_set) != End::complete) return false;
  if (word(payload, 0) != version_ipfix || word(payload, 2) != payload.declared) return false;
  const std::size_t length = word(payload, with_set - 2);
  return set_kind_of(word(payload, with_set - 4), false) != SetKind::reserved && length >= Set::head &&
         length <= payload.declared - (with_set - Set::head);
}

bool Elements::next(Element& element) noexcept {
  constexpr std::size_t plain = 4, with_enterprise = 8;
  constexpr std::uint16_t enterprise_bit = 0x8000;
  if (left_ == 0) return false;
  end_ = rest_.holds(plain);
  if (end_ != End::complete) return false;
  element.id = word(rest_, 0);
  element.length = word(rest_, 2);
  element.enterprise = 0;
  const bool foreign = !netflow9_ && (element.id & enterprise_bit) != 0;
  if (foreign) {
    end_ = rest_.holds(with_enterprise);
    if (end_ != End::complete) return false;
    element.id &= static_cast<std::uint16_t>(~enterprise_bit);
    element.enterprise = load_be32(rest_.captured.data() + plain);
  }
  rest_ = rest_.from(foreign ? with_enterprise : plain);
  element.scope = scopes_ != 0;
  if (scopes_ != 0) --scopes_;
  --left_;
  return true;
}

bool Templates::next(Template& out) noexcept {
  constexpr std::size_t plain = 4, with_scopes = 6, row = 4;
  out = {};
  if (rest_.declared < plain) return false;  // filling
  end_ = rest_.holds(plain);
  if (end_ != End::complete) return false;
  out.id = word(rest_, 0);
  if (out.id == 0) return false;  // more filling
  out.count = word(rest_, 2);
  const bool withdrawal = !netflow9_ && out.count == 0;
  if (out.id < Set::first_of_data && !withdrawal) {
    end_ = End::contradicts;
    return false;
  }
  out.size = plain;
  if (options_ && !withdrawal) {
    end_ = rest_.holds(with_scopes);
    if (end_ != End::complete) return false;
    out.size = with_scopes;
    out.scopes = word(rest_, 4);
    if (netflow9_) {  // NetFlow has bytes of rows
      const std::uint16_t scope_bytes = out.count, option_bytes = out.scopes;
      out.scopes = static_cast<std::uint16_t>(scope_bytes / row);
      out.count = static_cast<std::uint16_t>(out.scopes + option_bytes / row);
    }
    if (out.scopes > out.count) {
      end_ = End::contradicts;
      return false;
    }
  }
  out.rows = rest_.from(out.size);
  Elements rows(out, netflow9_);
  Element element;
  while (rows.next(element)) continue;
  end_ = rows.end();
  if (end_ != End::complete) return false;
  out.length = rest_.captured.size() - rows.rest().captured.size();
  rest_ = rows.rest();
  return true;
}

End take_value(Part& rest, std::uint16_t length, Part& value) noexcept {
  constexpr std::uint8_t longer = 255;
  std::size_t bytes = length;
  if (length == Element::variable) {
    if (const End end = rest.holds(1); end != End::complete) return end;
    bytes = rest.captured[0];
    std::size_t prefix = 1;
    if (bytes == longer) {
      prefix = 3;
      if (const End end = rest.holds(prefix); end != End::complete) return end;
      bytes = word(rest, 1);
    }
    rest = rest.from(prefix);
  }
  if (bytes > rest.declared) return End::contradicts;
  value = rest.first(bytes);
  rest = rest.from(bytes);
  return End::complete;
}

std::optional<std::uint64_t> number_of(const Part& value) noexcept {
  constexpr std::size_t longest = 8;
  if (value.declared == 0 || value.declared > longest || value.is_cut()) return std::nullopt;
  return load_be(value.captured.data(), value.declared);
}

std::string_view forwarding_status_name(std::uint32_t status) noexcept {
  return name_of(forwarding_status_names, status);
}

std::uint32_t DropMirror::reason() const noexcept {
  constexpr std::uint32_t first_memory = 0x90, last_memory = 0x95, first_egress = 0x98, last_ingress = 0x78;
  const std::uint32_t first = codes >> 8U, second = codes & 0xffU;
  if (!tomahawk6) return second != 0 ? mirror_memory | second : mirror_ingress | first;
  if (first <= last_ingress) return mirror_ingress | first;
  if (first >= first_memory && first <= last_memory) return mirror_memory | (first - first_memory);
  return first >= first_egress ? mirror_egress | (first - first_egress) : 0;
}

End read_drop_mirror(const Message& message, const Set& set, DropMirror& out) noexcept {
  constexpr std::size_t indicator = 21, section_length = 22;
  constexpr std::uint8_t variable_length = 0xff;
  if (message.netflow9 || (set.id != DropMirror::set_tomahawk5 && set.id != DropMirror::set_tomahawk6))
    return End::contradicts;
  if (const End end = set.body.holds(DropMirror::size); end != End::complete) return end;
  const std::uint8_t* const p = set.body.captured.data();
  if (p[indicator] != variable_length ||
      set.body.declared != DropMirror::size + std::size_t{load_be16(p + section_length)} ||
      message.list.declared != Set::head + set.body.declared)
    return End::contradicts;
  out.tomahawk6 = set.id == DropMirror::set_tomahawk6;
  out.switch_id = load_be32(p + 8);
  out.egress = load_be16(p + 12);
  out.ingress = load_be16(p + 14);
  out.codes = load_be16(p + 16);
  out.section = set.body.from(DropMirror::size);
  return End::complete;
}

std::string_view mirror_pipeline_name(std::uint32_t reason) noexcept {
  switch (reason & ~mirror_code_bits) {
    case mirror_memory:
      return "memory ";
    case mirror_egress:
      return "egress ";
    default:
      return "ingress ";
  }
}

std::string_view mirror_reason_name(std::uint32_t reason) noexcept {
  return name_of(mirror_reason_names, reason);
}

}  // namespace roce::dissect::ipfix
