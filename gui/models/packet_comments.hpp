// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roce::gui {

/// Comments that the user wrote: all that a packet has from then on, in place of those of its capture. They
/// are kept here until the capture is saved, also where it is analysed anew. Callable from any thread.
class PacketComments {
 public:
  using Texts = std::vector<std::string>;  ///< UTF-8
  /// What pcapng holds of one.
  static constexpr std::size_t longest = 65'535;

  /// None: the packet loses those that it had.
  void set(std::uint64_t number, Texts texts);
  /// Null: nothing was written on this packet, those of its capture stand.
  [[nodiscard]] std::shared_ptr<const Texts> find(std::uint64_t number) const;
  /// Packets from `first` to before `end` that something was written on, and whether they have comments now.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, bool>> written(std::uint64_t first,
                                                                    std::uint64_t end) const;

  /// Grows with every change.
  [[nodiscard]] std::uint64_t revision() const;
  /// What there was at that revision is in a file now.
  void saved(std::uint64_t revision);
  /// Something would be lost with this object.
  [[nodiscard]] bool unsaved() const;

 private:
  mutable std::mutex mutex_;  ///< for all below
  std::map<std::uint64_t, std::shared_ptr<const Texts>> texts_;
  std::uint64_t revision_ = 0;
  std::uint64_t saved_ = 0;
};

/// The comments of one packet after the other, wherever they come from. One a thread.
class CommentsOf {
 public:
  /// Of packet `number`, for which its capture has `of_capture`. Lives until the next call and as long as
  /// those.
  [[nodiscard]] std::span<const std::string_view> packet(const PacketComments& comments, std::uint64_t number,
                                                         std::span<const std::string_view> of_capture);

 private:
  std::shared_ptr<const PacketComments::Texts> kept_;
  std::vector<std::string_view> views_;
};

}  // namespace roce::gui
