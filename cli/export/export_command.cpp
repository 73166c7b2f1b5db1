// SPDX-License-Identifier: Apache-2.0
// The command `export`: the tables of a snapshot for other tools.
#include "cli/core/command.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "capture/write/output_file.hpp"
#include "capture/write/output_folder.hpp"
#include "capture/write/output_place.hpp"
#include "cli/core/analyze_options.hpp"
#include "cli/core/confined_inputs.hpp"
#include "cli/core/output.hpp"
#include "cli/core/output_files.hpp"
#include "cli/export/export_formats.hpp"
#include "cli/store/identity_options.hpp"
#include "cli/store/store_export.hpp"
#include "cli/store/target_options.hpp"

namespace roce::cli {
namespace {

using capture::Expected;
using capture::OutputFile;

struct ExportOptions {
  AnalyzeOptions analyze;
  std::string target;
  std::string format;               ///< empty: by the target's ending
  std::vector<std::string> tables;  ///< empty: all
  bool force = false;
  IdentityOptions whose;       ///< of a store
  analyze::StoreTarget store;  ///< how to get to it
};

/// The name of a store among the formats.
constexpr std::string_view store_format = "store";

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
  return text + fmt::format("\n  {:<12} {:<24} {}", store_format, store_ending,
                            "a store of captures of many hosts (docs/fleet.md), to which it is added");
}

/// The target of the export: files and folders appear complete or not at all.
class Target {
 public:
  Target(const ExportOptions& options, const ExportFormat& format) : options_(options), format_(format) {
    folder_ = options_.target;
    while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
    rules_.inputs = inputs_of(options_.analyze.files, {options_.analyze.policy});
    rules_.may_replace = format_.wrote;
    rules_.force = options_.force;
  }
  ~Target() {
    files_.clear();  // before their folder
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /// Error message for wrong usage, before the captures are read. Empty: none.
  [[nodiscard]] std::string objection() const {
    if (format_.write == nullptr && options_.target == "-")
      return "--output -: CSV is one file per table and needs a folder (for one table: "
             "roceanalyze flows FILE --csv)";
    return {};
  }
  /// Creates the outputs, under temporary names. Fails if the target is not writable or must not be replaced.
  Expected<void> open() {
    if (format_.write != nullptr) return open_file(options_.target, rules_);
    auto place = capture::OutputPlace::find(folder_);
    if (!place) return tl::unexpected(place.error());
    // A folder is replaced file by file, anything else not at all.
    if (place->exists() && !S_ISDIR(place->facts().st_mode))
      return refused(options_.target, ENOTDIR, "cannot be written");
    std::string folder = folder_;
    if (!place->exists()) {
      auto made = capture::OutputFolder::create(folder_);
      if (!made) return tl::unexpected(std::move(made.error()));
      new_folder_ = std::move(*made);
      folder = new_folder_->path();
    }
    for (const auto& table : tables_) {
      if (!wanted(options_, table->name())) continue;
      if (auto opened = open_file(csv_in(folder, table->name()), rules_of(*table)); !opened) return opened;
    }
    return {};
  }
  /// What write() puts in place, in this order.
  [[nodiscard]] std::vector<capture::PlacedOutput*> outputs() const {
    std::vector<capture::PlacedOutput*> all;
    for (const auto& file : files_) {
      if (file->is_temporary()) all.push_back(file.get());
    }
    if (new_folder_) all.push_back(new_folder_.get());
    return all;
  }

  Expected<void> write(const ExportData& data) {
    if (format_.write != nullptr) {
      if (auto written = format_.write(data, sink_of(*files_.front())); !written) return written;
      return files_.front()->finish();
    }
    // All files with their last bytes, then all in their places: a full disk must show before the first is.
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (auto written = write_csv(*data.tables[i], sink_of(*files_[i])); !written) return written;
      if (auto flushed = files_[i]->flush(); !flushed) return flushed;
    }
    for (const auto& file : files_) {
      if (auto finished = file->finish(); !finished) return finished;
    }
    return new_folder_ ? new_folder_->finish() : Expected<void>();
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
  [[nodiscard]] capture::OutputRules rules_of(const analyze::ResultTable& table) const {
    capture::OutputRules rules = rules_;
    rules.may_replace = [&table](const capture::ExistingFile& file) { return is_csv_of(table, file); };
    return rules;
  }

  Expected<void> open_file(const std::string& path, const capture::OutputRules& rules) {
    auto file = OutputFile::create(path, rules);
    if (!file) return tl::unexpected(std::move(file.error()));
    files_.push_back(std::move(*file));
    return {};
  }
  [[nodiscard]] static ExportSink sink_of(OutputFile& file) {
    return [&file](std::string_view bytes) { return file.append(bytes.data(), bytes.size()); };
  }

  const ExportOptions& options_;
  const ExportFormat& format_;
  capture::OutputRules rules_;
  std::string folder_;                                 ///< the target without slashes at its end
  std::unique_ptr<capture::OutputFolder> new_folder_;  ///< null if it exists
  std::vector<std::unique_ptr<OutputFile>> files_;     ///< one, or one for each chosen table in its order
  analyze::Snapshot nothing_;
  analyze::ResultTables tables_ = analyze::result_tables(nothing_);  ///< all of them, for their columns
};

int run_export(const ExportOptions& options) {
  if (options.format == store_format || (options.format.empty() && is_store_target(options.target))) {
    if (!options.tables.empty()) return usage_error("export --table: a store has all its tables");
    analyze::StoreTarget store = options.store;
    store.name = options.target;
    return export_to_store(options.analyze, options.whose, store);
  }
  if (options.whose.any())
    return usage_error(
        "export: --host, --device, --fabric, --site, --rack, --address and --label are for a store: -o "
        "NAME.store");
  const ExportFormat* format =
      options.format.empty() ? format_of(options.target) : format_named(options.format);
  if (format == nullptr && options.target.ends_with(".csv"))
    return usage_error(
        "export --output: CSV is one file per table and needs a folder: --output DIR/ (for one table: "
        "roceanalyze flows FILE --csv)");
  if (format == nullptr)
    return usage_error(
        fmt::format("export --output {}: unknown format: set it with --format, or by the target's extension:",
                    options.target),
        formats_text());
  Target target(options, *format);
  if (const std::string objection = target.objection(); !objection.empty())
    return usage_error("export " + objection);
  if (const auto opened = target.open(); !opened) return output_error(opened.error());
  const Analyzed result = analyze_files(options.analyze, target.outputs());
  if (!result.snapshot) return result.status;
  const analyze::Snapshot& snapshot = *result.snapshot;
  analyze::ResultTables tables = analyze::result_tables(snapshot);
  std::erase_if(tables, [&](const auto& table) { return !wanted(options, table->name()); });
  const std::string name = snapshot.files.empty() ? std::string() : file_name(snapshot.files.front().path);
  if (auto written = target.write({snapshot, tables, name}); !written) return output_error(written.error());
  return status_with_findings(result, options.analyze);
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand(
      "export", "export flows, connections, findings, series and other tables: CSV, JSON, SQLite ...");
  // --to was the name of the target before --output, so the end of the time range is --until.
  options->analyze.add_to(*command, "--until");
  command
      ->add_option("-o,--output,--to", options->target,
                   "target; its extension selects the format: DIR/, .json, .ndjson, .sqlite, .om, .lp, "
                   ".perfetto, .store, or "
                   "clickhouse://[user@]host[:port]/database; - is standard output")
      ->required()
      ->type_name("TARGET");
  add_force_option(*command, options->force);
  command
      ->add_option("--format", options->format,
                   "csv, json, ndjson, sqlite, openmetrics, prometheus, influx, perfetto or store")
      ->check([](const std::string& name) {
        return format_named(name) != nullptr || name == store_format
                   ? std::string()
                   : fmt::format("no format '{}'; formats are:{}", name, formats_text());
      })
      ->type_name("NAME");
  command->add_option("--table", options->tables, "only this table; may be repeated (default: all)")
      ->check([](const std::string& name) {
        const auto& names = analyze::result_table_names();
        return std::find(names.begin(), names.end(), name) != names.end()
                   ? std::string()
                   : fmt::format("no table '{}'; tables are: {}", name, fmt::join(names, " "));
      })
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("NAME");
  options->whose.add_to(*command);
  add_target_access(*command, options->store);
  command->callback([options, &action] { action = [options] { return run_export(*options); }; });
}

}  // namespace roce::cli
