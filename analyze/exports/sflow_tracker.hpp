// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "analyze/exports/export_book.hpp"
#include "analyze/exports/numbering.hpp"
#include "dissect/sflow.hpp"

// Internal to this room.
namespace roce::analyze {

/// Reads datagrams of sFlow in their order: what their numbers and counters say needs those before.
class SflowTracker {
 public:
  static constexpr std::size_t states_at_most = 2 * ExportBook::sources_at_most;

  void see(ExportBook& book, std::uint64_t number, std::int64_t time_ns, dissect::Part payload);

 private:
  using Sample = dissect::sflow::Sample;
  struct AgentState {
    Numbering datagrams;
    std::uint32_t uptime_ms = 0;
    std::uint64_t cut_away = 0;  ///< samples that the capture does not have, of whatever source
  };
  /// Of one kind of samples of a data source.
  struct SourceState {
    Numbering samples;
    std::uint32_t pool = 0;
    std::uint32_t drops = 0;
  };
  /// First counters of a port, and what was added since.
  struct PortState {
    std::uint32_t place;
    dissect::sflow::InterfaceCounters interface;
    dissect::sflow::PfcCounters pfc;
    bool any_interface = false, any_pfc = false;
  };
  enum class Kind : std::uint8_t { flow, dropped, counters };

  void see_sample(ExportBook& book, const ExportPlace& at, const Sample& sample);
  void see_packet(ExportBook& book, const ExportPlace& at, const Sample& sample);
  void see_drop(ExportBook& book, const ExportPlace& at, const Sample& sample);
  void see_counters(ExportBook& book, const ExportPlace& at, const Sample& sample);
  /// Of that kind of samples of its data source; null: there are too many.
  [[nodiscard]] SourceState* state_of(ExportBook& book, const ExportPlace& at, Kind kind,
                                      const Sample& sample);
  [[nodiscard]] PortState* port_of(ExportBook& book, const ExportPlace& at, std::uint32_t index);
  void forget_numbers(std::uint32_t agent);

  std::map<std::uint32_t, AgentState> agents_;  ///< by their places in the book
  /// By agent, kind, class and index.
  std::map<std::tuple<std::uint32_t, Kind, std::uint32_t, std::uint32_t>, SourceState> states_;
  std::map<std::tuple<std::uint32_t, std::uint32_t>, PortState> ports_;
};

}  // namespace roce::analyze
