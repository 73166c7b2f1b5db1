// SPDX-License-Identifier: Apache-2.0
// The command `ship`: adds what waits in a spool to a store.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>

#include "analyze/store/store.hpp"
#include "cli/core/command.hpp"
#include "cli/core/output.hpp"
#include "cli/store/spool.hpp"
#include "cli/store/store_export.hpp"
#include "cli/store/target_options.hpp"

namespace roce::cli {
namespace {

struct ShipOptions {
  std::string spool;
  analyze::StoreTarget target;
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
  if (auto made = analyze::make_store_if_missing(options.target, program_version(), seconds_now()); !made) {
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
  std::chrono::seconds wait{1};
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
    wait = std::chrono::seconds(wait_after(done, wait.count()));
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
  command
      ->add_option("--to,--store", options->target.name,
                   "the store: a file, which is made if there is none, or "
                   "clickhouse://[user@]host[:port]/database")
      ->required()
      ->check(empty_error)
      ->type_name("TARGET");
  add_target_access(*command, options->target);
  command->add_flag("--once", options->once, "what is there now, then end");
  command->callback([options, &action] { action = [options] { return run_ship(*options); }; });
}

}  // namespace roce::cli
