// SPDX-License-Identifier: Apache-2.0
// Batches: what is added to a store as a whole or not at all, and never twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/store/row_types.hpp"
#include "analyze/store/schema.hpp"
#include "capture/core/error.hpp"

namespace roce::analyze {

/// Rows of one table in ClickHouse's TabSeparated, one a line, all columns of the schema in its order.
struct StoreBlock {
  const StoreTable* table = nullptr;
  std::string columns;  ///< their names, as they were when it was made
  std::uint64_t rows = 0;
  std::string text;
};

/// Rows of one UTC day. Made again from the same, it is the same byte for byte.
struct StoreBatch {
  std::uint64_t run = 0;
  std::uint32_t seq = 0;
  std::vector<StoreBlock> blocks;  ///< in the order of store_tables(); none is empty

  [[nodiscard]] std::uint64_t rows() const noexcept;
};

/// Puts rows into batches by their day, at most `rows_at_most` rows each. Not thread-safe.
class BatchMaker {
 public:
  static constexpr std::uint64_t rows_at_most = 50'000;

  /// Batches are numbered from `first_seq`.
  BatchMaker(std::string host, std::string device, std::uint64_t run, std::uint32_t first_seq = 0);

  /// Fills what all rows begin with except the time.
  template <class Row>
  void add(Row row);
  /// All batches, each ended by a heartbeat with the number of its rows; the first by `beat` itself, further
  /// ones by one without counts. Ready for more.
  [[nodiscard]] std::vector<StoreBatch> take(const HeartbeatRow& beat);
  [[nodiscard]] std::uint32_t next_seq() const noexcept { return next_seq_; }

 private:
  struct Open {
    std::uint32_t seq = 0;
    std::uint64_t rows = 0;
    std::map<const StoreTable*, StoreBlock> blocks;
  };
  Open& open(std::int64_t day);
  template <class Row>
  void add_to(Open& open, Row& row);

  std::string host_;
  std::string device_;
  std::uint64_t run_;
  std::uint32_t next_seq_;
  std::map<std::int64_t, Open> days_;
  std::vector<std::pair<std::int64_t, Open>> full_;
};

/// A batch as bytes, for the spool: a line for itself, for each block a line and its rows.
[[nodiscard]] std::string encode(const StoreBatch& batch);
/// Reads the batch at the begin of `bytes` and removes it from there. Blocks of tables that this version does
/// not know are left out. Errors: damaged, cut_short.
[[nodiscard]] capture::Expected<StoreBatch> decode(std::string_view& bytes);

/// The cells of the next row of a block, unescaped into `cells`; false at its end.
[[nodiscard]] bool next_row(std::string_view& text, std::vector<std::string>& cells);

}  // namespace roce::analyze
