// SPDX-License-Identifier: Apache-2.0
// Findings on the real captures of samples/: what deserves a warning is found, and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "analyze/pipeline/analysis.hpp"
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

using Ids = std::set<std::string>;

struct Expected {
  const char* sample;
  Ids must;      ///< with severity warning or error
  Ids may = {};  ///< the same
};

/// From what the scenarios did and what the drivers counted (samples/manifest.json). Every sample that is
/// not here must be without warnings.
const std::vector<Expected> expected = {
    // Slow machines repeat what had been answered: 184 and 129 of the drivers' duplicate_request.
    {"01_srq_pingpong.pcap.zst", {"spurious_retransmission"}},
    {"02_write_bw_bidir.pcap.zst", {"spurious_retransmission"}},
    {"06_mix_4qp.pcap.zst", {"spurious_retransmission"}},
    {"03_rping_noserver.pcap", {"cm_rejected"}},
    {"03_ucmatose_v6.pcap", {"cm_rejected"}},
    {"03_udaddy_v6.pcap", {"cm_rejected"}},
    {"10_nvmeof_discover.pcap", {"cm_rejected"}},
    {"10_nvmeof_io.pcap.zst", {"cm_rejected"}},
    {"10_srp.pcap", {"cm_rejected"}},
    {"04_ack_dup.ca.pcap.zst", {"duplicates_network"}},
    {"04_atomic_ackloss5.ca.pcap", {"loss_before_capture", "timeouts"}},
    {"04_atomic_ackloss5.cb.pcap", {"loss_after_capture", "timeouts"}},
    {"04_read_loss1.ca.pcap.zst", {"loss_before_capture", "read_storm"}, {"timeouts"}},
    {"04_read_loss1.cb.pcap.zst", {"loss_after_capture", "read_storm"}, {"timeouts"}},
    {"04_write_corrupt.ca.pcap.zst", {"loss_after_capture", "go_back_n_storm"}},
    {"04_write_corrupt.cb.pcap.zst", {"icrc_corruption", "go_back_n_storm"}},
    // Ahead of it, reordering can only be seen by its NAKs, and looks like loss.
    {"04_write_jitter.ca.pcap.zst", {"go_back_n_storm"}, {"loss_after_capture"}},
    {"04_write_jitter.cb.pcap.zst", {"go_back_n_storm", "reordering"}},
    {"04_write_reorder.ca.pcap.zst", {"go_back_n_storm"}, {"loss_after_capture"}},
    {"04_write_reorder.cb.pcap.zst", {"go_back_n_storm", "reordering"}},
    {"04_write_loss1.ca.pcap.zst", {"loss_after_capture", "go_back_n_storm"}},
    {"04_write_loss1.cb.pcap.zst", {"loss_before_capture", "go_back_n_storm"}},
    {"61_write_loss1.ca.pcap.zst", {"loss_after_capture", "go_back_n_storm"}},
    {"61_write_loss1.cb.pcap.zst", {"loss_before_capture", "go_back_n_storm"}},
    {"14_mtu1500_loss.ca.pcap.zst", {"loss_after_capture", "go_back_n_storm"}},
    {"14_mtu1500_loss.cb.pcap.zst", {"loss_before_capture", "go_back_n_storm"}},
    // Between its two interfaces.
    {"13_dumpcap_2if_loss.pcapng.zst", {"go_back_n_storm", "loss_between_points"}, {"timeouts"}},
    // netem marks CE, and Soft-RoCE sends no CNPs.
    {"07_ce_netem10.cb.pcap.zst", {"ce_without_cnp"}},
    {"07_ce_netem_v6.cb.pcap.zst", {"ce_without_cnp"}},
    {"09_vxlan_ce.bdecap.pcap.zst", {"ce_without_cnp"}},
    // Linux tunnels without `tos inherit`: DSCP 26 inside, 0 outside.
    {"09_gre.pcap.zst", {"tunnel_marking"}},
    {"09_gretap.pcap.zst", {"tunnel_marking"}},
    {"09_ip6gretap.pcap.zst", {"tunnel_marking"}},
    {"09_vxlan.pcap.zst", {"tunnel_marking"}},
    {"09_vxlan6.pcap.zst", {"tunnel_marking"}},
    {"09_vxlan_8472.pcap.zst", {"tunnel_marking"}},
    {"09_vxlan_ce.ca.pcap.zst", {"tunnel_marking"}},
    {"09_vxlan_ce.cb.pcap.zst", {"ce_without_cnp", "tunnel_marking"}},
    {"05_rnr_exhaust.pcap", {"rnr_exhausted"}},
    {"61_rnr_exhaust.pcap", {"rnr_exhausted"}},
    {"05_rnr_late.pcap.zst", {"rnr"}},
    {"05_rnr_writeimm.pcap.zst", {"rnr"}},
    {"06_badpsn.pcap", {"retries_exhausted"}},
    {"06_badqpn.pcap", {"retries_exhausted"}},
    // Everything arrived but the last requests, says duplicate_request.
    {"06_retry_exceeded.ca.pcap.zst", {"retries_exhausted", "spurious_retransmission"}, {"timeouts"}},
    {"06_retry_exceeded.cb.pcap.zst", {"retries_exhausted", "spurious_retransmission"}, {"timeouts"}},
    {"06_badrkey_write.pcap", {"remote_access_error"}},
    {"06_oob_write.pcap", {"remote_access_error"}},
    {"06_late_rkey_read.pcap", {"remote_access_error"}},
    {"06_noatomic.pcap", {"remote_access_error"}},
    {"06_nord_read.pcap", {"invalid_request"}},
    {"06_qp_noaccess_write.pcap", {"invalid_request"}},
    {"06_badlkey_recv.pcap", {"remote_operational_error"}},
    {"06_tinyrecv_send.pcap", {"remote_operational_error"}},
};

