// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/record/outer_marks.hpp"
#include "analyze/record/packet_record.hpp"

// Internal to the pipeline.
namespace roce::analyze {

/// Counts packets in tunnels; bounded. Not thread-safe.
class OuterCounts {
 public:
  static constexpr std::size_t limit = std::size_t{1} << 16U;
  struct Row : OuterRow {
    FlowKey flow;
  };

  /// A packet that is in some tunnel, of which make_record() made `record`.
  void count(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& dissection,
             const PacketRecord& record);
  void merge(const OuterCounts& other);
  [[nodiscard]] const std::vector<Row>& rows() const noexcept { return rows_; }

 private:
  struct Hash {
    std::size_t operator()(const Row& row) const noexcept;
  };
  struct Same {
    bool operator()(const Row& a, const Row& b) const noexcept;
  };
  void add(const Row& row);

  std::vector<Row> rows_;  ///< in the order of first packets of each batch
  tsl::robin_map<Row, std::uint32_t, Hash, Same> places_;
};

}  // namespace roce::analyze
