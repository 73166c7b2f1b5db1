// SPDX-License-Identifier: Apache-2.0
#include "cli/store/store_export.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <filesystem>

#include "analyze/flow/psn_marks.hpp"
#include "analyze/store/rows.hpp"
#include "analyze/store/sqlite_store.hpp"
#include "capture/write/output_place.hpp"
#include "cli/core/confined_inputs.hpp"
#include "cli/core/output.hpp"
#include "cli/core/version.hpp"
#include "cli/store/run_number.hpp"
#include "cli/store/store_output.hpp"

namespace roce::cli {
namespace {

/// Marks of a flow: so many rows more, and between the last of them and the end of the flow lies one part
/// in so many at most.
constexpr std::size_t marks_at_most = 128;

/// "a" of "/captures/a.pcap.zst"
std::string base_name(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  for (const std::string_view ending : {".pcapng", ".pcap", ".cap"}) {
    if (const std::size_t at = name.find(ending); at != std::string::npos && at != 0)
      return name.substr(0, at);
  }
  return name;
}

std::string objection(const AnalyzeOptions& options) {
  if (!options.filter.empty() || !options.from.empty() || !options.to.empty() ||
      options.reading.packets != 0 || !options.reading.time.empty())
    return "a store has whole captures, by their content: -Y, --from, --until, -c and --max-time cannot be "
           "used with it (packets -Y FILTER -w FILE makes a capture of its own)";
  return {};
}

}  // namespace

std::optional<std::int64_t> parse_span(std::string_view text) {
  std::int64_t number = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  const std::int64_t seconds = unit == "s"   ? 1
                               : unit == "m" ? 60
                               : unit == "h" ? 3600
                               : unit == "d" ? 86400
                                             : 0;
  constexpr std::int64_t most = 1'000'000;  // days: longer than anybody has captured
  if (failure != std::errc() || seconds == 0 || number <= 0 || number > most) return std::nullopt;
  return number * seconds;
}

std::string span_error(const std::string& text) {
  return parse_span(text) ? std::string() : fmt::format("not a span of time: '{}' (90m, 72h, 30d)", text);
}

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string program_version() {
  const std::string text = version_text();
  return text.substr(0, text.find('\n'));
}

bool is_store_target(const std::string& target) {
  if (analyze::is_store_address(target)) return true;
  const capture::OwnedDescriptor file(::open(target.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  std::string head(128, '\0');
  const ssize_t got = file.get() < 0 ? -1 : ::read(file.get(), head.data(), head.size());
  if (got <= 0) return target.ends_with(store_ending);
  return analyze::SqliteStore::is_store(std::string_view(head).substr(0, static_cast<std::size_t>(got)));
}

int export_to_store(const AnalyzeOptions& options, const IdentityOptions& whose,
                    const analyze::StoreTarget& target) {
  if (const std::string wrong = objection(options); !wrong.empty()) return usage_error("export: " + wrong);
  const std::vector<std::string> files = expanded_files(options.files);
  analyze::StoreRun run;
  const auto number = run_number(files);
  if (!number) {
    print_error(number.error());
    return exit_input;
  }
  run.number = *number;
  run.program = program_version();
  run.point = "file";
  if (options.no_icrc) run.options = "--no-icrc";
  if (auto made = analyze::make_store_if_missing(target, run.program, seconds_now()); !made) {
    print_error(made.error());
    return exit_input;
  }
  {  // closed again before the process that adds is made
    auto store = analyze::open_store(target, analyze::Store::Access::write);
    auto there = store ? (*store)->has_run(run.number) : tl::unexpected(store.error());
    if (!there) {
      print_error(there.error());
      return exit_input;
    }
    if (*there) {
      print_error(
          fmt::format("{}: has this capture already, as run {}: nothing was added", target.name, run.number));
      return exit_ok;
    }
  }
  auto output = StoreOutput::create(target);
  if (!output) {
    print_error(output.error());
    return exit_input;
  }
  analyze::PsnMarks marks(marks_at_most);
  const Analyzed result = analyze_files(options, {output->get()}, nullptr, &marks);
  if (!result.snapshot) return result.status;
  const analyze::Snapshot& snapshot = *result.snapshot;
  analyze::StoreIdentity identity = whose.identity(base_name(files.front()));
  if (identity.device.empty() && !snapshot.interfaces.empty())
    identity.device = snapshot.interfaces.front().name;
  for (const analyze::StoreBatch& batch : capture_batches(snapshot, &marks, identity, run)) {
    if (auto added = (*output)->add(batch); !added) {
      print_error(added.error());
      return exit_input;
    }
  }
  if (auto finished = (*output)->finish(); !finished) {
    print_error(finished.error());
    return exit_input;
  }
  return status_with_findings(result, options);
}

}  // namespace roce::cli
