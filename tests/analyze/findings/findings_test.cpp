// SPDX-License-Identifier: Apache-2.0
// The machinery of findings: rows, pages, order, bounds, grouping.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <sstream>

#include "analyze/findings/shared/grouping.hpp"
#include "analyze/findings/shared/texts.hpp"
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

const std::filesystem::path pages = std::filesystem::path(ROCE_SOURCE_DIR) / "docs" / "findings";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Findings, EveryRuleHasItsPageAndEveryPageItsRule) {
  std::set<std::string> ids;
  const std::string index = text_of(pages / "README.md");
  for (const FindingRule& rule : finding_rules()) {
    const std::string id(rule.id);
    EXPECT_TRUE(ids.insert(id).second) << "twice: " << id;
    EXPECT_EQ(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos) << id;
    EXPECT_FALSE(rule.title.empty()) << id;
    EXPECT_EQ(find_rule(id), &rule);
    const std::string page = text_of(pages / (id + ".md"));
    EXPECT_EQ(page.rfind("# " + id + "\n", 0), 0U) << "docs/findings/" << id << ".md";
    for (const char* part : {"## What it means", "## Computed from", "## Usual causes", "## What to do",
                             "## When it is wrong"}) {
      EXPECT_NE(page.find(part), std::string::npos) << id << ": no part " << part;
    }
    std::string commands = page;  // "roce.connection == N", and lines may break anywhere
    for (std::size_t at = 0; (at = commands.find("== N", at)) != std::string::npos;) commands[at + 3] = '0';
    std::replace(commands.begin(), commands.end(), '\n', ' ');
    expect_filters(commands);
    const std::string row =
        "| [" + id + "](" + id + ".md) | " + std::string(severity_name(rule.severity)) + " |";
    EXPECT_NE(index.find(row), std::string::npos) << "docs/findings/README.md has no row: " << row;
  }
  for (const auto& entry : std::filesystem::directory_iterator(pages)) {
    if (entry.path().stem() == "README") continue;
    EXPECT_TRUE(ids.count(entry.path().stem().string()) == 1) << entry.path() << " is the page of no rule";
  }
}

TEST(Findings, EveryRuleHasATriggerAndANearMiss) {
  std::string tests;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(ROCE_SOURCE_DIR) / "tests/analyze/findings")) {
    tests += text_of(entry.path());
  }
  for (const FindingRule& rule : finding_rules()) {
    std::string name;  // loss_by_capture -> LossByCapture
    for (std::size_t i = 0; i < rule.id.size(); ++i) {
      if (rule.id[i] == '_') continue;
      const bool capital = i == 0 || rule.id[i - 1] == '_';
      name += capital && rule.id[i] >= 'a' ? static_cast<char>(rule.id[i] - 'a' + 'A') : rule.id[i];
    }
    EXPECT_NE(tests.find("TEST(" + name + "Finding, Trigger"), std::string::npos) << name;
    EXPECT_NE(tests.find("TEST(" + name + "Finding, NearMiss"), std::string::npos) << name;
  }
}

TEST(Findings, NothingIsFoundInNothingOrInGoodConnections) {
  SnapshotMaker maker;
  find_all(maker.snapshot);
  EXPECT_TRUE(maker.snapshot.findings.empty());
  for (unsigned i = 0; i < 200; ++i) maker.connect(i % 7, 8 + i % 5);
  find_all(maker.snapshot);
  for (const Finding& f : maker.snapshot.findings) ADD_FAILURE() << f.id << ": " << f.explanation;
  Snapshot empty;
  find_all(empty);
  EXPECT_TRUE(empty.findings.empty());
}

