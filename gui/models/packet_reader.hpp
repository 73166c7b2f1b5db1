// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/cm_tracker.hpp"
#include "analyze/field_registry.hpp"
#include "analyze/filter.hpp"
#include "analyze/packet_view.hpp"
#include "gui/models/packet_store.hpp"

namespace roce::gui {

/// What of a packet will be asked for; the rest need not be found out.
struct PacketNeeds {
  bool icrc = false;
  bool flow = false;
  bool upper = false;
  bool verdict = false;

  void add(const analyze::FieldFacts& facts) noexcept;
  [[nodiscard]] static PacketNeeds of(const analyze::Filter& filter) noexcept;
  [[nodiscard]] static PacketNeeds everything() noexcept { return {true, true, true, true}; }
};

/// What connection managers had agreed on when a packet came: wherever one jumps to in a capture, what its
/// packets carry is known as if all before had been read. One a thread.
class ManagementHistory {
 public:
  explicit ManagementHistory(std::shared_ptr<const PacketStore> store);
  /// As it was when this packet had been seen.
  [[nodiscard]] const analyze::CmTracker& at(std::uint64_t number);

 private:
  static constexpr std::size_t checkpoints_at_most = 64;
  struct Checkpoint {
    std::uint64_t learned = 0;
    analyze::CmTracker tracker;
  };
  void learn_one();

  std::shared_ptr<const PacketStore> store_;
  capture::FrameStore::Reader reader_;
  dissect::Dissection dissection_;
  analyze::CmTracker tracker_;
  std::uint64_t learned_ = 0;  ///< of the store's management packets
  std::uint64_t stride_ = 256;
  std::vector<Checkpoint> checkpoints_;  ///< by `learned`
};

/// Reads packets with all that is known of them, as the command `packets` does. One a thread; the fastest in
/// ascending order.
class PacketReader {
 public:
  explicit PacketReader(std::shared_ptr<const PacketStore> store);

  /// What it borrows lives until the next call. Null: error() says why.
  [[nodiscard]] const analyze::PacketView* read(std::uint64_t number, const PacketNeeds& needs);
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  [[nodiscard]] const PacketStore& store() const noexcept { return *store_; }

 private:
  static constexpr std::size_t verdicts_at_once = 512;

  [[nodiscard]] std::int64_t time_before(std::uint64_t number);
  [[nodiscard]] const analyze::Verdict* verdict_of(std::uint64_t number);

  std::shared_ptr<const PacketStore> store_;
  capture::FrameStore::Reader frames_;
  ManagementHistory managements_;
  capture::Frame frame_;
  dissect::Dissection dissection_;
  analyze::PacketView view_;
  std::shared_ptr<const PacketStore::FlowIds> flows_;
  std::uint64_t last_number_ = 0;
  std::int64_t last_time_ = capture::no_time;  ///< of last_number_, or of the one with a time before it
  CommentsOf comments_of_;
  std::vector<std::optional<analyze::Verdict>> verdicts_;
  std::uint64_t first_verdict_ = 0;  ///< packet of verdicts_[0]
  std::uint64_t last_verdict_ = 0;   ///< asked for
  std::string error_;
};

}  // namespace roce::gui
