// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "analyze/exports/export_book.hpp"
#include "analyze/exports/ipfix_record.hpp"
#include "analyze/exports/numbering.hpp"
#include "dissect/ipfix.hpp"
#include "dissect/types.hpp"

// Internal to this room.
namespace roce::analyze {

/// A datagram, and who sent it.
struct ExportDatagram {
  std::uint64_t number = 0;
  std::int64_t time_ns = capture::no_time;
  dissect::IpAddress sender;
  std::uint16_t port = 0;
};
[[nodiscard]] ExportDatagram export_datagram(std::uint64_t number, const capture::Frame& frame,
                                             const dissect::Dissection& d);
[[nodiscard]] ExportProtocol protocol_of(const dissect::ipfix::Message& message) noexcept;

/// Reads messages of IPFIX and NetFlow version 9 in their order. Templates, samplers and their rates are kept
/// by exporter and observation domain; data that comes before its template is counted.
class IpfixTracker {
 public:
  static constexpr std::size_t templates_at_most = 32 * std::size_t{1024},
                               rows_at_most = 16 * templates_at_most,
                               samplers_at_most = 64 * std::size_t{1024},
                               streams_at_most = 4 * ExportBook::agents_at_most,
                               unrated_at_most = 64;  // further ones have their rate from the end

  void see(ExportBook& book, const ExportDatagram& datagram, dissect::Part payload);
  /// What describes the records of a set, by all messages so far; may be null.
  [[nodiscard]] const RecordTemplate* template_of(std::uint32_t agent, std::uint16_t set) const;
  /// Gives their rate to the sources of which it was told after their samples.
  void finish(ExportBook& book) const;

 private:
  using SamplerKey = std::pair<std::uint16_t, std::uint32_t>;  ///< the element that names it, and its value
  struct Sampler {
    SamplingRate rate;
    std::vector<std::uint32_t> selectors;  ///< of a selection sequence, one after the other
    bool counted = false;                  ///< the next are known
    std::uint64_t observed = 0, selected = 0;
  };
  struct Exporter {
    std::map<std::uint16_t, RecordTemplate> templates;
    std::map<SamplerKey, Sampler> samplers;
    std::set<SamplerKey> unrated;  ///< samplers whose rate was not told before their samples
    std::uint32_t uptime_ms = 0;
  };
  /// What one sender numbers on its own.
  struct Stream {
    Numbering datagrams;  ///< NetFlow
    bool any = false;     ///< IPFIX: the next record is `expected`
    std::uint32_t expected = 0;
    bool late = false;                     ///< this one was expected before
    std::array<std::uint64_t, 64> seen{};  ///< IPFIX: hashes of the last messages
    std::size_t seen_at = 0;
  };

  [[nodiscard]] Stream* stream_of(ExportBook& book, std::uint32_t agent, std::uint16_t port);
  /// False: it came twice.
  [[nodiscard]] bool take_its_turn(ExportBook& book, std::uint32_t agent, Stream& stream,
                                   const dissect::ipfix::Message& message, dissect::Part payload);
  static void count_records(ExportAgent& told, Stream& stream, std::uint32_t sequence,
                            std::optional<std::uint32_t> records);
  void forget(ExportAgent& told, Exporter& exporter, Stream& stream);

  void learn(ExportBook& book, Exporter& exporter, const dissect::ipfix::Set& set, bool netflow9);
  [[nodiscard]] bool erase_template(Exporter& exporter, std::uint16_t id);
  /// How many records are in the set; nothing: that cannot be told.
  [[nodiscard]] std::optional<std::uint32_t> read_data(ExportBook& book, const ExportPlace& at,
                                                       Exporter& exporter,
                                                       const dissect::ipfix::Message& message,
                                                       const dissect::ipfix::Set& set);
  void see_options(ExportBook& book, const ExportPlace& at, Exporter& exporter, const ExportRecord& record);
  static void see_record(ExportBook& book, const ExportPlace& at, Exporter& exporter,
                         const ExportRecord& record);
  /// Gives their rate to samples that came before it: the next rate is not theirs.
  static void rate_what_waits(ExportBook& book, const ExportPlace& at, Exporter& exporter);

  [[nodiscard]] static SamplerKey key_of(const ExportRecord& record);
  [[nodiscard]] static SamplingRate rate_of(const Exporter& exporter, const SamplerKey& key);

  std::map<std::uint32_t, Exporter> exporters_;  ///< by their places in the book
  std::map<std::tuple<std::uint32_t, std::uint16_t>, Stream> streams_;
  std::size_t templates_ = 0, rows_ = 0, samplers_ = 0;
};

}  // namespace roce::analyze
