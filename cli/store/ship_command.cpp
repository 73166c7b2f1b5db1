// SPDX-License-Identifier: Apache-2.0
// The command `ship`: adds what waits in a spool to a store.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

#include "analyze/store/sqlite_store.hpp"
#include "cli/core/command.hpp"
#include "cli/core/output.hpp"
#include "cli/store/spool.hpp"
#include "cli/store/store_export.hpp"

namespace roce::cli {
namespace {

struct ShipOptions {
  std::string spool;
  std::string target;
  bool once = false;
};

/// Waits so long, or for SIGINT or SIGTERM, which are blocked: true.
bool ends_within(std::chrono::seconds time) {
  sigset_t deadly;
  sigemptyset(&deadly);
  for (const int number : {SIGINT, SIGTERM}) sigaddset(&deadly, number);
  const timespec wait{.tv_sec = time.count(), .tv_nsec = 0};
  return ::sigtimedwait(&deadly, nullptr, &wait) > 0;
}

int run_ship(const ShipOptions& options) {
  if (auto made = analyze::SqliteStore::make_if_missing(options.target, program_version(), seconds_now());
      !made) {
    print_error(made.error());
    return exit_input;
  }
  const auto spool = SpoolReader::open(options.spool);
  if (!spool) {
    print_error(spool.error());
    return exit_input;
  }
  sigset_t deadly;
  sigemptyset(&deadly);
  for (const int number : {SIGINT, SIGTERM}) sigaddset(&deadly, number);
  if (!options.once) pthread_sigmask(SIG_BLOCK, &deadly, nullptr);
  constexpr std::chrono::seconds look{1}, patience{60};
  std::chrono::seconds wait = look;
  std::string told;
  std::uint64_t rejected = 0;
  while (true) {
    Shipped what;
    const auto done = ship(*spool, options.target, what);
    if (what.rejected != 0)
      print_error(
          fmt::format("{}: {} of no use are in {}/rejected", options.spool,
                      what.rejected == 1 ? std::string("a batch") : fmt::format("{} batches", what.rejected),
                      options.spool));
    rejected += what.rejected;
    if (!done && told != done.error().headline()) {
      told = done.error().headline();
      print_error(done.error());
    }
    if (done) told.clear();
    if (options.once) return done && rejected == 0 ? exit_ok : exit_input;
    // A store that does not answer is asked again after 1, 2, 4 ... 60 s.
    wait = done ? look : std::min(wait * 2, patience);
    if (ends_within(wait)) return rejected == 0 ? exit_ok : exit_input;
  }
}

}  // namespace

void add_ship(CLI::App& app, Action& action) {
  auto options = std::make_shared<ShipOptions>();
  CLI::App* command =
      app.add_subcommand("ship", "add what captures left in a spool to a store, and what comes");
  command->add_option("SPOOL", options->spool, "folder of capture --store")
      ->required()
      ->check(empty_error)
      ->type_name("");
  command->add_option("--to,--store", options->target, "the store: a file, which is made if there is none")
      ->required()
      ->check(empty_error)
      ->type_name("TARGET");
  command->add_flag("--once", options->once, "what is there now, then end");
  command->callback([options, &action] { action = [options] { return run_ship(*options); }; });
}

}  // namespace roce::cli
