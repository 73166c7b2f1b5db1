// SPDX-License-Identifier: Apache-2.0
// Records of IPFIX and NetFlow, value by value, by the templates of frames before.
#include "analyze/exports/exported_records.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "analyze/exports/template_history.hpp"
#include "analyze/filter/field_registry.hpp"
#include "analyze/packet/packet_view.hpp"
#include "analyze/show/packet_json.hpp"
#include "analyze/show/packet_tree.hpp"
#include "tests/dissect/ipfix_bytes.hpp"

namespace roce::analyze {
namespace exported_records_test {
namespace {

using dissect::Octets;
using Bytes = std::vector<std::uint8_t>;

/// Frames one after the other, as `packets` reads them. Each is a heap block of its exact size.
class Reader {
 public:
  const PacketView& read(const Bytes& bytes, std::size_t captured) {
    block_.reset(new std::uint8_t[captured]);
    if (captured != 0) std::memcpy(block_.get(), bytes.data(), captured);
    frame_.data = block_.get();
    frame_.captured = static_cast<std::uint32_t>(captured);
    frame_.wire = static_cast<std::uint32_t>(bytes.size());
    frame_.time_ns = 1000;
    frame_.link_type = dissect::link_ethernet;
    dissect::dissect({frame_.data, captured}, frame_.wire, frame_.link_type, dissection_);
    view_ = {};
    view_.number = ++number_;
    view_.frame = &frame_;
    view_.dissection = &dissection_;
    if (dissection_.is_ipfix()) view_.exported = records_.read(number_, frame_, dissection_);
    return view_;
  }
  const PacketView& read(const Bytes& bytes) { return read(bytes, bytes.size()); }
  [[nodiscard]] std::string field(std::string_view name) const {
    Values values;
    extract(view_, *find_field(name), values);
    std::string out;
    for (const Value& value : values) {
      if (!out.empty()) out += ',';
      append_value(out, field_facts(*find_field(name)), value);
    }
    return out;
  }
  [[nodiscard]] std::string tree() const {
    std::string out;
    append_tree(out, view_);
    return out;
  }

