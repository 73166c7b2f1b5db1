// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gui/pages/page.hpp"

namespace roce::gui {

/// Where a user has been: a page, and what was selected there.
struct Place {
  PageId page = PageId::overview;
  std::optional<std::uint32_t> connection;
  std::optional<std::uint64_t> packet;
  std::optional<std::uint64_t> incident;  ///< by its first packet
  QString finding;
  std::optional<QString> diagnosis;

  friend bool operator==(const Place&, const Place&) = default;
};

/// The places of one capture in the order of the visits, as a browser has them: going somewhere else from an
/// earlier place forgets the later ones. A plain value.
class History {
 public:
  /// The oldest places beyond that are forgotten.
  static constexpr std::size_t most = 200;

  void clear() noexcept;
  /// The user has gone there; the place that is current already is no visit.
  void visit(const Place& place);
  /// The current place was not complete yet: tables select a row of their own once they have some.
  void amend(const Place& place);

  [[nodiscard]] bool can_go_back() const noexcept { return now_ > 0; }
  [[nodiscard]] bool can_go_forward() const noexcept { return now_ + 1 < places_.size(); }
  /// The place before the current one, which becomes the current one. Only if can_go_back().
  const Place& back() { return places_[--now_]; }
  /// Only if can_go_forward().
  const Place& forward() { return places_[++now_]; }

 private:
  std::vector<Place> places_;
  std::size_t now_ = 0;  ///< the current place, if there is any
};

}  // namespace roce::gui
