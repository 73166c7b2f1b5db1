// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "analyze/pipeline/analysis.hpp"
#include "analyze/report/json/json_report.hpp"
#include "capture/confine/privileges.hpp"
#include "capture/confine/sandbox.hpp"
#include "capture/core/source.hpp"
#include "cli/live/metrics_server.hpp"
#include "cli/report/report.hpp"
#include "tests/capture/confine/in_child.hpp"

namespace roce::cli {
namespace {

TEST(ConfinedProgram, changes_nothing_in_what_an_analysis_says) {
  ROCE_NEEDS_FILTERS();
  const auto text_of = [](capture::CaptureSource& source) {
    analyze::AnalysisOptions options;
    options.jobs = 4;  // threads that begin in the sandbox
    const auto snapshot = analyze::analyze(source, options);
    std::string text = report_text(*snapshot, {100, false, 20});
    report_json(*snapshot, false, {text});
    return text;
  };
  const std::string paths[] = {"04_write_loss1.cb.pcap.zst", "13_dumpcap_2if_loss.pcapng.zst",
                               "01_rc_pingpong_s1.pcap"};
  for (const std::string& name : paths) {
    const std::string path = std::string(ROCE_SAMPLES) + "/" + name;
    EXPECT_EQ(capture::in_child([&]() -> std::string {
                auto open = capture::open_files({path}), confined_one = capture::open_files({path});
                if (!open || !confined_one) return "cannot be opened";
                const std::string expected = text_of(**open);
                if (const auto entered = capture::enter_sandbox({}); !entered)
                  return entered.error().describe();
                return text_of(**confined_one) == expected ? "" : "another report";
              }),
              "")
        << name;
  }
}

TEST(ConfinedProgram, lets_metrics_be_scraped_after_privileges_are_gone) {
  ROCE_NEEDS_FILTERS();
  int ports[2] = {-1, -1}, done[2] = {-1, -1};
  ASSERT_EQ(::pipe(ports), 0);
  ASSERT_EQ(::pipe(done), 0);
  std::thread client([&] {
    std::uint16_t port = 0;
    if (::read(ports[0], &port, sizeof port) != sizeof port) return;
    for (int i = 0; i < 3; ++i) {
      const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in where{};
      where.sin_family = AF_INET;
      where.sin_port = htons(port);
      where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      sockaddr generic{};
      std::memcpy(&generic, &where, sizeof where);
      EXPECT_EQ(::connect(peer, &generic, sizeof generic), 0);
      const std::string request = "GET /metrics HTTP/1.0\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n";
      EXPECT_GT(::send(peer, request.data(), request.size(), MSG_NOSIGNAL), 0);
      char part[4096];
      std::string answer;
      for (ssize_t n = 0; (n = ::recv(peer, part, sizeof part, 0)) > 0;)
        answer.append(part, static_cast<std::size_t>(n));
      EXPECT_NE(answer.find(" 200 OK"), std::string::npos) << answer;
      ::close(peer);
    }
    EXPECT_EQ(::write(done[1], "x", 1), 1);
  });
  const std::string result = capture::in_child([&]() -> std::string {
    auto server = MetricsServer::listen({}, [] { return process_metrics(); });
    if (!server) return server.error().describe();
    if (const auto dropped = capture::drop_privileges({}); !dropped) return dropped.error().describe();
    if (const auto entered = capture::enter_sandbox({}); !entered) return entered.error().describe();
    const std::string& url = (*server)->url();
    const auto port = static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
    char byte = 0;
    if (::write(ports[1], &port, sizeof port) != sizeof port || ::read(done[0], &byte, 1) != 1) return "pipe";
    if (process_metrics().size() != 4) return "metrics of the process are missing";
    server->reset();  // ends its threads
    return {};
  });
  EXPECT_EQ(result, "");
  ::close(ports[1]);
  client.join();
  for (const int end : {ports[0], done[0], done[1]}) ::close(end);
}

}  // namespace
}  // namespace roce::cli