 private:
  std::unique_ptr<std::uint8_t[]> block_;
  capture::Frame frame_;
  dissect::Dissection dissection_;
  PacketView view_;
  ExportedRecords records_;
  std::uint64_t number_ = 0;
};

Bytes templates(const Octets& rows) {
  return dissect::framed(dissect::ipfix_message(0, Octets().set(2, rows)));
}
Bytes data(const Octets& records, std::uint16_t set = 256) {
  return dissect::framed(dissect::ipfix_message(0, Octets().set(set, records)));
}

TEST(ExportedRecords, AreReadByTheTemplateOfAFrameBefore) {
  Reader reader;
  reader.read(data(dissect::frame_record()));
  EXPECT_EQ(reader.field("cflow.inputint"), "");
  reader.read(templates(dissect::frame_template()));
  reader.read(data(dissect::frame_record(7).raw(dissect::frame_record(8).bytes)));
  EXPECT_EQ(reader.field("cflow.selection_sequence_id"), "7,8");
  EXPECT_EQ(reader.field("cflow.inputint"), "3,3");
  EXPECT_EQ(reader.field("cflow.outputint"), "4,4");
  EXPECT_EQ(reader.field("cflow.data_link_frame_size"), "1102,1102");
  // The packets that they show are there as those of sFlow are.
  EXPECT_EQ(reader.field("infiniband.bth.destqp").substr(0, 2), "0x");
  const std::string tree = reader.tree();
  const std::size_t first = tree.find("    Record 1 (template 256)\n        Selection Sequence Id: 7\n");
  const std::size_t packet = tree.find("    Base Transport Header\n", first);
  const std::size_t second =
      tree.find("    Record 2 (template 256)\n        Selection Sequence Id: 8\n", packet);
  EXPECT_NE(second, std::string::npos) << tree;
  std::string json;
  PacketJson(false).append(json, reader.read(data(dissect::frame_record())));
  EXPECT_NE(json.find("\"cflow.inputint\":3"), std::string::npos) << json;
}

TEST(ExportedRecords, TemplatesAreThoseOfOneDomainAndChange) {
  Reader reader;
  reader.read(templates(Octets().words({256, 1, 10, 4})));
  reader.read(dissect::framed(dissect::ipfix_message(0, Octets().set(256, Octets().put(4, 9)), 10)));
  EXPECT_EQ(reader.field("cflow.inputint"), "");
  reader.read(data(Octets().put(4, 9)));
  EXPECT_EQ(reader.field("cflow.inputint"), "9");
  reader.read(templates(Octets().words({256, 1, 14, 2})));
  reader.read(data(Octets().put(2, 5).put(2, 6)));
  EXPECT_EQ(reader.field("cflow.inputint"), "");
  EXPECT_EQ(reader.field("cflow.outputint"), "5,6");
  reader.read(templates(Octets().words({256, 0})));
  reader.read(data(Octets().put(4, 9)));
  EXPECT_EQ(reader.field("cflow.outputint"), "");
}

TEST(ExportedRecords, WhatNobodyNamesIsShownByItsNumber) {
  Reader reader;
  reader.read(templates(Octets().words({256, 3, 8, 3, 0x8000 | 77, 2}).put(4, 9).words({999, 1})));
  reader.read(data(Octets().put(3, 0x010203).put(2, 0xabcd).put(1, 7)));
  EXPECT_EQ(reader.field("cflow.srcaddr"), "");  // no address has three bytes
  EXPECT_EQ(reader.field("ipfix.other_element"), "abcd,07");
  const std::string tree = reader.tree();
  EXPECT_NE(
      tree.find(
          "        SrcAddr: 010203\n        Element 77 of enterprise 9: abcd\n        Element 999: 07\n"),
      std::string::npos)
      << tree;
}

TEST(ExportedRecords, ScopesOfNetFlowAreNoElements) {
  Reader reader;
  const auto message = [](const Octets& sets) {
    return dissect::framed(dissect::netflow9_message(1, 1, sets), 2055);
  };
  reader.read(message(Octets().set(1, Octets().words({257, 4, 8, 1, 4, 48, 4, 50, 4}).put(2, 0))));
  reader.read(message(Octets().set(257, Octets().put(4, 1).put(4, 7).put(4, 64))));
  EXPECT_EQ(reader.field("cflow.octets"), "");
  EXPECT_EQ(reader.field("cflow.sampler_id"), "7");
  EXPECT_EQ(reader.field("cflow.sampler_random_interval"), "64");
  EXPECT_NE(reader.tree().find("Scope Element 1: 00000001\n"), std::string::npos) << reader.tree();
}

TEST(ExportedRecords, EveryTruncationAndEveryChangedByteIsSound) {
  const Bytes whole = data(dissect::frame_record(7).raw(dissect::frame_record(8).bytes));
  Reader reader;
  reader.read(templates(dissect::frame_template()));
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const PacketView& view = reader.read(whole, size);
    for (const dissect::ipfix::RecordValue& row : view.exported)
      ASSERT_LE(std::size_t{row.offset} + row.length, size);
    for (const dissect::Layer& layer : view.dissection->all())
      ASSERT_LE(std::size_t{layer.offset} + layer.length, size);
    (void)reader.tree();
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const std::uint8_t value : std::initializer_list<std::uint8_t>{0x00, 0x01, 0x7f, 0xff}) {
      Bytes changed = whole;
      changed[at] = value;
      reader.read(templates(dissect::frame_template()));
      for (const dissect::ipfix::RecordValue& row : reader.read(changed).exported)
        ASSERT_LE(std::size_t{row.offset} + row.length, changed.size());
      (void)reader.tree();
    }
  }
}

TEST(ExportedRecords, RecordsWithoutRoomForTheirPacketsSaySo) {
  Reader reader;
  reader.read(templates(dissect::frame_template()));
  Octets many;
  for (int i = 0; i < 60; ++i) many.raw(dissect::frame_record().bytes);
  const PacketView& view = reader.read(data(many));
  EXPECT_EQ(view.exported.size(), 60U * 5);
  EXPECT_EQ(view.dissection->stop, dissect::Stop::too_deep);
}

/// What the history says of each frame, the last one first, is what reading them in order said.
TEST(TemplateHistory, SaysOfEachFrameWhatReadingAllBeforeItSays) {
  const auto restarted = [](const Octets& sets) {  // another domain
    return dissect::framed(dissect::ipfix_message(0, sets, 10));
  };
  const Octets narrow = Octets().words({256, 1, 10, 4}), wide = Octets().words({256, 1, 14, 8});
  const std::vector<Bytes> frames = {
      data(Octets().put(4, 1)),
      templates(narrow),
      data(Octets().put(4, 2)),
      restarted(Octets().set(256, Octets().put(4, 3))),
      templates(narrow),  // again
      data(Octets().put(4, 4).put(4, 5)),
      templates(wide),
      data(Octets().put(8, 6)),
      dissect::framed(dissect::ipfix_message(0, Octets().set(256, Octets().put(4, 7)).set(2, narrow))),
      data(Octets().put(4, 8)),
      templates(Octets().words({256, 0})),
      data(Octets().put(4, 9)),
      templates(dissect::frame_template()),
      data(dissect::frame_record(7).raw(dissect::frame_record(8).bytes)),
  };
  ExportedRecords in_order;
  TemplateHistory history;
  std::vector<capture::Frame> read;
  std::vector<std::vector<dissect::ipfix::RecordValue>> said;
  std::vector<std::size_t> layers;
  dissect::Dissection d;
  const auto dissected = [&](const Bytes& bytes) {
    capture::Frame frame;
    frame.data = bytes.data();
    frame.captured = frame.wire = static_cast<std::uint32_t>(bytes.size());
    frame.link_type = dissect::link_ethernet;
    dissect::dissect(bytes, frame.wire, frame.link_type, d);
    return frame;
  };
  std::size_t values = 0;
  for (const Bytes& bytes : frames) {
    read.push_back(dissected(bytes));
    history.learn(read.size(), read.back(), d);
    const auto now = in_order.read(read.size(), read.back(), d);
    said.emplace_back(now.begin(), now.end());
    layers.push_back(d.layer_count);
    values += now.size();
  }
  EXPECT_EQ(values, 1U + 2 + 1 + 1 + 1 + 2 * 5);
  std::vector<dissect::ipfix::RecordValue> again;
  for (std::size_t i = frames.size(); i-- > 0;) {
    (void)dissected(frames[i]);
    history.read(i + 1, read[i], d, {}, again);
    EXPECT_EQ(d.layer_count, layers[i]) << i;
    ASSERT_EQ(again.size(), said[i].size()) << i;
    for (std::size_t k = 0; k < again.size(); ++k) {
      EXPECT_EQ(again[k].info, said[i][k].info);
      EXPECT_EQ(again[k].offset, said[i][k].offset);
      EXPECT_EQ(again[k].length, said[i][k].length);
      EXPECT_EQ(again[k].record, said[i][k].record);
    }
  }
}

}  // namespace
}  // namespace exported_records_test
}  // namespace roce::analyze
