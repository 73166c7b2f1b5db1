// SPDX-License-Identifier: Apache-2.0
#include "cli/packets/packets.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace roce::cli {
namespace {

const std::string samples = ROCE_SAMPLES;
const std::string pingpong = samples + "/01_rc_pingpong_s1.pcap";  // 144 packets, 92 of RoCE, 46 ACKs

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A directory that goes away with its test.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "packets_test_XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

struct Result {
  int status = -1;
  std::string out, err;

  [[nodiscard]] std::size_t lines() const {
    return static_cast<std::size_t>(std::count(out.begin(), out.end(), '\n'));
  }
};

/// Runs in a child, with standard output and error in files (or output at `out_path`).
Result run(const PacketsOptions& options, const std::string& out_path = {}) {
  const Scratch scratch;
  const std::string out = out_path.empty() ? scratch.file("out") : out_path;
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGPIPE, SIG_IGN);
    const int out_fd = open(out.c_str(), O_WRONLY | O_CREAT, 0600);
    const int err_fd = open(scratch.file("err").c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(out_fd, 1);
    dup2(err_fd, 2);
    _exit(run_packets(options));
  }
  int status = 0;
  waitpid(child, &status, 0);
  Result result;
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (out_path.empty()) result.out = read_file(out);
  result.err = read_file(scratch.file("err"));
  return result;
}

PacketsOptions packets(const std::string& file = pingpong) {
  PacketsOptions options;
  options.files = {file};
  return options;
}

TEST(Packets, a_line_each) {
  const Result result = run(packets());
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.lines(), 144U);
  EXPECT_EQ(result.err, "");
}

TEST(Packets, filter_counts_as_the_manifest_does) {
  PacketsOptions options = packets();
  options.filter = "infiniband.aeth.syndrome == 31";
  EXPECT_EQ(run(options).lines(), 46U);
  options.filter = "roce.icrc.status == \"match\"";
  EXPECT_EQ(run(options).lines(), 92U);
  options.no_icrc = true;
  EXPECT_EQ(run(options).lines(), 0U);
}

TEST(Packets, count_is_of_packets_read_as_with_tshark) {
  PacketsOptions options = packets();
  options.reading.packets = 20;
  EXPECT_EQ(run(options).lines(), 20U);
  options.filter = "infiniband.aeth";
  options.format = "fields";
  options.fields = {"frame.number"};
  EXPECT_EQ(run(options).out, "13\n17\n19\n");
}

TEST(Packets, fields_with_header_separator_and_quotes) {
  PacketsOptions options = packets();
  options.reading.packets = 13;
  options.filter = "infiniband";
  options.format = "fields";
  options.fields = {"frame.number", "ip.addr", "infiniband.bth.destqp", "infiniband.reth.va"};
  EXPECT_EQ(run(options).out, "10\t10.77.0.1,10.77.0.2\t0x000015\t\n13\t10.77.0.2,10.77.0.1\t0x000015\t\n");
  options.field_options = {"header=y", "separator=;", "quote=d", "occurrence=l"};
  EXPECT_EQ(run(options).out,
            "frame.number;ip.addr;infiniband.bth.destqp;infiniband.reth.va\n"
            "\"10\";\"10.77.0.2\";\"0x000015\";\n\"13\";\"10.77.0.1\";\"0x000015\";\n");
}

TEST(Packets, wrong_usage_is_status_2_and_says_what_was_meant) {
  PacketsOptions options = packets();
  options.format = "fields";
  EXPECT_EQ(run(options).status, 2);
  options.fields = {"infiniband.bth.psm"};
  Result result = run(options);
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("did you mean infiniband.bth.psn"), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "");
  options = packets();
  options.filter = "infiniband.bth.psn ==";
  result = run(options);
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find('^'), std::string::npos) << result.err;
  for (const auto& [member, text] : std::vector<std::pair<std::string PacketsOptions::*, std::string>>{
           {&PacketsOptions::time, "q"},
           {&PacketsOptions::format, "xml"},
           {&PacketsOptions::from, "yesterday"}}) {
    options = packets();
    options.*member = text;
    EXPECT_EQ(run(options).status, 2) << text;
  }
  options = packets();
  options.field_options = {"colour=y"};
  EXPECT_EQ(run(options).status, 2);
  EXPECT_EQ(run(PacketsOptions()).status, 2);
}

