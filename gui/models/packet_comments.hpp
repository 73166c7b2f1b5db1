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

/// Packet comments edited by the user. They replace all comments that the packet has in its capture, and are
/// kept in memory until the capture is saved, also when it is analysed again. Callable from any thread.
class PacketComments {
 public:
  using Texts = std::vector<std::string>;  ///< UTF-8
  /// Longest comment in pcapng, in bytes.
  static constexpr std::size_t longest = 65'535;

  /// An empty list removes all comments of the packet.
  void set(std::uint64_t number, Texts texts);
  /// Null: not edited, the comments of the capture apply.
  [[nodiscard]] std::shared_ptr<const Texts> find(std::uint64_t number) const;
  /// The edited packets in [first, end), and whether they have comments now.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, bool>> written(std::uint64_t first,
                                                                    std::uint64_t end) const;

  /// Incremented with every change.
  [[nodiscard]] std::uint64_t revision() const;
  /// The comments of that revision have been saved to a file.
  void saved(std::uint64_t revision);
  /// Whether there are changes that are not saved.
  [[nodiscard]] bool unsaved() const;

 private:
  mutable std::mutex mutex_;  ///< for all below
  std::map<std::uint64_t, std::shared_ptr<const Texts>> texts_;
  std::uint64_t revision_ = 0;
  std::uint64_t saved_ = 0;
};

/// The effective comments of packets, from the user or the capture. One per thread.
class CommentsOf {
 public:
  /// Of packet `number`, whose comments in the capture are `of_capture`. Valid until the next call and as
  /// long as those.
  [[nodiscard]] std::span<const std::string_view> packet(const PacketComments& comments, std::uint64_t number,
                                                         std::span<const std::string_view> of_capture);

 private:
  std::shared_ptr<const PacketComments::Texts> kept_;
  std::vector<std::string_view> views_;
};

}  // namespace roce::gui
