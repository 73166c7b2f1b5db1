// SPDX-License-Identifier: Apache-2.0
// What the sequence analysis says of a packet, as fields, in filters, lines, trees and JSON.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analyze/episode/note.hpp"
#include "analyze/filter/field_registry.hpp"
#include "analyze/filter/filter.hpp"
#include "analyze/packet/verdict.hpp"
#include "analyze/show/packet_json.hpp"
#include "analyze/show/packet_line.hpp"
#include "analyze/show/packet_tree.hpp"
#include "tests/analyze/packet/literal_packet.hpp"

namespace roce::analyze {
namespace {

class AnalysisFields : public ::testing::Test {
 protected:
  AnalysisFields() { packet_.view().verdict = &verdict_; }

  [[nodiscard]] std::string print(std::string_view name) const {
    Values values;
    const auto field = find_field(name);
    if (!field) return "no such field";
    extract(packet_.view(), *field, values);
    std::string out;
    for (const Value& value : values) append_value(out, field_facts(*field), value);
    return out;
  }
  [[nodiscard]] bool matches(std::string_view expression) const {
    auto filter = Filter::compile(expression);
    if (!filter) ADD_FAILURE() << filter.error().describe(expression);
    return filter && filter->matches(packet_.view());
  }
  [[nodiscard]] std::string line() const {
    std::string out;
    PacketLine().append(out, packet_.view());
    return out;
  }

