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

/// What happens to a batch before its packets are followed: they are dissected, their ICRCs checked, and
/// those that count are selected. Several batches at a time; `options`, `source` and `images` outlive it.
class DissectStage {
 public:
  DissectStage(const AnalysisOptions& options, const capture::CaptureSource& source,
               const FlowImages& images);

  /// Fills all of a batch but what was read. A packet with an image needs no record.
  void work(Batch& batch) const;

  /// Whether images of headers would be used.
  [[nodiscard]] bool wants_images() const noexcept { return images_wanted_; }
  /// Whether the filter judges a packet by those before it: then nothing is selected here, but by
  /// count_if_selected(), packet by packet in their order.
  [[nodiscard]] bool with_history() const noexcept { return with_history_; }

  /// Into batch.dissection.
  dissect::Dissection& dissect_again(Batch& batch, const capture::Frame& frame) const;
  /// Counts the packet that is in batch.dissection unless the filter rejects it.
  void count_if_selected(Batch& batch, std::size_t i, PacketRecord& record,
                         std::optional<std::uint64_t> flow) const;
  /// What the packets of a batch that work() has filled are, one a frame.
  static void glance_at(const Batch& batch, std::vector<PacketGlance>& glances);
  /// The whole record of a frame with an image.
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
  const KnownFrames known_;
  dissect::Options dissect_options_;
  bool with_history_ = false;
  bool any_bound_ = false;  ///< --from or --to
  bool fast_ = false;
  bool images_wanted_ = false;
};

}  // namespace roce::analyze
