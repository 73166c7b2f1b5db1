// SPDX-License-Identifier: Apache-2.0
#include "dissect/ipfix.hpp"

#include <gtest/gtest.h>

#include "tests/dissect/ipfix_bytes.hpp"

namespace roce::dissect::ipfix {
namespace {

Part part_of(const Octets& octets, std::size_t cut = 0) {
  return {Bytes(octets.bytes).first(octets.bytes.size() - cut), octets.bytes.size()};
}

TEST(Ipfix, AMessageIsBoundByItsOwnLength) {
  Octets octets = ipfix_message(41, Octets().set(2, frame_template()));
  octets.put(4, 0);  // what follows is not its own
  Message message;
  ASSERT_EQ(read_message(part_of(octets), message), End::complete);
  EXPECT_FALSE(message.netflow9);
  EXPECT_EQ(message.sequence, 41U);
  EXPECT_EQ(message.domain, ipfix_domain);
  EXPECT_EQ(message.export_time, 1'700'000'000U);
  Sets sets = message.sets();
  Set set;
  ASSERT_TRUE(sets.next(set));
  EXPECT_EQ(set.kind, SetKind::templates);
  EXPECT_FALSE(sets.next(set));
  EXPECT_EQ(sets.end(), End::complete);

  Octets short_one = ipfix_message(1, {});
  short_one.bytes[3] = 15;
  EXPECT_EQ(read_message(part_of(short_one), message), End::contradicts);
  short_one.bytes[3] = 17;
  EXPECT_EQ(read_message(part_of(short_one), message), End::contradicts);
  short_one.bytes[1] = 8;
  EXPECT_EQ(read_message(part_of(short_one), message), End::contradicts);
  EXPECT_EQ(read_message(part_of(ipfix_message(1, {}), 1), message), End::cut);
}

TEST(Ipfix, NetFlowHasItsOwnHeadAndNumbersOfSets) {
  const Octets octets = netflow9_message(5, 1, Octets().set(0, frame_template()).set(256, frame_record()));
  Message message;
  ASSERT_EQ(read_message(part_of(octets), message), End::complete);
  EXPECT_TRUE(message.netflow9);
  EXPECT_EQ(message.uptime_ms, 60'000U);
  EXPECT_EQ(message.sequence, 5U);
  EXPECT_EQ(message.domain, ipfix_domain);
  Sets sets = message.sets();
  Set set;
  ASSERT_TRUE(sets.next(set));
  EXPECT_EQ(set.kind, SetKind::templates);
  ASSERT_TRUE(sets.next(set));
  EXPECT_EQ(set.kind, SetKind::data);
}

TEST(Ipfix, TemplatesWithForeignElementsAndScopes) {
  Octets body = Octets().words({300, 2, 0x8000 | 100, 4}).put(4, 2636).words({4, 1, 301, 2, 8, 4, 12, 4});
  Set set{2, SetKind::templates, part_of(body)};
  Templates templates(set, false);
  Template each;
  ASSERT_TRUE(templates.next(each));
  Elements rows(each, false);
  Element element;
  ASSERT_TRUE(rows.next(element));
  EXPECT_EQ(element.enterprise, 2636U);
  EXPECT_EQ(element.id, 100);
  EXPECT_EQ(element.length, 4);
  EXPECT_FALSE(element.scope);
  ASSERT_TRUE(rows.next(element));
  EXPECT_EQ(element.enterprise, 0U);
  EXPECT_EQ(element.id, 4);
  EXPECT_FALSE(rows.next(element));
  ASSERT_TRUE(templates.next(each));
  EXPECT_EQ(each.id, 301);
  EXPECT_FALSE(templates.next(each));
  EXPECT_EQ(templates.end(), End::complete);

  const Octets options = selector_template();
  set = {3, SetKind::options_templates, part_of(options)};
  Templates of_options(set, false);
  ASSERT_TRUE(of_options.next(each));
  EXPECT_EQ(each.count, 3);
  EXPECT_EQ(each.scopes, 1);
  Elements scoped(each, false);
  ASSERT_TRUE(scoped.next(element));
  EXPECT_TRUE(element.scope);
  ASSERT_TRUE(scoped.next(element));
  EXPECT_FALSE(element.scope);

  // NetFlow counts bytes of rows there, and fills up.
  const Octets netflow = Octets().words({258, 4, 8, 1, 4, 34, 4, 35, 1, 0});
  set = {1, SetKind::options_templates, part_of(netflow)};
  Templates of_netflow(set, true);
  ASSERT_TRUE(of_netflow.next(each));
  EXPECT_EQ(each.count, 3);
  EXPECT_EQ(each.scopes, 1);
  EXPECT_FALSE(of_netflow.next(each));
  EXPECT_EQ(of_netflow.end(), End::complete);
}

TEST(Ipfix, AWithdrawalHasNoRows) {
  const Octets body = Octets().words({256, 0, 3, 0});
  const Set set{3, SetKind::options_templates, part_of(body)};
  Templates templates(set, false);
  Template each;
  ASSERT_TRUE(templates.next(each));
  EXPECT_EQ(each.id, 256);
  EXPECT_EQ(each.count, 0);
  ASSERT_TRUE(templates.next(each));
  EXPECT_EQ(each.id, 3);
}

TEST(Ipfix, TemplatesThatLieContradict) {
  for (const Octets& body : {Octets().words({256, 9, 4, 1}), Octets().words({255, 1, 4, 1})}) {
    const Set set{2, SetKind::templates, part_of(body)};
    Templates templates(set, false);
    Template each;
    EXPECT_FALSE(templates.next(each));
    EXPECT_EQ(templates.end(), End::contradicts);
  }
  const Octets scopes = Octets().words({256, 1, 2, 4, 1});
  const Set set{3, SetKind::options_templates, part_of(scopes)};
  Templates templates(set, false);
  Template each;
  EXPECT_FALSE(templates.next(each));
  EXPECT_EQ(templates.end(), End::contradicts);
}

TEST(Ipfix, ValuesOfFixedAndVariableLength) {
  Octets octets;
  octets.put(2, 0x1234).variable({1, 2, 3}).variable(std::vector<std::uint8_t>(300, 7)).put(1, 9);
  Part rest = part_of(octets), value;
  ASSERT_EQ(take_value(rest, 2, value), End::complete);
  EXPECT_EQ(number_of(value), 0x1234U);
  ASSERT_EQ(take_value(rest, Element::variable, value), End::complete);
  EXPECT_EQ(value.declared, 3U);
  ASSERT_EQ(take_value(rest, Element::variable, value), End::complete);
  EXPECT_EQ(value.declared, 300U);
  EXPECT_FALSE(number_of(value));
  EXPECT_EQ(take_value(rest, 2, value), End::contradicts);
  ASSERT_EQ(take_value(rest, Element::variable, value), End::contradicts);

  const Octets cut = Octets().put(4, 1);
  rest = part_of(cut, 1);
  ASSERT_EQ(take_value(rest, 4, value), End::complete);
  EXPECT_TRUE(value.is_cut());
  EXPECT_FALSE(number_of(value));
}

TEST(Ipfix, AMirroredDropAgreesInEveryLength) {
  const auto drop_of = [](const Octets& octets, DropMirror& drop) {
    Message message;
    if (read_message(part_of(octets), message) != End::complete) return End::contradicts;
    Sets sets = message.sets();
    Set set;
    return sets.next(set) ? read_drop_mirror(message, set, drop) : End::contradicts;
  };
  DropMirror drop;
  ASSERT_EQ(drop_of(ipfix_message(1, drop_mirror()), drop), End::complete);
  EXPECT_EQ(drop.switch_id, 77U);
  EXPECT_EQ(drop.egress, 12);
  EXPECT_EQ(drop.ingress, 4);
  EXPECT_EQ(drop.reason(), mirror_egress_limit);
  EXPECT_EQ(drop.section.declared, sampled_roce().size());
  ASSERT_EQ(drop_of(ipfix_message(1, drop_mirror(0x1a00)), drop), End::complete);
  EXPECT_EQ(mirror_reason_name(drop.reason()), "destination discard");
  // Tomahawk 6: one code, whose range says where.
  const std::pair<std::uint16_t, std::uint32_t> codes[] = {
      {0x10ff, 0x010}, {0x93ff, 0x103}, {0x9900, 0x201}, {0x7900, 0}, {0x9700, 0}};
  for (const auto& [code, reason] : codes) {
    ASSERT_EQ(drop_of(ipfix_message(1, drop_mirror(code, 0x1239)), drop), End::complete);
    EXPECT_EQ(drop.reason(), reason) << code;
  }
  EXPECT_EQ(drop_of(ipfix_message(1, drop_mirror(3, 0x1235)), drop), End::contradicts);
  EXPECT_EQ(drop_of(ipfix_message(1, drop_mirror().raw(drop_mirror().bytes)), drop), End::contradicts);
  for (const std::size_t wrong : {41U, 43U}) {
    Octets octets = ipfix_message(1, drop_mirror());
    octets.bytes[wrong] ^= 1U;
    EXPECT_EQ(drop_of(octets, drop), End::contradicts) << wrong;
  }
}

TEST(Ipfix, DroppedIsWhatTheTopBitsSay) {
  EXPECT_TRUE(says_dropped(139));
  EXPECT_FALSE(says_dropped(64));
  EXPECT_FALSE(says_dropped(192));
  EXPECT_EQ(forwarding_status_name(status_wred), "WRED");
  EXPECT_TRUE(forwarding_status_name(190).empty());
}

}  // namespace
}  // namespace roce::dissect::ipfix
