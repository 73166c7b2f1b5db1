// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/core/command.hpp"
#include "cli/core/output.hpp"
#include "cli/core/version.hpp"

namespace {

using namespace roce::cli;

struct Command {
  std::string_view name;
  void (*add)(CLI::App&, Action&);
};
#define ROCE_ROW(name) {#name, add_##name},
constexpr Command commands[] = {ROCE_COMMANDS(ROCE_ROW)};
#undef ROCE_ROW

bool is_command(std::string_view word) {
  return std::any_of(std::begin(commands), std::end(commands),
                     [&](const Command& c) { return c.name == word; });
}

/// `roceanalyze FILE...` is short for `roceanalyze report FILE...`: inserts "report" unless the command line
/// begins with a command or requests help or the version.
std::vector<std::string> with_command(std::vector<std::string> words) {
  static constexpr std::array<std::string_view, 4> global = {"-h", "--help", "--version", "--help-all"};
  if (words.empty() || is_command(words.front())) return words;
  if (std::find(global.begin(), global.end(), words.front()) != global.end()) return words;
  words.insert(words.begin(), "report");
  return words;
}

int run_command(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "--version") {
    Output out;
    out.write(version_text());
    return out.finish();
  }

  CLI::App app("Packet dissector and traffic analyzer for RDMA over Converged Ethernet (RoCE).",
               "roceanalyze");
  app.footer("roceanalyze FILE... is short for roceanalyze report FILE...");
  app.require_subcommand(1);
  bool version = false;  // handled above; here for the help only
  app.add_flag("--version", version, "print the version and what is built in");
  Action action;
  for (const Command& command : commands) command.add(app, action);
  if (words.empty()) {
    print_error("no FILE and no command given");
    Output(2).write(app.help());
    return exit_usage;
  }
  try {
    words = with_command(std::move(words));
    std::reverse(words.begin(), words.end());  // CLI11 takes the words in reverse order
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success))
      return usage_error(error.what(), "Run with --help for more information.");
    (void)app.exit(error);  // not an error: help
    return exit_ok;
  }
  return action();
}

/// Opens descriptors 0 to 2 if the caller closed them: else the first files opened would get these numbers,
/// and standard output would be written into one of them.
void occupy_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    (void)::open("/dev/null", descriptor == 0 ? O_RDONLY : O_PATH);  // O_PATH: writing fails, as it should
  }
}

/// A ring may have thousands of files: raise the limit of open files to the maximum allowed.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Returns large blocks to the system when they are freed (glibc would raise the threshold): the parts of the
/// analysis are freed one by one while the report is built from them.
void give_memory_back() {
#ifdef __GLIBC__
  (void)::mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  raise_file_limit();
  give_memory_back();
  // write() to a closed pipe must fail instead of ending the process.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run_command(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
    return exit_input;
  } catch (const std::exception& error) {
    print_error(fmt::format("defect of the program: {}", error.what()));
    return exit_defect;
  }
}
