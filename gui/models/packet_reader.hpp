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

#include "analyze/filter/field_registry.hpp"
#include "analyze/filter/filter.hpp"
#include "analyze/packet/packet_view.hpp"
#include "dissect/ipfix.hpp"
#include "gui/models/packet_store.hpp"

namespace roce::gui {

/// Which parts of a PacketView are needed; the others are not filled in, to save time.
struct PacketNeeds {
  bool icrc = false;
  bool flow = false;
  bool upper = false;
  bool verdict = false;

  void add(const analyze::FieldFacts& facts) noexcept;
  [[nodiscard]] static PacketNeeds of(const analyze::Filter& filter) noexcept;
  [[nodiscard]] static PacketNeeds everything() noexcept { return {true, true, true, true}; }
};

/// Reads packets with everything known about them, as the command `packets` does. One per thread; fastest in
/// ascending order.
class PacketReader {
 public:
  explicit PacketReader(std::shared_ptr<const PacketStore> store);

  /// Valid until the next call. Null: see error().
  [[nodiscard]] const analyze::PacketView* read(std::uint64_t number, const PacketNeeds& needs);
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  [[nodiscard]] const PacketStore& store() const noexcept { return *store_; }

 private:
  static constexpr std::size_t verdicts_at_once = 512;

  [[nodiscard]] std::int64_t time_before(std::uint64_t number);
  [[nodiscard]] const analyze::Verdict* verdict_of(std::uint64_t number);
  [[nodiscard]] std::optional<std::uint64_t> flow_of(std::uint64_t number);

  std::shared_ptr<const PacketStore> store_;
  capture::FrameStore::Reader frames_;
  capture::Frame frame_;
  dissect::Dissection dissection_;
  std::vector<dissect::ipfix::RecordValue> exported_;
  analyze::PacketView view_;
  std::shared_ptr<const PacketStore::FlowIds> flows_;
  std::shared_ptr<const analyze::Snapshot> snapshot_;  ///< of flows_
  std::uint64_t last_number_ = 0;
  std::int64_t last_time_ = capture::no_time;  ///< of last_number_, or of the last packet before with a time
  CommentsOf comments_of_;
  std::vector<std::optional<analyze::Verdict>> verdicts_;
  std::uint64_t first_verdict_ = 0;  ///< packet number of verdicts_[0]
  std::uint64_t last_verdict_ = 0;   ///< last packet number asked for
  std::string error_;
};

}  // namespace roce::gui
