// SPDX-License-Identifier: Apache-2.0
// All single packets of a capture: sixteen bytes each, and the way to everything else.
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

#include "analyze/packet/verdict_store.hpp"
#include "analyze/pipeline/analysis.hpp"
#include "analyze/results/snapshot.hpp"
#include "capture/files/frame_store.hpp"
#include "gui/models/management_history.hpp"
#include "gui/models/packet_comments.hpp"
#include "gui/models/packet_marks.hpp"

namespace roce::gui {

/// Filled by one analysis while it runs; read by any thread at any time. Packets are numbered from 1, as the
/// analysis numbers them.
class PacketStore {
 public:
  explicit PacketStore(std::shared_ptr<PacketComments> comments =
                           std::make_shared<PacketComments>(),  // what was written before
                       const capture::FrameStore::Limits& limits = {});
  PacketStore(const PacketStore&) = delete;
  PacketStore& operator=(const PacketStore&) = delete;

  // Of the analysis, on its threads. They throw nothing but std::bad_alloc.
  /// The source that is to be analysed instead of `source`; it outlives the store.
  [[nodiscard]] std::unique_ptr<capture::CaptureSource> watch(std::unique_ptr<capture::CaptureSource> source);
  /// Has the analysis tell of single packets.
  void prepare(analyze::AnalysisOptions& options);
  /// The analysis has ended: takes over what it says of each packet. Stops when asked to.
  void finish(const std::stop_token& stop);

  /// Packets that are known, from the first on.
  [[nodiscard]] std::uint64_t size() const noexcept;
  /// Whether all that will come has come, with what the analysis says of them.
  [[nodiscard]] bool analysed() const noexcept { return analysed_.load(std::memory_order_acquire); }
  /// Why the rest is not there; empty while nothing is missing.
  [[nodiscard]] std::string problem() const;

  [[nodiscard]] PacketMarks marks(std::uint64_t number) const noexcept {
    return PacketMarks(marks_[number - 1].load(std::memory_order_relaxed));
  }
  /// Which meanings the packets of a block have: a bit of each PacketMeaning. Cheap, for maps and jumps.
  static constexpr std::uint64_t block_packets = 4096;
  [[nodiscard]] std::uint32_t meanings_of_block(std::uint64_t block) const noexcept;
  /// What the analysis says of it; nothing before analysed(), and of packets that it says nothing of.
  [[nodiscard]] std::optional<analyze::Verdict> verdict(std::uint64_t number) const;
  /// The same for packets from `first` on.
  void verdicts(std::uint64_t first, std::span<std::optional<analyze::Verdict>> to) const;

  /// What the user writes on a packet that is there, in place of all comments that it had. Marks say whether
  /// a packet has any. Of the thread of the window.
  void set_comments(std::uint64_t number, PacketComments::Texts texts);
  [[nodiscard]] PacketComments& comments() const noexcept { return *comments_; }

  [[nodiscard]] const std::shared_ptr<capture::FrameStore>& frames() const noexcept { return frames_; }
  [[nodiscard]] const std::shared_ptr<const analyze::MarkingPolicy>& policy() const noexcept {
    return policy_;
  }

  /// What connection managers had agreed on when a packet came.
  [[nodiscard]] const ManagementHistory& managements() const noexcept { return managements_; }

  /// Ids of flows, from the newest snapshot; null: none came yet.
  struct FlowHash {
    [[nodiscard]] std::size_t operator()(const analyze::FlowKey& key) const noexcept { return key.hash(); }
  };
  using FlowIds = std::unordered_map<analyze::FlowKey, std::uint64_t, FlowHash>;
  void set_snapshot(std::shared_ptr<const analyze::Snapshot> snapshot);
  /// What the capture's files say of themselves, as far as the newest snapshot knows.
  [[nodiscard]] std::vector<std::string> section_comments() const;
  [[nodiscard]] std::shared_ptr<const FlowIds> flow_ids() const;

 private:
  void take(std::uint64_t first, std::span<const analyze::PacketGlance> glances);
  void learn(std::uint64_t number);
  void mark_commented(std::uint64_t number, bool commented);

  std::shared_ptr<PacketComments> comments_;
  std::shared_ptr<capture::FrameStore> frames_;
  std::shared_ptr<const analyze::MarkingPolicy> policy_;
  ManagementHistory managements_;
  std::optional<capture::FrameStore::Reader> managements_reader_;  ///< once there is a packet for it
  capture::GrowingArray<std::atomic<std::uint64_t>> marks_;
  capture::GrowingArray<std::atomic<std::uint32_t>, 10, 512> meanings_;  ///< by block
  std::atomic<std::uint64_t> glanced_ = 0;
  std::atomic<bool> analysed_ = false;

  mutable std::mutex mutex_;  ///< for the two below
  std::shared_ptr<const analyze::Snapshot> snapshot_;
  mutable std::shared_ptr<const FlowIds> flow_ids_;

  mutable std::mutex verdicts_mutex_;  ///< once analysed(); before that the analysis has them
  std::unique_ptr<analyze::VerdictStore> verdicts_;
};

}  // namespace roce::gui
