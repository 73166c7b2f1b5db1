// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <tuple>
#include <vector>

#include "analyze/exports/export_book.hpp"
#include "analyze/exports/ipfix_tracker.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissect.hpp"
#include "dissect/dissection.hpp"
#include "dissect/ipfix.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// The templates of IPFIX and NetFlow at any packet of a capture, for packets that are read in any order: a
/// record is read as if all packets before had just been read. Bounded. One thread calls learn(); any thread
/// may call read() at any time.
class TemplateHistory {
 public:
  static constexpr std::size_t rows_at_most = 2 * IpfixTracker::rows_at_most;

  /// The next frame whose dissection is_ipfix(). Numbers ascend.
  void learn(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& d);

  /// As ExportedRecords::read(), into `values`. A set without a template, or one that came when there was no
  /// room left, has none.
  void read(std::uint64_t number, const capture::Frame& frame, dissect::Dissection& d,
            const dissect::Options& options, std::vector<dissect::ipfix::RecordValue>& values) const;

 private:
  using Key = std::tuple<ExportProtocol, dissect::IpAddress, std::uint32_t, std::uint16_t>;
  /// What describes the records of a set from a packet on.
  struct Version {
    std::uint64_t packet = 0;
    std::shared_ptr<const RecordTemplate> by;  ///< null: nothing does
  };

  void note(std::uint64_t number, const Key& key, const RecordTemplate* by);
  [[nodiscard]] std::shared_ptr<const RecordTemplate> find(std::uint64_t number, const Key& key) const;

  ExportBook book_;  ///< used by learn() alone, as is the tracker
  IpfixTracker tracker_;

  mutable std::shared_mutex mutex_;  ///< for the rest
  std::map<Key, std::vector<Version>> versions_;
  std::size_t rows_ = 0;
  std::uint64_t full_from_ = ~std::uint64_t{0};  ///< the packet that found no room
};

}  // namespace roce::analyze
