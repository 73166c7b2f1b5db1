// SPDX-License-Identifier: Apache-2.0
#include "capture/write/pcap_writer.hpp"

#include <array>
#include <utility>

#include "capture/write/compressed_output.hpp"

namespace roce::capture {
namespace {

constexpr std::uint32_t pcap_magic_us = 0xA1B2C3D4, pcap_magic_ns = 0xA1B23C4D;
constexpr std::uint32_t pcap_snap_length = 262'144;  // the largest that libpcap reads; ours is not larger
constexpr std::uint16_t link_type_ethernet = 1;

struct LinkTypeName {
  std::uint16_t number;
  std::string_view name;
};
constexpr LinkTypeName link_type_names[] = {
    {0, "BSD loopback"}, {1, "Ethernet"}, {101, "raw IP"},     {113, "Linux cooked"},    {197, "ERF"},
    {228, "IPv4"},       {229, "IPv6"},   {247, "InfiniBand"}, {276, "Linux cooked v2"},
};

/// Link type in the low 16 bits; in the highest four the length of the FCS in 16-bit words, if there is one.
std::uint32_t network_of(std::uint16_t link_type, std::uint8_t fcs_bytes) {
  constexpr std::uint32_t fcs_present = 0x04000000;
  const std::uint32_t words = fcs_bytes / 2U;
  if (words == 0 || words > 15 || fcs_bytes % 2 != 0) return link_type;
  return link_type | fcs_present | words << 28U;
}

/// "1 (Ethernet)"
std::string link_type_text(std::uint32_t network) {
  const std::uint32_t number = network & 0xffffU;
  std::string text = std::to_string(number);
  std::string details;
  for (const LinkTypeName& row : link_type_names) {
    if (row.number == number) details = row.name;
  }
  if (const std::uint32_t fcs = (network >> 28U) * 2; fcs != 0)
    details += (details.empty() ? "FCS of " : ", FCS of ") + std::to_string(fcs) + " bytes";
  return details.empty() ? text : text + " (" + details + ")";
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return std::to_string(count).append(1, ' ').append(count == 1 ? one : many);
}

}  // namespace

PcapWriter::PcapWriter(std::unique_ptr<OutputFile> file, PcapTimes times, std::size_t comments,
                       Compression compression)
    : times_(times),
      file_(std::make_unique<CompressedOutput>(std::move(file), compression)),
      comments_(comments) {}

PcapWriter::~PcapWriter() = default;

tl::unexpected<Error> PcapWriter::refused(std::string message) const {
  Error error;
  error.kind = ErrorKind::not_writable;
  error.path = file_->path();
  error.message = std::move(message);
  return tl::unexpected<Error>(std::move(error));
}

Expected<void> PcapWriter::header(std::uint32_t network) {
  network_ = network;
  const std::array<std::uint16_t, 2> version = {2, 4};
  const std::array<std::uint32_t, 2> zone_and_accuracy = {0, 0};
  const std::uint32_t magic = times_ == PcapTimes::nanoseconds ? pcap_magic_ns : pcap_magic_us;
  const std::array<std::uint32_t, 2> end = {pcap_snap_length, network};
  if (auto done = file_->append(&magic, sizeof magic); !done) return done;
  if (auto done = file_->append(version.data(), sizeof version); !done) return done;
  if (auto done = file_->append(zone_and_accuracy.data(), sizeof zone_and_accuracy); !done) return done;
  return file_->append(end.data(), sizeof end);
}

Expected<void> PcapWriter::write(const Frame& frame, const InterfaceInfo& info,
                                 std::span<const std::string_view> comments) {
  constexpr std::int64_t ns_per_second = 1'000'000'000, ns_per_microsecond = 1000;
  const std::uint32_t network = network_of(frame.link_type, info.fcs_bytes);
  if (!network_) {
    if (auto done = header(network); !done) return done;
  } else if (*network_ != network) {
    return refused("a pcap file has one link type for all packets: after packets with " +
                   link_type_text(*network_) + " came one with " + link_type_text(network) +
                   "; pcapng holds both");
  }
  if (frame.time_ns < 0 || frame.time_ns / ns_per_second > std::int64_t{0xffff'ffff})
    return refused("a pcap file has times from 1970 to 2106, and a packet has another; pcapng holds it");
  std::int64_t fraction = frame.time_ns % ns_per_second;
  if (times_ == PcapTimes::microseconds) {
    if (fraction % ns_per_microsecond != 0) ++cut_times_;
    fraction /= ns_per_microsecond;
  }
  comments_ += comments.size();
  interfaces_.insert(frame.interface);
  const std::array<std::uint32_t, 4> record = {static_cast<std::uint32_t>(frame.time_ns / ns_per_second),
                                               static_cast<std::uint32_t>(fraction), frame.captured,
                                               frame.wire};
  if (auto done = file_->append(record.data(), sizeof record); !done) return done;
  return file_->append(frame.data, frame.captured);
}

Expected<void> PcapWriter::begin_section(const std::vector<InterfaceInfo>&,
                                         std::vector<std::string> comments) {
  comments_ += comments.size();
  return {};
}

Expected<void> PcapWriter::finish(const std::vector<InterfaceInfo>& interfaces) {
  for (const InterfaceInfo& info : interfaces) {
    drops_ = drops_ || info.dropped_by_interface.value_or(0) != 0 ||
             info.dropped_by_kernel.value_or(0) != 0 || info.dropped_before_packets != 0;
  }
  if (!network_) {
    const std::uint32_t network =
        interfaces.empty() ? link_type_ethernet
                           : network_of(interfaces.front().link_type, interfaces.front().fcs_bytes);
    if (auto done = header(network); !done) return done;
  }
  return file_->finish();
}

std::vector<std::string> PcapWriter::omissions() const {
  std::vector<std::string> left_out;
  if (comments_ != 0)
    left_out.push_back(counted(comments_, "comment was", "comments were") + " left out: pcap has none");
  if (interfaces_.size() > 1)
    left_out.push_back("the packets of " + std::to_string(interfaces_.size()) +
                       " interfaces were written without the interface: pcap has one only");
  if (drops_) left_out.emplace_back("the numbers of dropped packets were left out: pcap has none");
  if (cut_times_ != 0)
    left_out.push_back("the times of " + counted(cut_times_, "packet", "packets") +
                       " were cut to microseconds: nsecpcap and pcapng have nanoseconds");
  return left_out;
}

}  // namespace roce::capture
