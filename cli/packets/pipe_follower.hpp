// SPDX-License-Identifier: Apache-2.0
// Results of the analysis for the packets of a pipe, which can be read only once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/cm/cm_tracker.hpp"
#include "analyze/packet/verdict_store.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/tracker/tracker.hpp"
#include "capture/core/comments.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissect.hpp"

namespace roce::cli {

/// What a source delivers at a time.
struct Piece {
  capture::FrameBatch batch;
  capture::BatchComments comments;
  std::vector<std::string> section_comments;  ///< of sections that begin with it
};

/// Follows packets ahead of their output, since what is said of one may hang on those that come after it. A
/// frame waits for as long as its connection, or that of one before it, is in an episode; but not for ever:
/// at a bound it is decided by what came so far. What it returns does not depend on the size of the pieces.
class PipeFollower {
 public:
  PipeFollower(const dissect::Options& dissect_options, bool check_icrc);

  struct Ready {
    std::shared_ptr<const Piece> piece;
    const capture::Frame* frame = nullptr;  ///< of the piece
    std::optional<std::uint64_t> flow;
  };
  void add(std::shared_ptr<const Piece> piece);
  /// No more will be added.
  void end() noexcept { ends_ = true; }
  /// The next frame of which is known what to say; none: more is needed for that.
  [[nodiscard]] std::optional<Ready> next();
  /// Of the frame that next() returned last; null if there is nothing to say of it.
  [[nodiscard]] const analyze::Verdict* verdict();

 private:
  [[nodiscard]] std::optional<std::uint64_t> follow(const capture::Frame& frame);
  [[nodiscard]] bool follow_one();
  [[nodiscard]] bool first_is_decided();
  [[nodiscard]] bool wait_too_long(const capture::Frame& now) const noexcept;

  const dissect::Options dissect_options_;
  const bool check_icrc_;
  analyze::VerdictStore verdicts_;
  analyze::Tracker tracker_;
  analyze::CmTracker cm_;
  dissect::Dissection dissection_;
  analyze::PacketRecord record_;
  analyze::Verdict verdict_;
  std::deque<std::shared_ptr<const Piece>> pieces_;  ///< to be followed
  std::size_t at_ = 0;                               ///< in the first of them
  std::deque<Ready> waiting_;
  std::uint64_t waiting_bytes_ = 0;
  std::uint64_t followed_ = 0;  ///< frames
  std::uint64_t returned_ = 0;
  bool overdue_ = false;  ///< the first that waits has waited too long
  bool ends_ = false;
  bool ended_ = false;
};

}  // namespace roce::cli
