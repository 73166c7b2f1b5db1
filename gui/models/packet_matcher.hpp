// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyze/filter/filter.hpp"
#include "gui/models/packet_reader.hpp"
#include "gui/models/selection.hpp"

namespace roce::gui {

/// Which packets are wanted: by filter and by time. Null filter: by time alone.
struct PacketQuestion {
  std::shared_ptr<const analyze::Filter> filter;
  std::optional<TimeSpan> time;
  [[nodiscard]] bool needs_analysis() const noexcept { return filter && filter->needs_analysis(); }
};

/// Decides it for one packet after the other; one per thread.
///
/// A filter that uses only fields held in PacketMarks gives the same answer for all packets with the same
/// marks: the first of them is read and dissected, and its answer cached. Such filters pass a hundred million
/// packets in seconds, with exactly the semantics of filters elsewhere.
class PacketMatcher {
 public:
  PacketMatcher(std::shared_ptr<const PacketStore> store, PacketQuestion question);

  /// Whether the packet matches; one that cannot be read does not.
  [[nodiscard]] bool matches(std::uint64_t number) {
    if (time_ != Inside::all && !in_time(number)) return false;
    if (!question_.filter) return true;
    const std::uint64_t word = store_->marks(number).word();
    if ((word & decisive_) == decided_ && word >> PacketMarks::connection != PacketMarks::connections) {
      const std::uint64_t key = word & key_bits_;
      if (key == last_key_) return last_answer_;
      return known(key, number);
    }
    return ask(number);
  }
  /// Number of packets that could not be read.
  [[nodiscard]] std::uint64_t unreadable() const noexcept { return unreadable_; }
  /// Whether marks decide, so that only a few packets are read.
  [[nodiscard]] bool by_marks() const noexcept { return by_marks_; }

 private:
  enum class Inside : std::uint8_t { none, some, all };
  struct Known {
    std::uint64_t key = ~std::uint64_t{0};
    bool answer = false;
  };
  static constexpr std::size_t near_size = 4096;
  static constexpr std::size_t known_at_most = std::size_t{1} << 20U;

  [[nodiscard]] bool in_time(std::uint64_t number);
  [[nodiscard]] bool ask(std::uint64_t number);
  [[nodiscard]] bool known(std::uint64_t key, std::uint64_t number);

  std::shared_ptr<const PacketStore> store_;
  PacketQuestion question_;
  PacketReader reader_;
  PacketNeeds needs_;
  bool by_marks_ = false;
  std::uint64_t key_bits_ = 0;  ///< bits of the marks that the filter depends on
  std::uint64_t decisive_ = 0;  ///< marks decide about packets with these bits as in decided_
  std::uint64_t decided_ = 0;
  std::uint64_t last_key_ = ~std::uint64_t{0};
  bool last_answer_ = false;
  std::vector<Known> near_;
  std::unordered_map<std::uint64_t, bool> far_;
  Inside time_ = Inside::all;
  Inside group_inside_ = Inside::none;
  std::uint64_t group_ = ~std::uint64_t{0};
  std::uint64_t unreadable_ = 0;
};

}  // namespace roce::gui
