// SPDX-License-Identifier: Apache-2.0
// Frames as mirrors deliver them, each with its length (2 bytes) before it: the stamps of switches, which
// stand in headers and in trailers behind the packet, and the numbers of mirrors and shells.
#include <cstdint>
#include <vector>

#include "analyze/numbered/numbered_packet.hpp"
#include "analyze/numbered/numbered_tracker.hpp"
#include "analyze/numbered/switch_time.hpp"
#include "dissect/bytes.hpp"
#include "dissect/dissect.hpp"
#include "dissect/trailer.hpp"
#include "tests/fuzz/require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace roce;
  constexpr std::size_t head = 2;
  constexpr std::int64_t begin_ns = 1'790'000'000'000'000'000;
  analyze::SwitchClock clock;
  analyze::NumberedTracker tracker;
  std::vector<analyze::NumberedPacket> packets;
  std::uint64_t number = 0;
  for (std::size_t at = 0; at + head <= size;) {
    const std::size_t length = std::min<std::size_t>(dissect::load_be16(data + at), size - at - head);
    const std::vector<std::uint8_t> bytes(data + at + head, data + at + head + length);
    at += head + length;
    capture::Frame frame;
    frame.data = bytes.data();
    frame.captured = frame.wire = static_cast<std::uint32_t>(bytes.size());
    frame.link_type = dissect::link_ethernet;
    frame.time_ns = begin_ns + static_cast<std::int64_t>(number) * 1000;
    dissect::Dissection d;
    dissect::dissect(bytes, frame.wire, frame.link_type, d);
    (void)clock.read(frame, d);
    dissect::dissect_trailer(bytes, frame.wire, frame.time_ns, d);
    for (const dissect::Layer& layer : d.all())
      require(std::size_t{layer.offset} + layer.length <= bytes.size(), "a header behind the end");
    packets.clear();
    analyze::note_numbered(++number, frame, d, packets);
    for (const analyze::NumberedPacket& packet : packets) {
      const analyze::MirrorStep step = tracker.see(packet);
      require(step.before < number, "belongs before a frame that is not there");
      require(!step.filled || step.before != 0, "fills a gap without having a place");
    }
  }
  const analyze::Numbered numbered = std::move(tracker).finish();
  for (const analyze::NumberedStream& stream : numbered.streams)
    require(stream.late + stream.duplicates <= stream.packets, "more late and double than there are");
  return 0;
}
