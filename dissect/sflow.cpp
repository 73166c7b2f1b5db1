// SPDX-License-Identifier: Apache-2.0
#include "dissect/sflow.hpp"

#include "dissect/headers/sflow_names.hpp"

namespace roce::dissect::sflow {
namespace {

constexpr std::size_t padded(std::size_t length) noexcept {
  return (length + 3U) / 4U * 4U;
}

/// Words one after the other; the caller has made sure that they are there.
class Words {
 public:
  explicit Words(const std::uint8_t* at) noexcept : at_(at) {}
  std::uint32_t next() noexcept {
    const std::uint32_t word = load_be32(at_);
    at_ += 4;
    return word;
  }
  std::uint64_t next_long() noexcept {
    const std::uint64_t word = load_be<8>(at_);
    at_ += 8;
    return word;
  }
  void skip(std::size_t words) noexcept { at_ += 4 * words; }

 private:
  const std::uint8_t* at_;
};

/// The formats that are not expanded have both parts of a data source or a port in one word.
constexpr unsigned source_index_bits = 24, port_value_bits = 30;
Port port_of(std::uint32_t word) noexcept {
  return {word >> port_value_bits, word & ((1U << port_value_bits) - 1U)};
}

struct KindSize {
  SampleKind kind;
  std::uint8_t words;  ///< before the records
};
constexpr KindSize kind_sizes[] = {{SampleKind::other, 0},
                                   {SampleKind::flow, 8},
                                   {SampleKind::counters, 3},
                                   {SampleKind::flow_expanded, 11},
                                   {SampleKind::counters_expanded, 4},
                                   {SampleKind::discarded, 8}};

}  // namespace

bool Items::next(Item& item) noexcept {
  if (count_ == 0) return false;
  end_ = rest_.holds(Item::head);
  if (end_ != End::complete) return false;
  const std::uint8_t* const p = rest_.captured.data();
  item.format = load_be32(p);
  const std::size_t length = load_be32(p + 4);
  if (length > rest_.declared - Item::head) {
    end_ = End::contradicts;
    return false;
  }
  const Part body = rest_.from(Item::head);
  item.body = {body.captured.first(std::min(length, body.captured.size())), length};
  rest_ = body.from(padded(length));
  --count_;
  return true;
}

End read_datagram(Part payload, Datagram& out) noexcept {
  constexpr std::size_t before = 8, behind = 16;  // bytes around the address
  if (const End end = payload.holds(before); end != End::complete) return end;
  const std::uint8_t* const p = payload.captured.data();
  const std::uint32_t family = load_be32(p + 4);
  if (load_be32(p) != version || (family != address_ipv4 && family != address_ipv6)) return End::contradicts;
  out.agent_is_ipv6 = family == address_ipv6;
  const std::size_t address = out.agent_is_ipv6 ? 16 : 4;
  out.size = before + address + behind;
  if (const End end = payload.holds(out.size); end != End::complete) return end;
  out.agent = out.agent_is_ipv6 ? IpAddress::v6(p + before) : IpAddress::v4(p + before);
  Words words(p + before + address);
  out.sub_agent = words.next();
  out.sequence = words.next();
  out.uptime_ms = words.next();
  out.sample_count = words.next();
  out.list = payload.from(out.size);
  return End::complete;
}

SampleKind kind_of(const Item& sample) noexcept {
  const std::uint32_t format = sample.standard().value_or(0);
  constexpr auto last = static_cast<std::uint32_t>(SampleKind::discarded);
  return format <= last ? static_cast<SampleKind>(format) : SampleKind::other;
}

End read_sample(const Item& item, Sample& out) noexcept {
  out = {};
  out.kind = kind_of(item);
  const std::size_t size = 4U * kind_sizes[static_cast<std::size_t>(out.kind)].words;
  if (const End end = item.body.holds(size); end != End::complete) return end;
  out.size = Item::head + size;
  out.list = item.body.from(size);
  if (out.kind == SampleKind::other) return End::complete;

  Words words(item.body.captured.data());
  out.sequence = words.next();
  const bool compact = out.kind == SampleKind::flow || out.kind == SampleKind::counters;
  const std::uint32_t source = words.next();
  out.source_class = compact ? source >> source_index_bits : source;
  out.source_index = compact ? source & ((1U << source_index_bits) - 1U) : words.next();
  if (out.is_flow()) {
    out.rate = words.next();
    out.pool = words.next();
    out.drops = words.next();
    for (Port* port : {&out.input, &out.output}) {
      const std::uint32_t first = words.next();
      *port = compact ? port_of(first) : Port{first, words.next()};
    }
  } else if (out.kind == SampleKind::discarded) {
    out.drops = words.next();
    out.input = {Port::index, words.next()};
    out.output = {Port::index, words.next()};
    out.reason = words.next();
  }
  out.record_count = words.next();
  return End::complete;
}

bool read_sampled_header(const Item& record, SampledHeader& out) noexcept {
  if (record.body.holds(SampledHeader::size) != End::complete) return false;
  Words words(record.body.captured.data());
  out.protocol = words.next();
  out.frame_length = words.next();
  out.stripped = words.next();
  out.header_length = words.next();
  const Part rest = record.body.from(SampledHeader::size);
  const std::size_t length = std::min<std::size_t>(out.header_length, rest.declared);
  out.header = {rest.captured.first(std::min(length, rest.captured.size())), length};
  return true;
}

bool read_interface_counters(const Item& record, InterfaceCounters& out) noexcept {
  constexpr std::size_t size = 88;
  if (record.body.holds(size) != End::complete) return false;
  Words words(record.body.captured.data());
  out.index = words.next();
  out.type = words.next();
  out.speed_bps = words.next_long();
  words.skip(2);  // direction, status
  out.in_octets = words.next_long();
  out.in_packets = words.next();
  words.skip(2);  // multicast, broadcast
  out.in_discards = words.next();
  out.in_errors = words.next();
  words.skip(1);  // unknown protocols
  out.out_octets = words.next_long();
  out.out_packets = words.next();
  words.skip(2);
  out.out_discards = words.next();
  out.out_errors = words.next();
  return true;
}

bool read_pfc_counters(const Item& record, PfcCounters& out) noexcept {
  constexpr std::size_t size = 20;
  if (record.body.holds(size) != End::complete) return false;
  Words words(record.body.captured.data());
  out.requests = words.next();
  out.indications = words.next();
  out.pause_us = words.next();
  out.storms_detected = words.next();
  out.storms_restored = words.next();
  return true;
}

std::optional<std::string_view> text_at(const Item& record, std::size_t word) noexcept {
  const std::optional<std::uint32_t> length = record.word(word);
  if (!length) return std::nullopt;
  const Part text = record.body.from(4 * (word + 1));
  if (*length > text.declared) return std::nullopt;
  const Bytes bytes = text.captured.first(std::min<std::size_t>(*length, text.captured.size()));
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string_view drop_reason_name(std::uint32_t reason) noexcept {
  constexpr std::uint32_t first_of_parser = 307, last_of_parser = 322, first_of_linux = 325,
                          last_of_linux = 371;
  if (reason >= first_of_parser && reason <= last_of_parser) return "parser error";
  if (reason >= first_of_linux && reason <= last_of_linux) return "reason of the Linux stack";
  return name_of(sflow_reason_names, reason);
}

}  // namespace roce::dissect::sflow
