// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "analyze/pipeline/analysis.hpp"
#include "capture/core/source.hpp"
#include "cli/live/metric_values.hpp"
#include "cli/live/metrics_server.hpp"
#include "tests/analyze/results/hand_made.hpp"

namespace roce::cli {
namespace {

using analyze::Severity;
using analyze::Snapshot;

std::shared_ptr<const Snapshot> analysed(const std::string& path) {
  auto source = capture::open_files({path});
  EXPECT_TRUE(source.has_value()) << path;
  return analyze::analyze(**source, {});
}

std::vector<Metric> metrics_of(const Snapshot& snapshot) {
  MetricFacts facts;
  facts.device = "eth0";
  facts.totals = LiveTally().add(snapshot);
  return metric_values(snapshot, facts);
}

/// The sum of the samples of that name whose labels hold that text somewhere.
double sum_of(const std::vector<Metric>& metrics, const std::string& name, const std::string& label = {}) {
  double sum = 0;
  bool found = false;
  for (const Metric& metric : metrics) {
    if (metric.name != name) continue;
    found = true;
    for (const MetricSample& sample : metric.samples) {
      const bool wanted =
          label.empty() || std::any_of(sample.labels.begin(), sample.labels.end(),
                                       [&](const auto& pair) { return pair.second == label; });
      if (wanted) sum += sample.value;
    }
  }
  EXPECT_TRUE(found) << name;
  return sum;
}

TEST(Metrics, are_named_by_the_conventions) {
  const std::regex name("roceanalyze_[a-z]+(_[a-z0-9]+)*"), label("[a-z]+");
  std::set<std::string> seen;
  for (const Metric& metric : metrics_of(analyze::hand_made())) {
    EXPECT_TRUE(std::regex_match(metric.name, name)) << metric.name;
    EXPECT_TRUE(seen.insert(metric.name).second) << metric.name << " comes twice";
    EXPECT_EQ(metric.name.ends_with("_total"), metric.type == MetricType::counter) << metric.name;
    EXPECT_FALSE(metric.help.empty());
    EXPECT_TRUE(metric.help.ends_with(".")) << metric.help;
    for (const char* unit : {"_ns", "_ms", "_kb", "_bits", "_percent"})
      EXPECT_EQ(metric.name.find(unit), std::string::npos) << metric.name;
    std::set<std::vector<std::pair<std::string, std::string>>> labels;
    for (const MetricSample& sample : metric.samples) {
      EXPECT_TRUE(labels.insert(sample.labels).second) << metric.name << " has a sample twice";
      ASSERT_FALSE(sample.labels.empty());
      EXPECT_EQ(sample.labels[0].first, "device");
      for (const auto& [key, value] : sample.labels) {
        EXPECT_TRUE(std::regex_match(key, label)) << key;
        EXPECT_FALSE(value.empty()) << metric.name << " " << key;
      }
    }
  }
}

TEST(Metrics, each_is_documented_and_nothing_else) {
  std::ifstream file(std::string(ROCE_SOURCE_DIR) + "/docs/metrics.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string document = text.str();
  std::set<std::string> documented;
  const std::regex row(R"(\n\| `((roceanalyze|process)_[a-z0-9_]+)`)");
  for (std::sregex_iterator match(document.begin(), document.end(), row), end; match != end; ++match)
    documented.insert((*match)[1]);
  std::set<std::string> there;
  for (const Metric& metric : metrics_of(analyze::hand_made())) there.insert(metric.name);
  for (const Metric& metric : process_metrics()) there.insert(metric.name);
  EXPECT_EQ(documented, there);
}

TEST(Metrics, have_the_same_few_labels_for_every_capture) {
  constexpr std::size_t most = 600;  // samples: tables of protocols, priorities and rules
  std::map<std::string, std::set<std::string>> names;
  for (const auto& entry : std::filesystem::directory_iterator(ROCE_SAMPLES)) {
    if (entry.path().string().find(".pcap") == std::string::npos) continue;
    const std::shared_ptr<const Snapshot> snapshot = analysed(entry.path());
    std::size_t samples = 0;
    for (const Metric& metric : metrics_of(*snapshot)) {
      samples += metric.samples.size();
      for (const MetricSample& sample : metric.samples) {
        for (const auto& [key, value] : sample.labels) {
          names[metric.name].insert(key);
          EXPECT_EQ(value.find("10.77."), std::string::npos) << metric.name << ": an address";
        }
      }
    }
    EXPECT_LT(samples, most) << entry.path();
  }
  for (const auto& [name, keys] : names) EXPECT_LE(keys.size(), 3U) << name;
}

// An alert on an increase would miss the first one of a kind otherwise.
TEST(Metrics, of_diagnostics_begin_at_0_for_each_kind) {
  const auto values = [](const Snapshot& snapshot) {
    std::map<std::string, double> found;
    for (const Metric& metric : metrics_of(snapshot)) {
      if (metric.name != "roceanalyze_diagnostics_total") continue;
      for (const MetricSample& sample : metric.samples) found[sample.labels.at(1).second] = sample.value;
    }
    return found;
  };
  Snapshot snapshot;
  const auto before = values(snapshot);
  EXPECT_EQ(before.size(), analyze::diagnostic_count + static_cast<std::size_t>(capture::Incident::count_));
  for (const auto& [id, value] : before) EXPECT_EQ(value, 0) << id;
  snapshot.diagnostics = {{"cut_short", analyze::DiagnosticSeverity::data_loss, 3, "", {}}};
  auto expected = before;
  expected["cut_short"] = 3;
  EXPECT_EQ(values(snapshot), expected);
}

TEST(Metrics, say_what_the_report_says) {
  for (const auto& entry : std::filesystem::directory_iterator(ROCE_SAMPLES)) {
    const std::string path = entry.path();
    if (path.find(".pcap") == std::string::npos) continue;
    const std::shared_ptr<const Snapshot> s = analysed(path);
    const std::vector<Metric> metrics = metrics_of(*s);
    const auto equal = [&](const std::string& name, const std::string& label, std::uint64_t value) {
      EXPECT_EQ(sum_of(metrics, "roceanalyze_" + name, label), static_cast<double>(value))
          << path << " " << name;
    };
    equal("packets_total", "", s->totals.packets);
    equal("wire_bytes_total", "", s->totals.bytes);
    equal("roce_packets_total", "", s->totals.roce_packets);
    equal("opcode_packets_total", "", s->totals.roce_packets);
    equal("version_packets_total", "", s->totals.roce_packets);
    equal("ecn_packets_total", "", s->totals.roce_packets);
    equal("ecn_packets_total", "ce", s->totals.ecn[3]);
    equal("dscp_packets_total", "", s->totals.roce_packets);
    equal("priority_packets_total", "", s->totals.roce_packets);
    equal("icrc_packets_total", "", s->totals.roce_packets);
    equal("other_packets_total", "", s->totals.packets - s->totals.roce_packets);
    equal("connections", "", s->connections.size());
    equal("flows", "", s->flows.size());
    equal("findings", "", s->findings.size());
    equal("findings_reported_total", "", 0);
  }
}

TEST(Metrics, count_findings_by_rule_and_severity) {
  MetricFacts facts;
  facts.reports[{"loss_before_capture", Severity::error}] = 3;
  facts.reports[{"loss_before_capture", Severity::warning}] = 1;
  Snapshot snapshot;
  snapshot.findings.resize(2);
  for (analyze::Finding& finding : snapshot.findings) {
    finding.id = "capture_drops";
    finding.severity = Severity::notice;
  }
  const std::vector<Metric> metrics = metric_values(snapshot, facts);
  EXPECT_EQ(sum_of(metrics, "roceanalyze_findings_reported_total", "loss_before_capture"), 4);
  EXPECT_EQ(sum_of(metrics, "roceanalyze_findings_reported_total", "error"), 3);
  EXPECT_EQ(sum_of(metrics, "roceanalyze_findings", "capture_drops"), 2);
  EXPECT_EQ(sum_of(metrics, "roceanalyze_findings", "notice"), 2);
  // Every rule is there from the beginning, so that a rate sees its first finding.
  for (const analyze::FindingRule& rule : analyze::finding_rules())
    EXPECT_GE(sum_of(metrics, "roceanalyze_findings_reported_total", std::string(rule.id)), 0) << rule.id;
}

TEST(Metrics, counters_never_fall_and_gauges_do) {
  RisingCounters rising;
  const auto made = [](double counter, double gauge) {
    return std::vector<Metric>{
        {"a_total", "", MetricType::counter, {{{{"x", "1"}}, counter}, {{{"x", "2"}}, 5}}},
        {"b", "", MetricType::gauge, {{{}, gauge}}}};
  };
  std::vector<Metric> metrics = made(10, 10);
  rising.keep(metrics);
  metrics = made(7, 7);
  rising.keep(metrics);
  EXPECT_EQ(metrics[0].samples[0].value, 10);
  EXPECT_EQ(metrics[0].samples[1].value, 5);
  EXPECT_EQ(metrics[1].samples[0].value, 7);
  metrics = made(11, 1);
  rising.keep(metrics);
  EXPECT_EQ(metrics[0].samples[0].value, 11);
}

TEST(MetricsAddress, is_of_the_loopback_unless_told_otherwise) {
  const auto text = [](const char* input) {
    const auto address = parse_metrics_address(input);
    return address ? address->host + " " + std::to_string(address->port) : std::string("none");
  };
  EXPECT_EQ(text("9100"), "127.0.0.1 9100");
  EXPECT_EQ(text(":9100"), "127.0.0.1 9100");
  EXPECT_EQ(text("localhost:9100"), "127.0.0.1 9100");
  EXPECT_EQ(text("10.0.0.1:9100"), "10.0.0.1 9100");
  EXPECT_EQ(text("*:9100"), "0.0.0.0 9100");
  EXPECT_EQ(text("0"), "127.0.0.1 0");
  for (const char* wrong : {"", ":", "x", "65536", "-1", "1.2.3:9100", "host:9100", "[::1]:9100", "9100 ",
                            "1.2.3.4:", "1.2.3.4:+80", "1.2.3.4,80"}) {
    EXPECT_EQ(text(wrong), "none") << wrong;
    EXPECT_NE(metrics_address_error(wrong), "") << wrong;
  }
  EXPECT_EQ(metrics_address_error("9100"), "");
}

int connected_to(std::uint16_t port) {
  const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr generic{};
  std::memcpy(&generic, &where, sizeof where);
  EXPECT_EQ(::connect(peer, &generic, sizeof generic), 0);
  return peer;
}
/// What comes until the other end hangs up.
std::string all_from(int peer) {
  std::string text;
  char part[4096];
  for (ssize_t n = 0; (n = ::recv(peer, part, sizeof part, 0)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  ::close(peer);
  return text;
}
/// What the server answers to that request.
std::string answer(std::uint16_t port, const std::string& request) {
  const int peer = connected_to(port);
  EXPECT_EQ(::send(peer, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  return all_from(peer);
}
std::uint16_t port_of(const MetricsServer& server) {
  const std::string& url = server.url();
  return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
}

TEST(MetricsServer, serves_them_as_promtool_wants_them) {
  const std::shared_ptr<const Snapshot> snapshot =
      analysed(std::string(ROCE_SAMPLES) + "/04_write_loss1.cb.pcap.zst");
  auto server = MetricsServer::listen({}, [&] {
    std::vector<Metric> metrics = metrics_of(*snapshot);
    for (Metric& metric : process_metrics()) metrics.push_back(std::move(metric));
    return metrics;
  });
  ASSERT_TRUE(server.has_value()) << server.error().describe();
  const std::string text = answer(port_of(**server), "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK\r\n")) << text.substr(0, 200);
  EXPECT_NE(text.find("\nroceanalyze_roce_packets_total{device=\"eth0\"} 3705\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n# TYPE roceanalyze_connections gauge\n"), std::string::npos);
  EXPECT_NE(text.find("\nprocess_resident_memory_bytes "), std::string::npos);
  EXPECT_TRUE(answer(port_of(**server), "GET /etc/passwd HTTP/1.0\r\n\r\n").find(" 404 ") !=
              std::string::npos);
  EXPECT_TRUE(answer(port_of(**server), "GET /metrics/../../etc/passwd HTTP/1.0\r\n\r\n").find("root:") ==
              std::string::npos);
  EXPECT_NE(answer(port_of(**server), "nonsense\r\n\r\n").find(" 400 "), std::string::npos);

  if (std::system("command -v promtool >/dev/null") != 0) GTEST_SKIP() << "there is no promtool here";
  const auto file = std::filesystem::temp_directory_path() / ("roce_metrics_" + std::to_string(::getpid()));
  std::ofstream(file) << text.substr(text.find("\r\n\r\n") + 4);
  const std::string said = file.string() + ".said";
  const int status =
      std::system(("promtool check metrics <" + file.string() + " >" + said + " 2>&1").c_str());
  std::stringstream complaint;
  complaint << std::ifstream(said).rdbuf();
  EXPECT_EQ(status, 0) << complaint.str();
  std::filesystem::remove(file);
  std::filesystem::remove(said);
}

TEST(MetricsServer, lets_go_of_clients_when_it_ends) {
  auto server = MetricsServer::listen({}, [] { return std::vector<Metric>(); });
  ASSERT_TRUE(server.has_value()) << server.error().describe();
  const std::uint16_t port = port_of(**server);
  const int silent = connected_to(port), half = connected_to(port), third = connected_to(port);
  EXPECT_EQ(::send(half, "GET /met", 8, MSG_NOSIGNAL), 8);
  server->reset();
  for (const int peer : {silent, half, third}) (void)all_from(peer);  // ends
  // And the port is free for the next one.
  EXPECT_TRUE(MetricsServer::listen({"127.0.0.1", port}, [] { return std::vector<Metric>(); }).has_value());
}

TEST(MetricsServer, answers_while_others_send_nothing_or_read_slowly) {
  // Answers that no socket buffer holds.
  const auto values = [] {
    std::vector<Metric> metrics(1);
    metrics[0].name = "roceanalyze_large";
    metrics[0].samples.resize(4000, {{{"label", std::string(1000, 'x')}}, 1});
    return metrics;
  };
  auto server = MetricsServer::listen({}, values);
  ASSERT_TRUE(server.has_value()) << server.error().describe();
  const std::string request = "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n";
  std::vector<int> peers;
  for (int i = 0; i < 40; ++i) {
    const std::string part = request.substr(0, i < 4 ? request.size() : static_cast<std::size_t>(i) % 4);
    peers.push_back(connected_to(port_of(**server)));
    EXPECT_EQ(::send(peers.back(), part.data(), part.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(part.size()));
  }
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_GT(answer(port_of(**server), request).size(), 4'000'000U);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
  for (const int peer : peers) ::close(peer);
}

TEST(MetricsServer, says_why_it_cannot_listen) {
  auto first = MetricsServer::listen({}, [] { return std::vector<Metric>(); });
  ASSERT_TRUE(first.has_value());
  const auto second =
      MetricsServer::listen({"127.0.0.1", port_of(**first)}, [] { return std::vector<Metric>(); });
  ASSERT_FALSE(second.has_value());
  EXPECT_NE(second.error().describe().find("another process is listening there"), std::string::npos)
      << second.error().describe();
  const auto foreign = MetricsServer::listen({"192.0.2.1", 0}, [] { return std::vector<Metric>(); });
  ASSERT_FALSE(foreign.has_value());
  EXPECT_NE(foreign.error().describe().find("no such address"), std::string::npos)
      << foreign.error().describe();
}

}  // namespace
}  // namespace roce::cli
