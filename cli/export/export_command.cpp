// SPDX-License-Identifier: Apache-2.0
// The command `export`: the tables of a snapshot for other tools.
#include "cli/core/command.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "capture/core/paths.hpp"
#include "capture/write/output_file.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/core/output.hpp"
#include "cli/export/export_formats.hpp"

namespace roce::cli {
namespace {

using capture::Expected;
using capture::OutputFile;

struct ExportOptions {
  AnalyzeOptions analyze;
  std::string target;
  std::string format;               ///< empty: by the target's ending
  std::vector<std::string> tables;  ///< empty: all
};

bool wanted(const ExportOptions& options, std::string_view table) {
  const std::vector<std::string>& names = options.tables;
  return names.empty() || std::find(names.begin(), names.end(), table) != names.end();
}

bool is_folder(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

std::string file_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

const ExportFormat* format_named(std::string_view name) {
  const auto all = export_formats();
  const auto at = std::find_if(all.begin(), all.end(), [&](const ExportFormat& f) { return f.name == name; });
  return at == all.end() ? nullptr : &*at;
}

/// The format of a target: csv for folders, else by its extension; null if unknown.
const ExportFormat* format_of(const std::string& target) {
  if (target.ends_with('/') || is_folder(target)) return format_named("csv");
  const std::string name = file_name(target);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0) return nullptr;
  const std::string ending = name.substr(dot) + " ";
  for (const ExportFormat& format : export_formats()) {
    if (format.endings.find(ending) != std::string_view::npos) return &format;
  }
  return nullptr;
}

std::string formats_text() {
  std::string text;
  for (const ExportFormat& format : export_formats()) {
    text += fmt::format("{}  {:<12} {:<24} {}", text.empty() ? "" : "\n", format.name, format.endings,
                        format.help);
  }
  return text;
}

/// Whether both paths lead to the same regular file.
bool same_file(const std::string& a, const std::string& b) {
  struct stat of_a {
  }, of_b{};
  return ::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
         of_a.st_ino == of_b.st_ino && S_ISREG(of_a.st_mode);
}

/// The target of the export: files and folders appear complete or not at all.
class Target {
 public:
  Target(const ExportOptions& options, const ExportFormat& format) : options_(options), format_(format) {
    folder_ = options_.target;
    while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
  }
  ~Target() {
    for (const std::string_view name : chosen_tables()) {
      if (!temporary_.empty()) (void)::unlink(csv_in(temporary_, name).c_str());
    }
    if (!temporary_.empty()) (void)::rmdir(temporary_.c_str());
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /// Error message for wrong usage, before the captures are read: an input would be overwritten. Empty: none.
  [[nodiscard]] std::string objection() const {
    std::vector<capture::Error> ignored;
    const std::vector<std::string> inputs = capture::expand_paths(options_.analyze.files, ignored);
    for (const std::string& path : paths()) {
      for (const std::string& input : inputs) {
        if (same_file(path, input)) return fmt::format("--to {}: this is the capture itself", path);
      }
    }
    if (format_.write == nullptr && options_.target == "-")
      return "--to -: CSV is one file per table and needs a folder (for one table: "
             "roceanalyze flows FILE --csv)";
    return {};
  }
  /// Fails if the target is not writable, as far as can be checked before the captures are read.
  [[nodiscard]] Expected<void> obstacle() const {
    if (options_.target == "-") return {};
    const std::size_t slash = folder_.rfind('/');
    const std::string beside = slash == std::string::npos ? "." : slash == 0 ? "/" : folder_.substr(0, slash);
    if (::access(beside.c_str(), X_OK) != 0) return refused(options_.target, errno, "cannot be written");
    for (const std::string& path : paths()) {
      // A read-only file is meant to stay.
      if (::access(path.c_str(), F_OK) == 0 && ::access(path.c_str(), W_OK) != 0)
        return refused(path, errno, "cannot be written");
    }
    return {};
  }

  Expected<void> write(const ExportData& data) {
    if (format_.write == nullptr) return write_folder(data);
    return write_file(options_.target, [&](const ExportSink& sink) { return format_.write(data, sink); });
  }

 private:
  static tl::unexpected<capture::Error> refused(const std::string& path, int number, std::string_view what) {
    capture::Error error;
    error.kind = capture::ErrorKind::not_writable;
    error.path = path;
    error.system_errno = number;
    error.message = fmt::format("{}: {}", what, std::strerror(number));
    return tl::unexpected(error);
  }
  [[nodiscard]] static std::string csv_in(const std::string& folder, std::string_view table) {
    return fmt::format("{}/{}.csv", folder, table);
  }
  [[nodiscard]] std::vector<std::string> paths() const {
    if (format_.write != nullptr) return {options_.target};
    std::vector<std::string> all;
    for (const std::string_view name : chosen_tables()) all.push_back(csv_in(folder_, name));
    return all;
  }
  /// In the order of export_table_names(), not of the options.
  [[nodiscard]] std::vector<std::string_view> chosen_tables() const {
    std::vector<std::string_view> names;
    for (const std::string_view name : export_table_names()) {
      if (wanted(options_, name)) names.push_back(name);
    }
    return names;
  }

  static Expected<void> write_file(const std::string& path,
                                   const std::function<Expected<void>(const ExportSink&)>& write) {
    auto file = OutputFile::create(path);
    if (!file) return tl::unexpected(file.error());
    const ExportSink sink = [&file](std::string_view bytes) {
      return (*file)->append(bytes.data(), bytes.size());
    };
    if (auto written = write(sink); !written) return written;
    return (*file)->finish();
  }

  /// Writes all files into a temporary folder, then renames them.
  Expected<void> write_folder(const ExportData& data) {
    const bool there = is_folder(folder_);
    const std::string made = fmt::format("{}{}{}.tmp", folder_, there ? "/." : ".", ::getpid());
    if (::mkdir(made.c_str(), 0777) != 0) return refused(options_.target, errno, "the folder cannot be made");
    temporary_ = made;
    for (const auto& table : data.tables) {
      auto written = write_file(csv_in(made, table->name()),
                                [&](const ExportSink& sink) { return write_csv(*table, sink); });
      if (!written) return written;
    }
    if (!there) {
      if (::rename(made.c_str(), folder_.c_str()) != 0)
        return refused(options_.target, errno, "cannot be put in place");
      temporary_.clear();
      return {};
    }
    for (const auto& table : data.tables) {
      const std::string path = csv_in(folder_, table->name());
      if (::rename(csv_in(made, table->name()).c_str(), path.c_str()) != 0)
        return refused(path, errno, "cannot be put in place");
    }
    return {};
  }

  const ExportOptions& options_;
  const ExportFormat& format_;
  std::string folder_;     ///< the target without slashes at its end
  std::string temporary_;  ///< folder of files that are not in their place yet; empty: none
};

int run_export(const ExportOptions& options) {
  const ExportFormat* format =
      options.format.empty() ? format_of(options.target) : format_named(options.format);
  if (format == nullptr && options.target.ends_with(".csv"))
    return usage_error(
        "export --to: CSV is one file per table and needs a folder: --to DIR/ (for one table: "
        "roceanalyze flows FILE --csv)");
  if (format == nullptr)
    return usage_error(
        fmt::format("export --to {}: unknown format: set it with --format, or by the target's extension:",
                    options.target),
        formats_text());
  Target target(options, *format);
  if (const std::string objection = target.objection(); !objection.empty())
    return usage_error("export " + objection);
  if (const auto free = target.obstacle(); !free) {
    print_error(free.error());
    return exit_input;
  }
  const Analyzed result = analyze_files(options.analyze);
  if (!result.snapshot) return result.status;
  const analyze::Snapshot& snapshot = *result.snapshot;
  ExportTables tables = export_tables(snapshot);
  std::erase_if(tables, [&](const auto& table) { return !wanted(options, table->name()); });
  const std::string name = snapshot.files.empty() ? std::string() : file_name(snapshot.files.front().path);
  if (auto written = target.write({snapshot, tables, name}); !written) {
    print_error(written.error());
    return exit_input;
  }
  return result.status;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand(
      "export", "export flows, connections, findings, series and other tables: CSV, JSON, SQLite ...");
  command
      ->add_option("FILE", options->analyze.files,
                   "captures: pcap or pcapng, plain, .gz, .zst or .lz4; - is standard input")
      ->required();
  // --to is the target of the export, so the end of the time range is --until.
  command
      ->add_option("--from", options->analyze.from,
                   "only packets from this time on (UTC, epoch seconds, or +SECONDS after the first packet)")
      ->check(time_error)
      ->type_name("TIME");
  command->add_option("--until", options->analyze.to, "only packets up to this time")
      ->check(time_error)
      ->type_name("TIME");
  options->analyze.add_shared_to(*command);
  command
      ->add_option("--to", options->target,
                   "target; its extension selects the format: DIR/, .json, .ndjson, .sqlite, .om, .lp; "
                   "- is standard output")
      ->required()
      ->type_name("TARGET");
  command
      ->add_option("--format", options->format,
                   "csv, json, ndjson, sqlite, openmetrics, prometheus or influx")
      ->check([](const std::string& name) {
        return format_named(name) != nullptr
                   ? std::string()
                   : fmt::format("no format '{}'; formats are:{}", name, formats_text());
      })
      ->type_name("NAME");
  command->add_option("--table", options->tables, "only this table; may be repeated (default: all)")
      ->check([](const std::string& name) {
        const auto& names = export_table_names();
        return std::find(names.begin(), names.end(), name) != names.end()
                   ? std::string()
                   : fmt::format("no table '{}'; tables are: {}", name, fmt::join(names, " "));
      })
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("NAME");
  command->callback([options, &action] { action = [options] { return run_export(*options); }; });
}

}  // namespace roce::cli