std::shared_ptr<const Snapshot> analyzed(const std::string& sample) {
  auto source = capture::open_files({std::string(ROCE_SAMPLES) + "/" + sample});
  if (!source) return nullptr;
  AnalysisOptions options;
  options.jobs = 1;
  return analyze(**source, options);
}

std::string listed(const Ids& ids) {
  std::string text;
  for (const std::string& id : ids) text += (text.empty() ? "" : ", ") + id;
  return text.empty() ? "nothing" : text;
}

TEST(FindingsOfSamples, AreThoseThatTheScenarioMakesAndNoOthers) {
  for (const auto& entry : std::filesystem::directory_iterator(ROCE_SAMPLES)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".pcap") == std::string::npos) continue;
    const auto snapshot = analyzed(name);
    ASSERT_NE(snapshot, nullptr) << name;
    Ids found;
    std::string texts;
    for (const Finding& f : snapshot->findings) {
      if (f.severity < Severity::warning) continue;
      found.insert(std::string(f.id));
      texts += "\n  " + std::string(f.id) + ": " + f.explanation;
    }
    const auto row =
        std::find_if(expected.begin(), expected.end(), [&](const Expected& e) { return name == e.sample; });
    const Ids must = row == expected.end() ? Ids{} : row->must;
    Ids may = row == expected.end() ? Ids{} : row->may;
    may.insert(must.begin(), must.end());
    EXPECT_TRUE(std::includes(found.begin(), found.end(), must.begin(), must.end()) &&
                std::includes(may.begin(), may.end(), found.begin(), found.end()))
        << name << ": expected " << listed(must) << ", found " << listed(found) << texts;
  }
  for (const Expected& e : expected)
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(ROCE_SAMPLES) / e.sample)) << e.sample;
}

