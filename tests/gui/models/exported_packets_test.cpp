// SPDX-License-Identifier: Apache-2.0
// Records of IPFIX in the window, which reads packets in any order.
#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/filter/filter.hpp"
#include "analyze/pipeline/analysis.hpp"
#include "analyze/show/packet_tree.hpp"
#include "capture/core/source.hpp"
#include "gui/models/packet_reader.hpp"
#include "gui/models/packet_store.hpp"
#include "tests/dissect/ipfix_bytes.hpp"

namespace roce::gui {
namespace exported_packets_test {
namespace {

using dissect::Octets;
using Bytes = std::vector<std::uint8_t>;

Bytes with(std::uint16_t set, const Octets& body) {
  return dissect::framed(dissect::ipfix_message(0, Octets().set(set, body)));
}

/// A file of pcap with these frames.
std::string written(const QTemporaryDir& folder, const std::vector<Bytes>& frames) {
  std::string file("\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\x04\0\x01\0\0\0", 24);
  const auto number = [&](std::size_t value) {
    for (unsigned shift = 0; shift < 32; shift += 8) file.push_back(static_cast<char>(value >> shift & 0xff));
  };
  for (const Bytes& frame : frames) {
    for (const std::size_t value : {std::size_t{1'700'000'000}, std::size_t{0}, frame.size(), frame.size()})
      number(value);
    file.append(frame.begin(), frame.end());
  }
  const std::string path = folder.filePath(QStringLiteral("x.pcap")).toStdString();
  std::ofstream(path, std::ios::binary) << file;
  return path;
}

/// As the window fills it.
std::shared_ptr<PacketStore> analysed(const std::string& path) {
  auto store = std::make_shared<PacketStore>();
  auto source = store->watch(*capture::open_files({path}));
  analyze::AnalysisOptions options;
  store->prepare(options);
  store->set_snapshot(analyze::analyze(*source, options));
  store->finish(std::stop_token());
  return store;
}

TEST(ExportedPackets, RecordsAreReadByTheTemplateOfAPacketBefore) {
  const QTemporaryDir folder;
  const auto store =
      analysed(written(folder, {with(256, Octets().put(4, 5)), with(2, dissect::frame_template()),
                                with(256, dissect::frame_record(7)), with(2, Octets().words({256, 1, 14, 4})),
                                with(256, Octets().put(4, 6))}));
  ASSERT_EQ(store->size(), 5U);
  PacketReader reader(store);
  const auto tree = [&](std::uint64_t number) {
    std::string text;
    const analyze::PacketView* const packet = reader.read(number, PacketNeeds::everything());
    if (packet != nullptr) analyze::append_tree(text, *packet);
    return text;
  };
  const auto has = [](const std::string& text, std::string_view words) {
    return text.find(words) != std::string::npos;
  };
  // Later ones first.
  EXPECT_TRUE(has(tree(5), "Record 1 (template 256)\n        OutputInt: 6\n")) << tree(5);
  EXPECT_TRUE(has(tree(3), "Selection Sequence Id: 7\n")) << tree(3);
  EXPECT_TRUE(has(tree(3), "    Base Transport Header\n")) << tree(3);
  EXPECT_FALSE(has(tree(1), "Record 1")) << tree(1);
  // Filters of the packet list know them, and the packet that is shown.
  const auto filter = analyze::Filter::compile("cflow.inputint == 3 && infiniband.bth.destqp");
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->matches(*reader.read(3, PacketNeeds::of(*filter))));
  EXPECT_FALSE(filter->matches(*reader.read(5, PacketNeeds::of(*filter))));
}

}  // namespace
}  // namespace exported_packets_test
}  // namespace roce::gui
