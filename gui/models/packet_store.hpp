// SPDX-License-Identifier: Apache-2.0
// All packets of a capture: sixteen bytes each in memory, and access to everything else.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyze/exports/template_history.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "analyze/pipeline/analysis.hpp"
#include "analyze/results/snapshot.hpp"
#include "capture/files/frame_store.hpp"
#include "gui/models/management_history.hpp"
#include "gui/models/packet_comments.hpp"
#include "gui/models/packet_marks.hpp"

namespace roce::gui {

/// Filled by one analysis while it runs; readable from any thread at any time. Packets are numbered from 1,
/// as in the analysis.
class PacketStore {
 public:
  explicit PacketStore(std::shared_ptr<PacketComments> comments =
                           std::make_shared<PacketComments>(),  // those of the user so far
                       const capture::FrameStore::Limits& limits = {});
  PacketStore(const PacketStore&) = delete;
  PacketStore& operator=(const PacketStore&) = delete;

  // For the analysis, on its threads. They throw nothing but std::bad_alloc.
  /// Wraps `source` so that its frames are recorded here; analyse the result, which may outlive this store.
  [[nodiscard]] std::unique_ptr<capture::CaptureSource> watch(std::unique_ptr<capture::CaptureSource> source);
  /// Makes the analysis deliver per-packet results to this store.
  void prepare(analyze::AnalysisOptions& options);
  /// Called when the analysis has ended: takes over its verdict on each packet, until `stop` is requested.
  void finish(const std::stop_token& stop);

  /// Number of packets known so far.
  [[nodiscard]] std::uint64_t size() const noexcept;
  /// Whether the store is complete, with the verdicts of the analysis.
  [[nodiscard]] bool analysed() const noexcept { return analysed_.load(std::memory_order_acquire); }
  /// Why packets are missing; empty if none is.
  [[nodiscard]] std::string problem() const;

  [[nodiscard]] PacketMarks marks(std::uint64_t number) const noexcept {
    return PacketMarks(marks_[number - 1].load(std::memory_order_relaxed));
  }
  /// Meanings that occur in a block of packets, a bit per PacketMeaning. Cheap, for the map and for jumps.
  static constexpr std::uint64_t block_packets = 4096;
  [[nodiscard]] std::uint32_t meanings_of_block(std::uint64_t block) const noexcept;
  /// The verdict of the analysis; nullopt before analysed() and for packets without one.
  [[nodiscard]] std::optional<analyze::Verdict> verdict(std::uint64_t number) const;
  /// The same for packets from `first` on.
  void verdicts(std::uint64_t first, std::span<std::optional<analyze::Verdict>> to) const;

  /// Packets whose verdicts could not be kept; 0 before analysed().
  [[nodiscard]] std::uint64_t lost_verdicts() const;

  /// Replaces all comments of an existing packet; its marks show whether it has any. GUI thread only.
  void set_comments(std::uint64_t number, PacketComments::Texts texts);
  [[nodiscard]] PacketComments& comments() const noexcept { return *comments_; }

  [[nodiscard]] const std::shared_ptr<capture::FrameStore>& frames() const noexcept { return frames_; }
  [[nodiscard]] const std::shared_ptr<const analyze::MarkingPolicy>& policy() const noexcept {
    return policy_;
  }

  /// How the analysis reads packets.
  [[nodiscard]] const dissect::Options& dissecting() const noexcept { return dissecting_; }

  /// What connection managers had negotiated at any packet.
  [[nodiscard]] const ManagementHistory& managements() const noexcept { return managements_; }
  /// The templates of exported records at any packet.
  [[nodiscard]] const analyze::TemplateHistory& templates() const noexcept { return templates_; }

  /// Ids of flows from the newest snapshot; null: there is none yet.
  struct FlowHash {
    [[nodiscard]] std::size_t operator()(const analyze::FlowKey& key) const noexcept { return key.hash(); }
  };
  using FlowIds = std::unordered_map<analyze::FlowKey, std::uint64_t, FlowHash>;
  void set_snapshot(std::shared_ptr<const analyze::Snapshot> snapshot);
  /// Section comments of the capture's files, as far as the newest snapshot has them.
  [[nodiscard]] std::vector<std::string> section_comments() const;
  [[nodiscard]] std::shared_ptr<const FlowIds> flow_ids() const;
  /// The newest; null: there is none yet.
  [[nodiscard]] std::shared_ptr<const analyze::Snapshot> snapshot() const;

 private:
  void take(std::uint64_t first, std::span<const analyze::PacketSummary> summaries);
  bool learn(std::uint64_t number);  ///< whether it refuses a connection
  void learn_templates(std::uint64_t number);
  void mark_commented(std::uint64_t number, bool commented);

  std::shared_ptr<PacketComments> comments_;
  std::shared_ptr<capture::FrameStore> frames_;
  std::shared_ptr<const analyze::MarkingPolicy> policy_;
  dissect::Options dissecting_;
  ManagementHistory managements_;
  analyze::TemplateHistory templates_;
  /// Of what packets teach of later ones; from the first such packet on.
  std::optional<capture::FrameStore::Reader> learning_reader_;
  capture::GrowingArray<std::atomic<std::uint64_t>> marks_;
  capture::GrowingArray<std::atomic<std::uint32_t>, 10, 512> meanings_;  ///< by block
  std::atomic<std::uint64_t> glanced_ = 0;
  std::atomic<bool> analysed_ = false;

  mutable std::mutex mutex_;  ///< for the two below
  std::shared_ptr<const analyze::Snapshot> snapshot_;
  mutable std::shared_ptr<const FlowIds> flow_ids_;

  mutable std::mutex verdicts_mutex_;  ///< guards verdicts_, which belong to the analysis until analysed()
  std::unique_ptr<analyze::VerdictStore> verdicts_;
};

}  // namespace roce::gui