TEST(FindingsOfSamples, HaveEvidenceInTheCaptureAndSayWhere) {
  for (const Expected& e : expected) {
    const auto snapshot = analyzed(e.sample);
    ASSERT_NE(snapshot, nullptr) << e.sample;
    for (const Finding& f : snapshot->findings) {
      ASSERT_FALSE(f.packets.empty()) << e.sample << " " << f.id;
      EXPECT_TRUE(std::is_sorted(f.packets.begin(), f.packets.end()));
      EXPECT_GE(f.packets.front(), 1U);
      EXPECT_LE(f.packets.back(), snapshot->frames_read) << e.sample << " " << f.id;
      for (const std::uint32_t id : f.connections) EXPECT_LT(id, snapshot->connections.size());
      expect_filters(f.advice);
    }
    EXPECT_TRUE(std::is_sorted(snapshot->findings.begin(), snapshot->findings.end(),
                               [](const Finding& a, const Finding& b) { return a.severity > b.severity; }));
  }
}

const Finding* finding_of(const Snapshot& snapshot, std::string_view id) {
  for (const Finding& f : snapshot.findings) {
    if (f.id == id) return &f;
  }
  return nullptr;
}

TEST(FindingsOfSamples, TellTheFiguresOfTheScenario) {
  const struct {
    const char* sample;
    const char* id;
    const char* words;
  } rows[] = {
      {"04_write_corrupt.cb.pcap.zst", "icrc_corruption",
       "from 10.77.0.1 to 10.77.0.2 arrived at the capture point with a wrong ICRC"},
      {"03_rping_noserver.pcap", "cm_rejected",
       "with reason 8, invalid service ID: nothing is listening there."},
      {"06_badqpn.pcap", "retries_exhausted", "No packet from 10.77.0.2 QP 0x0abcde was captured at all."},
      {"06_badpsn.pcap", "retries_exhausted", "the two ends were set up with different starting PSNs"},
      {"06_badrkey_write.pcap", "remote_access_error", "NAK 0x62, remote access error."},
      {"06_nord_read.pcap", "invalid_request", "refused RDMA READ Request (PSN "},
      {"05_rnr_exhaust.pcap", "rnr_exhausted",
       "had no receive posted and refused one request 4 times in a row"},
      {"06_mtu512.pcap", "path_mtu", "Path MTU 512 bytes"},
  };
  for (const auto& row : rows) {
    const auto snapshot = analyzed(row.sample);
    ASSERT_NE(snapshot, nullptr) << row.sample;
    const Finding* f = finding_of(*snapshot, row.id);
    ASSERT_NE(f, nullptr) << row.sample << " " << row.id;
    EXPECT_NE(f->explanation.find(row.words), std::string::npos) << row.sample << ": " << f->explanation;
  }
}

/// The samples named in the part "Sample" of a page, unless it says that there is none.
std::vector<std::string> samples_of_page(std::string_view id) {
  std::ifstream file(std::string(ROCE_SOURCE_DIR) + "/docs/findings/" + std::string(id) + ".md");
  std::ostringstream page;
  page << file.rdbuf();
  const std::string text = page.str();
  const std::string heading = "## Sample\n";
  const std::string part =
      text.substr(std::min(text.find(heading), text.size() - heading.size()) + heading.size());
  std::vector<std::string> samples;
  if (part.rfind("None", 0) == 0 || part.rfind("No recorded", 0) == 0 || part.rfind("Made", 0) == 0)
    return samples;
  const std::string folder = "`samples/";
  for (std::size_t at = 0; (at = part.find(folder, at)) != std::string::npos;) {
    at += folder.size();
    samples.push_back(part.substr(at, part.find('`', at) - at));
  }
  return samples;
}

TEST(FindingsOfSamples, ShowWhatTheirPagesSay) {
  std::size_t shown = 0;
  for (const FindingRule& rule : finding_rules()) {
    for (const std::string& sample : samples_of_page(rule.id)) {
      const auto snapshot = analyzed(sample);
      ASSERT_NE(snapshot, nullptr) << sample;
      EXPECT_NE(finding_of(*snapshot, rule.id), nullptr) << sample << " does not show " << rule.id;
      ++shown;
    }
  }
  EXPECT_GE(shown, 15U);
}

}  // namespace
}  // namespace roce::analyze