TEST(Packets, times_bound_what_is_shown) {
  PacketsOptions options = packets();
  options.filter = "infiniband";
  options.format = "fields";
  options.fields = {"frame.number"};
  options.from = "+0.141";
  options.to = "+0.15";
  EXPECT_EQ(run(options).out, "13\n15\n");
  options.from = "1795171301.978";
  options.to = "2026-11-20T10:41:41.979Z";
  EXPECT_EQ(run(options).out, "13\n");
}

TEST(Packets, missing_and_cut_files_are_status_3_with_what_was_readable) {
  EXPECT_EQ(run(packets("/does/not/exist.pcap")).status, 3);
  const Scratch scratch;
  const std::string whole = read_file(pingpong);
  std::ofstream(scratch.file("cut.pcap"), std::ios::binary) << whole.substr(0, whole.size() - 5);
  const Result result = run(packets(scratch.file("cut.pcap")));
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.lines(), 143U);
  EXPECT_NE(result.err.find("cut.pcap: at byte"), std::string::npos) << result.err;
}

TEST(Packets, writes_what_matches_and_reads_it_again) {
  const Scratch scratch;
  PacketsOptions options = packets();
  options.filter = "infiniband.aeth";
  options.write = scratch.file("acks.pcapng");
  Result result = run(options);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "");
  PacketsOptions again = packets(options.write);
  again.format = "fields";
  again.fields = {"infiniband.bth.psn", "frame.time_epoch", "frame.len"};
  PacketsOptions first = packets();
  first.filter = options.filter;
  first.format = "fields";
  first.fields = again.fields;
  EXPECT_EQ(run(again).out, run(first).out);
  EXPECT_EQ(run(again).lines(), 46U);
  options.print = true;
  options.force = true;  // its own file of before
  EXPECT_EQ(run(options).lines(), 46U);
}

TEST(Packets, an_unwritable_capture_is_status_3_and_leaves_nothing) {
  const Scratch scratch;
  PacketsOptions options = packets();
  options.write = scratch.file("no/such/directory.pcapng");
  Result result = run(options);
  EXPECT_EQ(result.status, 3);
  EXPECT_NE(result.err.find("directory.pcapng"), std::string::npos) << result.err;
  EXPECT_EQ(scratch.entries(), 0U);
  options.write = "/dev/full";
  result = run(options);
  EXPECT_EQ(result.status, 3) << result.err;
}

TEST(Packets, a_full_standard_output_is_status_3) {
  const Result result = run(packets(), "/dev/full");
  EXPECT_EQ(result.status, 3);
  EXPECT_NE(result.err.find("standard output"), std::string::npos) << result.err;
}

