// SPDX-License-Identifier: Apache-2.0
// Tables of what there is of MRC.
#pragma once

#include <span>
#include <vector>

#include "analyze/mrc/mrc.hpp"
#include "analyze/results/columns.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// One path of a stream.
struct MrcPathRow {
  const MrcStream* stream = nullptr;
  const MrcPath* path = nullptr;
};
struct MrcLossRow {
  const Mrc* mrc = nullptr;
  const MrcLoss* loss = nullptr;
};

/// All are empty without MRC. What they refer to is the snapshot's.
[[nodiscard]] std::vector<const MrcStream*> mrc_stream_rows(const Snapshot& snapshot);
/// Of each stream the paths that lost most, then those that carried most.
[[nodiscard]] std::vector<MrcPathRow> mrc_path_rows(const Snapshot& snapshot);
[[nodiscard]] std::vector<MrcLossRow> mrc_loss_rows(const Snapshot& snapshot);

[[nodiscard]] std::span<const Column<const MrcStream*>> mrc_stream_columns() noexcept;
[[nodiscard]] std::span<const Column<MrcPathRow>> mrc_path_columns() noexcept;
[[nodiscard]] std::span<const Column<MrcLossRow>> mrc_loss_columns() noexcept;

/// Display filters that select the packets with data of a stream, and of one path.
[[nodiscard]] std::string mrc_stream_filter(const MrcStream& stream);
[[nodiscard]] std::string mrc_path_filter(const MrcPathRow& row);

/// "3 streams of MRC, 12000 packets over up to 256 paths"; empty without.
[[nodiscard]] std::string mrc_text(const Snapshot& snapshot);

}  // namespace roce::analyze
