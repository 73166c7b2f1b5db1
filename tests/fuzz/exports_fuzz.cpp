// SPDX-License-Identifier: Apache-2.0
// Datagrams of exporters one after the other, as a collector gets them: what is remembered of one decides how
// the next is read. Each begins with its length (16 bits) and its destination port.
#include <algorithm>
#include <utility>
#include <vector>

#include "analyze/exports/export_tracker.hpp"
#include "analyze/exports/exported_records.hpp"
#include "analyze/exports/template_history.hpp"
#include "dissect/dissect.hpp"
#include "require.hpp"

namespace {

using namespace roce;

/// IPv4 and UDP before it.
std::vector<std::uint8_t> framed(dissect::Bytes payload, std::uint16_t port) {
  std::vector<std::uint8_t> frame{0x45, 0, 0,  0, 0, 0, 0,    0,    64, 17, 0, 0, 10, 0,
                                  0,    7, 10, 0, 0, 1, 0xc3, 0x50, 0,  0,  0, 0, 0,  0};
  const auto put16 = [&](std::size_t at, std::size_t value) {
    frame[at] = static_cast<std::uint8_t>(value >> 8U);
    frame[at + 1] = static_cast<std::uint8_t>(value);
  };
  put16(2, frame.size() + payload.size());
  put16(22, port);
  put16(24, 8 + payload.size());
  frame.insert(frame.end(), payload.begin(), payload.end());
  return frame;
}

struct Datagram {
  std::uint64_t number = 0;
  std::vector<std::uint8_t> bytes;
  std::vector<dissect::ipfix::RecordValue> said;  ///< of its records, in the order of reading
};

capture::Frame frame_of(const std::vector<std::uint8_t>& bytes, std::uint64_t number,
                        dissect::Dissection& d) {
  capture::Frame frame;
  frame.data = bytes.data();
  frame.captured = frame.wire = static_cast<std::uint32_t>(bytes.size());
  frame.link_type = dissect::link_raw;
  frame.time_ns = static_cast<std::int64_t>(number) * 1000;
  dissect::dissect(bytes, frame.wire, frame.link_type, d);
  return frame;
}

/// Reading them again, the last one first, says the same.
void check_again(const analyze::TemplateHistory& history, const std::vector<Datagram>& datagrams) {
  std::vector<dissect::ipfix::RecordValue> again;
  dissect::Dissection d;
  for (auto each = datagrams.rbegin(); each != datagrams.rend(); ++each) {
    const capture::Frame frame = frame_of(each->bytes, each->number, d);
    history.read(each->number, frame, d, {}, again);
    require(again.size() == each->said.size(), "another number of values");
    for (std::size_t i = 0; i < again.size(); ++i) {
      require(again[i].info == each->said[i].info && again[i].offset == each->said[i].offset &&
                  again[i].length == each->said[i].length && again[i].record == each->said[i].record,
              "another value");
    }
  }
}

void check(const analyze::Exports& e) {
  using Book = analyze::ExportBook;
  require(e.agents.size() <= Book::agents_at_most && e.sources.size() <= Book::sources_at_most,
          "more than is followed");
  std::uint64_t samples = 0;
  for (const analyze::ExportFlow& flow : e.flows) samples += flow.counts.samples;
  require(samples <= e.samples(), "more samples of flows than samples");
  for (const analyze::ExportSource& source : e.sources) {
    require(source.per != 0 && source.roce <= source.samples, "a source contradicts itself");
    require(source.ingress + source.egress <= source.samples, "ways of more samples than there are");
  }
  for (const analyze::ExportDrop& drop : e.drops) {
    require(drop.agent < e.agents.size(), "a drop of nobody");
    require(!analyze::drop_reason_text(drop.reason).empty(), "a drop without a reason");
  }
  require(e.roce_flow_records <= e.flow_records, "more flow records of RoCE than there are");
  (void)analyze::exports_text(e);
  (void)analyze::export_gaps_text(e);
  (void)analyze::export_records_text(e);
  (void)analyze::sample_shares_text(e);
  for (const analyze::ExportDropGroup& group : analyze::drop_groups(e))
    (void)analyze::drop_place_text(e, group);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t head = 4, longest = 16'384;
  if (size > longest) return 0;
  analyze::ExportTracker tracker;
  analyze::ExportedRecords records;
  analyze::TemplateHistory history;
  std::vector<Datagram> datagrams;
  std::uint64_t number = 0;
  for (std::size_t at = 0; at + head <= size;) {
    const std::size_t length = std::min<std::size_t>(dissect::load_be16(data + at), size - at - head);
    std::vector<std::uint8_t> bytes = framed({data + at + head, length}, dissect::load_be16(data + at + 2));
    at += head + length;
    dissect::Dissection d;
    const capture::Frame frame = frame_of(bytes, ++number, d);
    if (d.is_export()) tracker.see(number, frame, d);
    if (!d.is_ipfix()) continue;
    history.learn(number, frame, d);
    const auto values = records.read(number, frame, d);
    for (const dissect::ipfix::RecordValue& value : values)
      require(std::size_t{value.offset} + value.length <= bytes.size(), "a value behind the end");
    for (const dissect::Layer& layer : d.all())
      require(std::size_t{layer.offset} + layer.length <= bytes.size(), "a header behind the end");
    datagrams.push_back({number, std::move(bytes), {values.begin(), values.end()}});
  }
  check_again(history, datagrams);
  if (tracker.any()) check(std::move(tracker).finish({}));
  return 0;
}