TEST(Packets, a_reader_that_goes_away_is_no_error) {
  const Scratch scratch;
  const std::string fifo = scratch.file("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const pid_t reader = fork();
  if (reader == 0) {
    const int in = open(fifo.c_str(), O_RDONLY);
    char byte = 0;
    const bool got = read(in, &byte, 1) == 1;
    _exit(got ? 0 : 1);
  }
  PacketsOptions options = packets();
  options.tree = true;
  options.hex = true;
  const Result result = run(options, fifo);
  waitpid(reader, nullptr, 0);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
}

TEST(Packets, json_is_an_object_a_line) {
  PacketsOptions options = packets();
  options.format = "json";
  options.fields = {"frame.number", "infiniband.bth.psn"};
  options.reading.packets = 13;
  options.filter = "infiniband.aeth";
  EXPECT_EQ(run(options).out, "{\"frame.number\":13,\"infiniband.bth.psn\":5009560}\n");
}

// What the manifest's tools counted in 04_write_loss1: 46 packets lost between the two capture points.
const std::string lossy = samples + "/04_write_loss1.cb.pcap.zst";

PacketsOptions analysis_fields(const std::string& file, const std::string& filter) {
  PacketsOptions options = packets(file);
  options.filter = filter;
  options.format = "fields";
  options.fields = {"frame.number", "roce.analysis.retransmission.cause", "roce.analysis.lost"};
  return options;
}

TEST(Packets, verdicts_need_a_first_reading_of_all_packets) {
  EXPECT_EQ(run(analysis_fields(lossy, "roce.analysis.lost == before_capture")).lines(), 46U);
  const Result result = run(analysis_fields(lossy, "frame.number == 153"));
  EXPECT_EQ(result.out, "153\tnak\tbefore_capture\n");
  EXPECT_EQ(result.err, "");
}

TEST(Packets, a_count_limits_the_first_reading_too) {
  PacketsOptions options = analysis_fields(lossy, "roce.analysis.retransmission");
  options.reading.packets = 154;
  EXPECT_EQ(run(options).out, "153\tnak\tbefore_capture\n154\tnak\t\n");
}

TEST(Packets, lines_bear_marks_unless_told_not_to) {
  PacketsOptions options = packets(lossy);
  options.filter = "frame.number in {57, 153}";
  Result result = run(options);
  EXPECT_NE(result.out.find("[Gap 1]\n"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("[Retransmission, nak]  [Loss upstream]\n"), std::string::npos) << result.out;
  options.no_analysis = true;
  result = run(options);
  EXPECT_EQ(result.lines(), 2U);
  EXPECT_EQ(result.out.find('['), std::string::npos) << result.out;
}

TEST(Packets, no_analysis_does_not_go_with_what_needs_it) {
  PacketsOptions options = analysis_fields(lossy, "");
  options.no_analysis = true;
  Result result = run(options);
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("--no-analysis"), std::string::npos) << result.err;
  options.fields = {"frame.number"};
  options.filter = "roce.connection == 0";
  result = run(options);
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("--no-analysis"), std::string::npos) << result.err;
}

/// A line waits for as long as later packets may tell what it is.
TEST(Packets, a_pipe_says_what_a_file_does) {
  ::setenv("ROCEANALYZE_EPISODES", "1", 1);
  const Scratch scratch;
  const std::string fifo = scratch.file("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const pid_t writer = fork();
  if (writer == 0) {
    std::ofstream out(fifo, std::ios::binary);
    out << read_file(lossy);
    out.close();
    _exit(0);
  }
  const Result result = run(analysis_fields(fifo, "roce.analysis.retransmission"));
  waitpid(writer, nullptr, 0);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_GT(result.lines(), 1000U);
  EXPECT_TRUE(result.out == run(analysis_fields(lossy, "roce.analysis.retransmission")).out);
  ::unsetenv("ROCEANALYZE_EPISODES");
}

TEST(Packets, an_error_of_an_input_is_told_once) {
  const Scratch scratch;
  const std::string whole = read_file(pingpong);
  std::ofstream(scratch.file("cut.pcap"), std::ios::binary) << whole.substr(0, whole.size() - 5);
  const Result result = run(analysis_fields(scratch.file("cut.pcap"), ""));
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.lines(), 143U);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
}

TEST(Packets, flow_and_connection_numbers_are_those_of_the_report) {
  PacketsOptions options = packets(samples + "/10_nvmeof_io.pcap.zst");
  options.format = "fields";
  options.filter = "infiniband.bth.destqp == 0xc0";
  options.fields = {"roce.connection", "roce.direction"};
  options.reading.packets = 900;
  const Result result = run(options);
  EXPECT_GT(result.lines(), 10U);
  std::istringstream in(result.out);
  for (std::string line; std::getline(in, line);) EXPECT_EQ(line, "2\ta_to_b");
}

TEST(Packets, several_files_come_in_time_order) {
  PacketsOptions options = packets();
  options.files = {samples + "/06_sendinv.pcap", pingpong};
  options.format = "fields";
  options.fields = {"frame.time_epoch"};
  const Result result = run(options);
  EXPECT_EQ(result.status, 0) << result.err;
  std::istringstream in(result.out);
  std::string before, now;
  while (std::getline(in, now)) {
    EXPECT_LE(before, now);
    before = now;
  }
}

TEST(Packets, lists_its_fields) {
  PacketsOptions options;
  options.list_fields = true;
  const Result result = run(options);
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.out.find("infiniband.bth.psn\tnumber\tPacket Sequence Number\n"), std::string::npos);
}

}  // namespace
}  // namespace roce::cli
