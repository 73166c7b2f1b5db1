// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/pipeline/analysis.hpp"
#include "analyze/pipeline/batch.hpp"
#include "analyze/record/cached_frames.hpp"
#include "analyze/record/fast_record.hpp"
#include "analyze/record/header_cache.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissect.hpp"

// Internal to the pipeline.
namespace roce::analyze {

/// Stage 2 of a batch: dissects its packets, checks ICRCs and selects the packets that count. Thread-safe for
/// different batches; `options`, `source` and `images` must outlive it.
class DissectStage {
 public:
  DissectStage(const AnalysisOptions& options, const capture::CaptureSource& source,
               const HeaderCache& images);

  /// Fills everything in a batch that is not read from the source. Cached headers replace a packet's record.
  void work(Batch& batch) const;

  /// Whether cached headers (HeaderCache) are used.
  [[nodiscard]] bool wants_images() const noexcept { return images_wanted_; }
  /// Whether the filter depends on the packets before: then work() selects nothing, and count_if_selected()
  /// must be called for each packet in order.
  [[nodiscard]] bool with_history() const noexcept { return with_history_; }

  /// Dissects a frame into batch.dissection.
  dissect::Dissection& dissect_again(Batch& batch, const capture::Frame& frame) const;
  /// Counts the packet in batch.dissection unless the filter rejects it.
  void count_if_selected(Batch& batch, std::size_t i, PacketRecord& record,
                         std::optional<std::uint64_t> flow) const;
  /// The glances of a batch after work(), one per frame.
  static void glance_at(const Batch& batch, std::vector<PacketSummary>& summaries);
  /// The record of a frame with cached headers.
  [[nodiscard]] PacketRecord record_of(const capture::Frame& frame, const PacketBrief& packet) const;

 private:
  [[nodiscard]] bool dissect_fast(Batch& batch, std::size_t i) const;
  void dissect_one(Batch& batch, std::size_t i) const;
  dissect::IcrcResult finish_packet(const capture::Frame& frame, const FastFrame& facts,
                                    PacketBrief& packet) const;
  void count_fast(Batch& batch, std::size_t i, const PacketBrief& packet, const FastFrame& facts,
                  const dissect::IcrcResult& icrc) const;
  [[nodiscard]] bool passes(const Batch& batch, std::size_t i, const dissect::IcrcResult& icrc,
                            std::optional<std::uint64_t> flow) const;

  const AnalysisOptions& options_;
  const capture::CaptureSource& source_;
  const CachedFrames known_;
  dissect::Options dissect_options_;
  bool with_history_ = false;
  bool any_bound_ = false;  ///< --from or --to
  bool fast_ = false;
  bool images_wanted_ = false;
};

}  // namespace roce::analyze
