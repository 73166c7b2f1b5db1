// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/store/batch.hpp"
#include "analyze/store/ddl.hpp"
#include "analyze/store/schema.hpp"

namespace roce::analyze {
namespace {

using capture::Expected;

constexpr std::int64_t rows_at_once = 100'000;
/// Of a statement, which has all of them.
constexpr std::size_t ranges_at_once = 200;
constexpr std::int64_t day = 86'400;

struct BatchName {
  std::uint64_t run = 0;
  std::uint32_t seq = 0;
  [[nodiscard]] auto operator<=>(const BatchName&) const noexcept = default;
};

/// What is read at once: batches, as ranges of numbers, and the days that they are of.
struct Part {
  struct Range {
    std::uint64_t run = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };
  std::vector<Range> ranges;
  std::int64_t from = INT64_MAX;
  std::int64_t until = 0;
  std::int64_t rows = 0;

  void add(const BatchName& name, std::int64_t time, std::int64_t more_rows) {
    if (ranges.empty() || ranges.back().run != name.run || ranges.back().last + 1 != name.seq)
      ranges.push_back({name.run, name.seq, name.seq});
    ranges.back().last = name.seq;
    from = std::min(from, time - time % day);
    until = std::max(until, time - time % day + day);
    rows += more_rows + 1;
  }
  [[nodiscard]] bool is_full() const noexcept {
    return rows >= rows_at_once || ranges.size() >= ranges_at_once;
  }
  [[nodiscard]] std::string where() const {
    std::string any;
    for (const Range& range : ranges)
      any += fmt::format("{}(run = {} AND seq BETWEEN {} AND {})", any.empty() ? "" : " OR ", range.run,
                         range.first, range.last);
    return fmt::format("time >= CAST({} AS DateTime) AND time < CAST({} AS DateTime) AND ({})", from, until,
                       any);
  }
};

/// All columns in their order, times as seconds.
std::string all_columns(const StoreTable& table) {
  std::string text;
  for (const StoreColumn& column : table.columns) {
    text += text.empty() ? "" : ", ";
    text += column.type == StoreType::time ? fmt::format("CAST({0} AS Int64) AS {0}_of", column.name)
                                           : std::string(column.name);
  }
  return text;
}

template <class Number>
Number cell_as(const StoreCell& cell) {
  const auto* number = std::get_if<std::int64_t>(&cell);
  return number != nullptr ? static_cast<Number>(*number) : Number{};
}

/// Cells 3, 4 and 5 of a line: what a row is everywhere.
std::pair<BatchName, std::uint32_t> identity_of(std::string_view line) {
  BatchName name;
  std::uint32_t row = 0;
  for (unsigned cell = 0; cell < 6; ++cell) {
    const char* const end = line.data() + line.size();
    if (cell == 3) std::from_chars(line.data(), end, name.run);
    if (cell == 4) std::from_chars(line.data(), end, name.seq);
    if (cell == 5) std::from_chars(line.data(), end, row);
    line.remove_prefix(std::min(line.find('\t'), line.size() - 1) + 1);
  }
  return {name, row};
}

using Batches = std::map<BatchName, StoreBatch>;

/// The rows of a table that are of the part, each once.
Expected<void> read_table(Store& from, const StoreTable& table, const Part& part, Batches& batches) {
  const auto text = from.lines(fmt::format("SELECT {} FROM {} WHERE {} ORDER BY run, seq, row",
                                           all_columns(table), table.name, part.where()));
  if (!text) return tl::unexpected(text.error());
  std::pair<BatchName, std::uint32_t> before;
  StoreBlock* block = nullptr;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
    rest.remove_prefix(line.size());
    const auto identity = identity_of(line);
    if (block != nullptr && identity == before) continue;
    if (block == nullptr || identity.first != before.first) {
      StoreBatch& batch = batches[identity.first];
      batch.run = identity.first.run;
      batch.seq = identity.first.seq;
      block = &batch.blocks.emplace_back();
      block->table = &table;
      block->columns = column_names(table);
    }
    before = identity;
    block->text += line;
    ++block->rows;
  }
  return {};
}

Expected<void> copy_part(Store& from, Store& to, const Part& part, StoreCopied& copied) {
  Batches batches;
  for (const StoreTable& table : store_tables()) {
    if (table.shard.empty()) continue;
    if (auto read = read_table(from, table, part, batches); !read) return read;
  }
  for (const auto& [name, batch] : batches) {
    const auto added = to.add(batch);
    if (!added) return tl::unexpected(added.error());
    ++(*added ? copied.batches : copied.known);
    if (*added) copied.rows += batch.rows();
  }
  return {};
}

/// Those of which `to` has nothing as new.
Expected<std::uint64_t> copy_nodes(Store& from, Store& to) {
  const auto there = to.ask("SELECT address, MAX(CAST(time AS Int64)) AS newest FROM nodes GROUP BY address");
  if (!there) return tl::unexpected(there.error());
  std::map<std::string, std::int64_t, std::less<>> newest;
  for (const auto& row : *there) {
    if (const auto* address = std::get_if<std::string>(&row[0]))
      newest[*address] = cell_as<std::int64_t>(row[1]);
  }
  StoreBlock block;
  block.table = find_store_table("nodes");
  block.columns = column_names(*block.table);
  const auto text =
      from.lines(fmt::format("SELECT {} FROM nodes ORDER BY address, time_of", all_columns(*block.table)));
  if (!text) return tl::unexpected(text.error());
  std::string_view rest = *text;
  std::vector<std::string> cells;
  for (std::string_view line = rest; next_row(rest, cells); line = rest) {
    std::int64_t time = 0;
    std::from_chars(cells[0].data(), cells[0].data() + cells[0].size(), time);
    const auto known = newest.find(cells[1]);
    if (known != newest.end() && known->second >= time) continue;
    block.text += line.substr(0, line.size() - rest.size());
    ++block.rows;
  }
  if (block.rows == 0) return 0;
  return to.add_nodes(block).map([&] { return block.rows; });
}

}  // namespace

Expected<StoreCopied> copy_store(Store& from, Store& to) {
  StoreCopied copied;
  const auto nodes = copy_nodes(from, to);
  if (!nodes) return tl::unexpected(nodes.error());
  copied.nodes = *nodes;
  const auto there = to.ask("SELECT run, seq FROM heartbeats");
  if (!there) return tl::unexpected(there.error());
  std::set<BatchName> known;
  for (const auto& row : *there)
    known.insert({cell_as<std::uint64_t>(row[0]), cell_as<std::uint32_t>(row[1])});
  const auto beats = from.ask(
      "SELECT run, seq, MAX(CAST(time AS Int64)) AS of_day, MAX(rows) AS n FROM heartbeats GROUP BY run, seq "
      "ORDER BY run, seq");
  if (!beats) return tl::unexpected(beats.error());
  Part part;
  for (const auto& row : *beats) {
    const BatchName name{cell_as<std::uint64_t>(row[0]), cell_as<std::uint32_t>(row[1])};
    if (known.contains(name)) {
      ++copied.known;
      continue;
    }
    part.add(name, cell_as<std::int64_t>(row[2]), cell_as<std::int64_t>(row[3]));
    if (!part.is_full()) continue;
    if (auto done = copy_part(from, to, std::exchange(part, {}), copied); !done)
      return tl::unexpected(done.error());
  }
  if (!part.ranges.empty()) {
    if (auto done = copy_part(from, to, part, copied); !done) return tl::unexpected(done.error());
  }
  return copied;
}

}  // namespace roce::analyze