TEST(Findings, MostSevereFirstThenByPacket) {
  FindingSink sink;
  const auto add = [&](Severity severity, std::vector<std::uint64_t> packets) {
    Finding f;
    f.id = "x";
    f.severity = severity;
    f.packets = std::move(packets);
    sink.add(std::move(f));
  };
  add(Severity::info, {1});
  add(Severity::error, {9, 0, 3, 9});
  add(Severity::error, {2});
  add(Severity::error, {0});  // no evidence, no finding
  add(Severity::error, {});
  const std::vector<Finding> found = sink.take_sorted();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].packets, std::vector<std::uint64_t>{2});
  EXPECT_EQ(found[1].packets, (std::vector<std::uint64_t>{3, 9}));
  EXPECT_EQ(found[2].severity, Severity::info);
  EXPECT_TRUE(sink.take_sorted().empty());
}

TEST(Findings, AreBoundedAndCountWhatWasLeftOut) {
  FindingSink sink;
  for (std::size_t i = 0; i < FindingSink::limit + 5; ++i) {
    Finding f;
    f.packets = {1};
    sink.add(std::move(f));
  }
  EXPECT_EQ(sink.dropped(), 5U);
  EXPECT_EQ(sink.take_sorted().size(), FindingSink::limit);
}

/// Anything at all, also what no tracker would say.
void fill_at_random(SnapshotMaker& maker, std::mt19937_64& random) {
  const auto pick = [&](std::uint64_t below) { return random() % below; };
  const auto count = [&]() -> std::uint64_t { return pick(3) == 0 ? random() >> pick(64) : pick(50); };
  const auto host_number = [&] { return static_cast<unsigned>(pick(12)); };
  for (std::uint64_t n = pick(60); n-- > 0;) {
    Connection& c = pick(4) == 0 ? maker.connect_half(host_number(), host_number())
                                 : maker.connect(host_number(), host_number());
    if (pick(9) == 0) c.flow = {};
    if (pick(3) == 0) c.cm = static_cast<std::uint32_t>(pick(20));
    c.pmtu = 256U << pick(6);
    c.pairing.confidence = static_cast<double>(pick(300)) / 100 - 1;
    for (unsigned side = 0; side < 2; ++side) {
      c.packets[side] = count();
      c.bytes[side] = count();
      Requester& r = c.requester[side];
      r.new_bytes = count();
      r.requests = count();
      r.retries_exhausted = pick(4) == 0;
      r.rnr_exhausted = pick(4) == 0;
      r.trouble->chains = count();
      r.trouble->worst_chain = {static_cast<std::uint32_t>(pick(99)),
                                static_cast<std::uint8_t>(random()),
                                static_cast<std::uint32_t>(random()),
                                count(),
                                count(),
                                static_cast<std::int64_t>(random()),
                                static_cast<std::int64_t>(random()),
                                count(),
                                count(),
                                false};
      if (pick(3) == 0) {
        r.trouble->rnr = std::make_unique<RnrStats>();
        r.trouble->rnr->coded_wait_ns = random();
        r.trouble->rnr->wait_ns.add(random());
      }
      for (int i = 0; i < 4; ++i) r.trouble->nak_reaction_ns.add(count());
      RefusedRequest& refused = r.trouble->refused.emplace_back();
      refused.syndrome = static_cast<std::uint8_t>(random());
      refused.opcode = static_cast<std::uint8_t>(random());
      refused.request_frame = pick(2);
      OperationStats& operation = r.operations.emplace_back();
      operation.latency_ns.add(random());
      for (std::size_t e = 0; e < event_count; ++e) {
        if (pick(3) != 0) continue;
        const std::int64_t time = pick(5) == 0 ? capture::no_time : static_cast<std::int64_t>(random());
        c.sent[side].add(static_cast<Event>(e), pick(5) == 0 ? 0 : pick(1000), time, count());
      }
    }
  }
  for (Flow& flow : maker.snapshot.flows) {
    flow.icrc_mismatches = pick(3) == 0 ? flow.packets : pick(20);
    flow.clear_df = pick(3);
    if (pick(4) == 0) flow.key.transport = dissect::Transport::roce_v1;
  }
  for (std::uint64_t n = pick(20); n-- > 0;) {
    CmExchange& e = maker.snapshot.exchanges.emplace_back();
    e.client = host(host_number());
    e.server = host(host_number());
    e.transport = dissect::Transport::roce_v2_ipv4;
    e.sidr = pick(2) == 0;
    e.service_id = random();
    e.response_timeout_code = static_cast<std::uint8_t>(random());
    e.rejected_by_server = pick(2) == 0;
    if (pick(2) == 0) e.reject_reason = static_cast<std::uint16_t>(pick(40));
    if (pick(2) == 0) e.sidr_status = static_cast<std::uint8_t>(pick(7));
    if (pick(2) == 0) e.ack_timeout_code = static_cast<std::uint8_t>(random());
    if (pick(2) == 0) e.retry_count = static_cast<std::uint8_t>(random());
    for (CmSeen* seen : {&e.req, &e.rep, &e.mra, &e.rej, &e.rtu, &e.dreq, &e.drep}) {
      if (pick(2) == 0)
        *seen = {pick(100), static_cast<std::int64_t>(random()), static_cast<std::uint32_t>(pick(4))};
    }
  }
  maker.snapshot.totals.icrc.fill(5);
  maker.snapshot.totals.by_transport.fill(5);
  maker.snapshot.totals.diagnostics.add(DiagnosticId::fragment, pick(2));
  maker.snapshot.totals.fragments = {1};
}

