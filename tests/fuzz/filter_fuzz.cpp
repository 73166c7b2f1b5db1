// SPDX-License-Identifier: Apache-2.0
// The input is a display filter. What compiles runs on a few packets, and its negation is true
// exactly where it is not; what does not compile says where inside the text.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/filter/filter.hpp"
#include "dissect/dissect.hpp"
#include "dissect/icrc.hpp"
#include "tests/dissect/frames.hpp"

namespace {

using namespace roce;
namespace build = dissect::test;

void require(bool condition) {
  if (!condition) std::abort();
}

struct Packet {
  std::vector<std::uint8_t> bytes;
  capture::Frame frame;
  dissect::Dissection dissection;
  analyze::PacketView view;

  explicit Packet(std::vector<std::uint8_t> frame_bytes) : bytes(std::move(frame_bytes)) {
    frame.data = bytes.data();
    frame.captured = frame.wire = static_cast<std::uint32_t>(bytes.size());
    frame.link_type = dissect::link_ethernet;
    frame.time_ns = 1'795'171'301'978'750'372;
    dissect::dissect({bytes.data(), bytes.size()}, frame.wire, frame.link_type, dissection);
    view.number = 3;
    view.frame = &frame;
    view.dissection = &dissection;
    view.icrc = dissect::check_icrc(view.bytes(), dissection);
    view.flow = 2;
  }
};

const std::vector<std::unique_ptr<Packet>>& packets() {
  static const std::vector<std::unique_ptr<Packet>> all = [] {
    using build::operator+;
    const build::Packet write =
        build::udp(4791, build::bth(0x0a, build::filled(16) + build::filled(60, 'a')));
    const build::Packet v6 = build::ipv6(17, build::udp(4791, build::bth(0x11, build::hex("60000001"))));
    const build::Packet inner = build::ethernet(0x8100, build::vlan(0x6005, 0x0800, build::ipv4(17, write)));
    std::vector<std::unique_ptr<Packet>> out;
    out.push_back(std::make_unique<Packet>(build::ethernet(0x0800, build::ipv4(17, write))));
    out.push_back(std::make_unique<Packet>(build::ethernet(0x86dd, v6)));
    out.push_back(std::make_unique<Packet>(
        build::ethernet(0x0800, build::ipv4(17, build::udp(4789, build::hex("0800000000002a00") + inner)))));
    out.push_back(std::make_unique<Packet>(build::ethernet(0x0806, build::filled(28, 0))));
    return out;
  }();
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // reinterpret_cast: the bytes are the filter's characters.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto filter = analyze::Filter::compile(text);
  if (!filter) {
    const analyze::FilterError& error = filter.error();
    require(!error.message.empty());
    require(error.column >= 1 && error.column <= size + 1 && error.length >= 1);
    const std::string shown = error.describe(text);
    require(shown.find('^') != std::string::npos);
    return 0;
  }
  const auto negated = analyze::Filter::compile("!(" + std::string(text) + ")");
  for (const auto& packet : packets()) {
    const bool matches = filter->matches(packet->view);
    if (negated) require(negated->matches(packet->view) != matches);
  }
  return 0;
}