  LiteralPacket packet_{ipv4_acknowledge};
  Verdict verdict_;
};

Verdict retransmission() {
  Verdict v;
  v.connection = 4;
  v.set(Verdict::b_to_a);
  v.set(Verdict::retransmission);
  v.cause = Cause::nak;
  v.original = 123;
  v.lost_after = 1;
  v.request = 99;
  v.response = 130;
  v.response_time_ns = 1500;
  v.set(Verdict::response_time_known);
  v.in_flight = 0;
  v.set(Verdict::in_flight_known);
  return v;
}

TEST_F(AnalysisFields, a_flag_exists_only_where_it_is_true) {
  std::size_t fields = 0;
  for (const FieldRef field : all_fields()) {
    if (!field_facts(field).needs_analysis) continue;
    ++fields;
    Values values;
    extract(packet_.view(), field, values);
    EXPECT_TRUE(values.empty()) << field_facts(field).name;
    packet_.view().verdict = nullptr;
    extract(packet_.view(), field, values);
    EXPECT_TRUE(values.empty()) << field_facts(field).name;
    packet_.view().verdict = &verdict_;
  }
  EXPECT_EQ(fields, 28U);
  for (const std::pair<Verdict::Flag, std::string_view>& row :
       {std::pair<Verdict::Flag, std::string_view>{Verdict::retransmission, "roce.analysis.retransmission"},
        {Verdict::spurious, "roce.analysis.spurious"},
        {Verdict::duplicate_capture, "roce.analysis.duplicate_capture"},
        {Verdict::duplicate_network, "roce.analysis.duplicate_network"},
        {Verdict::out_of_order, "roce.analysis.out_of_order"},
        {Verdict::ack_unseen, "roce.analysis.ack_unseen"},
        {Verdict::illegal_sequence, "roce.analysis.illegal_sequence"},
        {Verdict::wrong_length, "roce.analysis.wrong_length"},
        {Verdict::msn_backwards, "roce.analysis.msn_backwards"},
        {Verdict::source_mac_changed, "roce.analysis.source_mac_changed"},
        {Verdict::lost_between_points, "roce.analysis.lost_between_points"},
        {Verdict::time_backwards, "roce.analysis.time_backwards"}}) {
    verdict_ = {};
    verdict_.set(row.first);
    EXPECT_EQ(print(row.second), "1");
    EXPECT_TRUE(matches(row.second)) << row.second;
    EXPECT_TRUE(matches("roce.analysis.flags")) << row.second;
  }
}

TEST_F(AnalysisFields, values_as_the_table_of_fields_says) {
  verdict_ = retransmission();
  EXPECT_EQ(print("roce.connection"), "4");
  EXPECT_EQ(print("roce.direction"), "b_to_a");
  EXPECT_EQ(print("roce.analysis.retransmission.cause"), "nak");
  EXPECT_EQ(print("roce.analysis.retransmission.original"), "123");
  EXPECT_EQ(print("roce.analysis.duplicate_of"), "");
  EXPECT_EQ(print("roce.analysis.lost"), "after_capture");
  EXPECT_EQ(print("roce.analysis.lost.packets"), "1");
  EXPECT_EQ(print("roce.analysis.lost.direction"), "a_to_b");  // a NAK of b asks for what a had sent
  EXPECT_EQ(print("roce.analysis.request"), "99");
  EXPECT_EQ(print("roce.analysis.response"), "130");
  EXPECT_EQ(print("roce.analysis.response_time"), "0.000001500");
  EXPECT_EQ(print("roce.analysis.in_flight"), "0");
  EXPECT_EQ(print("roce.analysis.gap"), "");
  verdict_.gap = 3;
  EXPECT_EQ(print("roce.analysis.gap"), "3");
  EXPECT_EQ(print("roce.incident"), "");
  verdict_.incident = 13;
  EXPECT_EQ(print("roce.incident"), "12") << "ids count from 0";
  EXPECT_TRUE(matches("roce.incident == 12"));
  EXPECT_EQ(print("roce.analysis.rule"), "");
  verdict_.rule = static_cast<std::uint8_t>(episode::Rule::sequence_nak);
  EXPECT_EQ(print("roce.analysis.rule"), "sequence_nak");
  EXPECT_TRUE(matches("roce.analysis.rule == \"sequence_nak\""));
  verdict_.connection = 0;
  verdict_.clear(Verdict::b_to_a);
  EXPECT_EQ(print("roce.connection"), "0");
  EXPECT_EQ(print("roce.direction"), "a_to_b");
}

TEST_F(AnalysisFields, one_packet_may_show_several_losses) {
  verdict_.connection = 4;
  verdict_.lost_before = 2;
  verdict_.missed = 3;
  verdict_.missed_of_other = 70'000;
  EXPECT_EQ(print("roce.analysis.lost"), "before_captureby_captureby_capture");
  EXPECT_EQ(print("roce.analysis.lost.packets"), "2370000");
  EXPECT_EQ(print("roce.analysis.lost.direction"), "a_to_ba_to_bb_to_a");
  EXPECT_TRUE(matches("roce.analysis.lost == by_capture && roce.analysis.lost.direction == b_to_a"));
  EXPECT_TRUE(matches("roce.analysis.flags"));
}

TEST_F(AnalysisFields, filters_ask_for_them_and_say_so) {
  verdict_ = retransmission();
  EXPECT_TRUE(matches("roce.connection == 4 && roce.direction == b_to_a"));
  EXPECT_TRUE(matches("roce.analysis.retransmission.cause in {\"nak\", \"timeout\"}"));
  EXPECT_TRUE(matches("roce.analysis.response_time > 0.000001 && roce.analysis.response_time < 0.000002"));
  EXPECT_FALSE(matches("roce.analysis.spurious"));
  EXPECT_FALSE(matches("roce.analysis.lost == \"before_capture\""));
  EXPECT_TRUE(Filter::compile("roce.analysis.gap > 2")->needs_analysis());
  EXPECT_TRUE(Filter::compile("ip && !(roce.connection == 1)")->needs_analysis());
  EXPECT_TRUE(Filter::compile("roce.direction")->needs_history());
  EXPECT_FALSE(Filter::compile("roce.flow == 1 && roce.icrc.status == match")->needs_analysis());
}

TEST_F(AnalysisFields, a_word_that_a_field_never_says_is_an_error) {
  const auto typo = Filter::compile("roce.analysis.lost == after");
  ASSERT_FALSE(typo);
  EXPECT_EQ(typo.error().column, 23U);
  EXPECT_EQ(typo.error().message,
            "roce.analysis.lost has no value after; expected before_capture, after_capture, by_capture, "
            "trimmed, undecided");
  EXPECT_FALSE(Filter::compile("roce.direction in {a_to_b, c_to_d}"));
  EXPECT_FALSE(Filter::compile("roce.icrc.status != \"bad\""));
  EXPECT_TRUE(Filter::compile("roce.analysis.lost contains after"));
  EXPECT_TRUE(Filter::compile("roce.analysis.lost[0:5] == after"));
  EXPECT_TRUE(Filter::compile("roce.analysis.retransmission.cause matches \"^read\""));
}

TEST_F(AnalysisFields, lines_bear_short_marks) {
  EXPECT_EQ(line().find('['), std::string::npos);
  verdict_ = retransmission();
  EXPECT_NE(line().find("  [Retransmission of 123, nak]  [Loss downstream]"), std::string::npos) << line();
  verdict_.set(Verdict::spurious);
  verdict_.original = 0;
  verdict_.cause = Cause::timeout;
  EXPECT_NE(line().find("  [Spurious retransmission, timeout]"), std::string::npos) << line();
  verdict_ = {};
  verdict_.gap = 3;
  verdict_.lost_before = 3;
  EXPECT_TRUE(line().ends_with("  [Gap 3]  [Loss upstream: 3]")) << line();
  verdict_ = {};
  verdict_.set(Verdict::duplicate_capture);
  verdict_.original = 6;
  EXPECT_TRUE(line().ends_with("  [Duplicate of 6, capture]")) << line();
  EXPECT_EQ(print("roce.analysis.duplicate_of"), "6");
  EXPECT_EQ(print("roce.analysis.retransmission.original"), "");
  verdict_ = {};
  verdict_.set(Verdict::out_of_order);
  verdict_.set(Verdict::ack_unseen);
  EXPECT_TRUE(line().ends_with("  [Out of order]  [ACK of unseen PSN]")) << line();
}

TEST_F(AnalysisFields, trees_have_a_part_of_their_own) {
  std::string tree;
  append_tree(tree, packet_.view());
  EXPECT_EQ(tree.find("[RoCE analysis]"), std::string::npos);
  verdict_ = retransmission();
  tree.clear();
  append_tree(tree, packet_.view());
  EXPECT_NE(tree.find("[RoCE analysis]\n    Connection: 4\n    Direction: b_to_a\n"
                      "    Retransmission: True\n    Cause of the retransmission: nak\n"
                      "    Retransmission of frame: 123\n"),
            std::string::npos)
      << tree;
  EXPECT_NE(tree.find("    Response time: 0.000001500 seconds\n"), std::string::npos) << tree;
  bool found = false;
  for (const TreeLine& row : packet_tree(packet_.view()))
    found = found || row.field == "roce.analysis.retransmission.original";
  EXPECT_TRUE(found);
}

TEST_F(AnalysisFields, json_has_them_too) {
  verdict_ = retransmission();
  PacketJson json;
  std::string out;
  json.append(out, packet_.view());
  EXPECT_NE(out.find(",\"roce.connection\":4,\"roce.direction\":\"b_to_a\","
                     "\"roce.analysis.retransmission\":true,\"roce.analysis.retransmission.cause\":\"nak\","
                     "\"roce.analysis.retransmission.original\":123,"),
            std::string::npos)
      << out;
  EXPECT_EQ(out.find("roce.analysis.spurious"), std::string::npos);
}

}  // namespace
}  // namespace roce::analyze
