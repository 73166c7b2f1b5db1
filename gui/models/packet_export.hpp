// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gui/models/packet_columns.hpp"
#include "gui/models/packet_search.hpp"
#include "gui/models/packet_store.hpp"

namespace roce::gui {

enum class PacketFormat : std::uint8_t {
  text,  ///< one line per packet, as `roceanalyze packets` prints them
  csv,   ///< the columns of the list, with a header line
  json,  ///< one object per line, all fields
  pcapng,
};

/// Which packets: rows of a list as closed ranges, ascending. `search`: the list's filter; null: none.
struct PacketChoice {
  std::shared_ptr<const PacketStore> store;
  std::shared_ptr<const PacketSearch> search;
  std::vector<std::pair<int, int>> rows;

  [[nodiscard]] std::uint64_t count() const noexcept;
  [[nodiscard]] std::uint64_t number_of(int row) const;
};

/// Format of the output; columns and time are for text and CSV.
struct PacketStyle {
  PacketFormat format = PacketFormat::text;
  std::vector<PacketColumn> columns;
  analyze::TimeFormat time = analyze::TimeFormat::relative;
};

/// At most `limit` packets as text for the clipboard; not for pcapng.
[[nodiscard]] std::string packets_as_text(const PacketChoice& choice, const PacketStyle& style,
                                          std::uint64_t limit);

/// Writes packets to a file on its own thread. All members are callable from any thread.
class PacketExport {
 public:
  struct State {
    std::uint64_t written = 0;
    std::uint64_t all = 0;
    bool ended = false;
    std::string error;  ///< why it failed; no file is left then
  };

  [[nodiscard]] static std::shared_ptr<PacketExport> start(PacketChoice choice, PacketStyle style,
                                                           std::string path);
  /// Requests an end; no file is left.
  void cancel() noexcept { cancelled_ = true; }
  [[nodiscard]] State state() const;

 private:
  PacketExport(PacketChoice choice, PacketStyle style, std::string path);
  void run();
  [[nodiscard]] std::string write_pcapng();
  [[nodiscard]] std::string write_text();
  void end(std::string error);

  const PacketChoice choice_;
  const PacketStyle style_;
  const std::string path_;
  std::atomic<bool> cancelled_ = false;
  std::atomic<std::uint64_t> written_ = 0;
  mutable std::mutex mutex_;  ///< for the two below
  bool ended_ = false;
  std::string error_;
};

}  // namespace roce::gui