TEST(Findings, AnySnapshotIsBorneAndGivesAFewFindings) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 60; ++round) {
    SnapshotMaker maker;
    fill_at_random(maker, random);
    for (const FindingRule& rule : finding_rules()) {
      const std::vector<Finding> found = maker.run(rule.id);
      // A rule may have two kinds of its findings.
      EXPECT_LE(found.size(), 2 * findings_a_rule) << rule.id;
    }
  }
}

std::vector<Case> cases_of(const Snapshot& snapshot) {
  std::vector<Case> cases;
  for (const Connection& c : snapshot.connections) {
    Case one;
    one.connection = &c;
    one.of = 100;
    one.proof.count = c.id + 1;
    one.proof.add_frame(1000 - c.id);
    cases.push_back(std::move(one));
  }
  return cases;
}

TEST(Grouping, FewConnectionsOfAPairAreToldOneByOne) {
  SnapshotMaker maker;
  for (int i = 0; i < 3; ++i) maker.connect(1, 2);
  const std::vector<Group> groups = group_cases(cases_of(maker.snapshot));
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].first().connection->id, 2U);  // the first packet is the smallest number
  EXPECT_EQ(subject_text(groups[0]), "10.0.0.1 QP 0x000102 > 10.0.0.2 QP 0x000202");
  EXPECT_TRUE(scope_text(groups[0]).empty());
}

TEST(Grouping, ManyConnectionsOfAPairAreOne) {
  SnapshotMaker maker;
  for (int i = 0; i < 4; ++i) maker.connect(1, 2);
  maker.connect(2, 1);
  const std::vector<Group> groups = group_cases(cases_of(maker.snapshot));
  ASSERT_EQ(groups.size(), 2U);
  const Group& pair = groups[1];
  EXPECT_EQ(pair.kind, Group::Kind::pair);
  EXPECT_EQ(pair.connections, 4U);
  EXPECT_EQ(pair.count(), 1U + 2 + 3 + 4);
  EXPECT_EQ(pair.of, 400U);
  EXPECT_EQ(pair.worst().connection->id, 3U);
  EXPECT_EQ(subject_text(pair), "10.0.0.1 > 10.0.0.2 (4 connections)");
  EXPECT_EQ(scope_text(pair), "In 4 connections from 10.0.0.1 to 10.0.0.2: ");
}

TEST(Grouping, ManyPairsOfAHostAreOne) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 5; ++i) maker.connect(10 + i, 1);
  for (unsigned i = 0; i < 6; ++i) maker.connect(2, 20 + i);
  maker.connect(30, 31);
  const std::vector<Group> groups = group_cases(cases_of(maker.snapshot));
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(subject_text(groups[0]), "10.0.0.30 QP 0x00010b > 10.0.0.31 QP 0x00020b");
  EXPECT_EQ(subject_text(groups[1]), "10.0.0.2 > 6 hosts (6 connections)");
  EXPECT_EQ(subject_text(groups[2]), "5 hosts > 10.0.0.1 (5 connections)");
}

TEST(Grouping, EverybodyWithEverybodyIsOne) {
  SnapshotMaker maker;
  for (unsigned a = 0; a < 6; ++a) {
    for (unsigned b = 0; b < 6; ++b) {
      if (a != b) maker.connect(a, b);
    }
  }
  const std::vector<Group> groups = group_cases(cases_of(maker.snapshot));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(subject_text(groups[0]), "30 connections of 15 pairs of hosts");
}

TEST(Grouping, AThousandSickConnectionsMakeAFewFindings) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 1000; ++i)
    happen(maker.connect(2 * i, 2 * i + 1).sent[0], Event::lost_before_capture, 3);
  const std::vector<Finding> found = maker.run("loss_before_capture");
  ASSERT_EQ(found.size(), findings_a_rule);
  std::uint64_t count = 0;
  for (const Finding& f : found) count += f.count;
  EXPECT_EQ(count, 3000U);
  EXPECT_EQ(found.back().subject, "997 connections of 997 pairs of hosts");
  EXPECT_LE(found.back().connections.size(), 8U);
}

TEST(Grouping, ConfidenceFallsWithWhatIsMissing) {
  SnapshotMaker maker;
  EXPECT_DOUBLE_EQ(confidence_in(maker.snapshot, maker.connect(1, 2)), 1);
  EXPECT_DOUBLE_EQ(confidence_in(maker.snapshot, maker.connect_half(1, 2)), 0.6);
  maker.snapshot.interfaces.emplace_back().dropped_by_kernel = 7;
  EXPECT_DOUBLE_EQ(confidence_in(maker.snapshot, maker.snapshot.connections[0]), 0.6);
  maker.snapshot.interfaces.clear();
  happen(maker.snapshot.connections[0].sent[1], Event::lost_by_capture, 1);
  EXPECT_DOUBLE_EQ(confidence_in(maker.snapshot, maker.snapshot.connections[0]), 0.8);
}

TEST(Grouping, NoAddressOrderDependsOnHashes) {
  SnapshotMaker maker;
  for (unsigned i = 0; i < 300; ++i) maker.connect(i * 7919 % 300, i * 104729 % 311);
  const std::vector<Case> cases = cases_of(maker.snapshot);
  std::vector<Case> reversed(cases.rbegin(), cases.rend());
  const auto subjects = [](const std::vector<Group>& groups) {
    std::string all;
    for (const Group& group : groups) all += subject_text(group) + "\n";
    return all;
  };
  EXPECT_EQ(subjects(group_cases(cases)), subjects(group_cases(reversed)));
}

TEST(Grouping, AHundredThousandPairsTakeNoTime) {
  SnapshotMaker maker;
  maker.snapshot.flows.clear();
  for (unsigned i = 0; i < 60'000; ++i) {
    Connection& c = maker.connect(i / 3, 20'000 + i * 31 % 40'000);
    maker.snapshot.flows.clear();
    happen(c.sent[0], Event::lost_after_capture, 2, 1 + i);
  }
  EXPECT_EQ(maker.run("loss_after_capture").size(), findings_a_rule);
}

TEST(Texts, TimeoutCodesAreRounded) {
  EXPECT_EQ(timeout_code_of(0), 0U);
  EXPECT_EQ(timeout_code_of(4096), 0U);
  EXPECT_EQ(timeout_code_of(67'108'864), 14U);
  EXPECT_EQ(timeout_code_of(71'000'000), 14U);
  EXPECT_EQ(timeout_code_of(120'000'000), 15U);
  EXPECT_EQ(timeout_code_of(~std::uint64_t{0}), 31U);
}

}  // namespace
}  // namespace roce::analyze
