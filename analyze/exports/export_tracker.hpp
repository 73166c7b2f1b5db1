// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyze/exports/exports.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"
#include "dissect/sflow.hpp"

namespace roce::analyze {

/// Follows datagrams of sFlow in the order of the capture. Bounded; not thread-safe.
class ExportTracker {
 public:
  static constexpr std::size_t agents_at_most = 4096, sources_at_most = 64 * std::size_t{1024},
                               states_at_most = 2 * sources_at_most, flows_at_most = 64 * std::size_t{1024},
                               drops_at_most = 64 * std::size_t{1024};

  /// A frame whose dissection is_sflow().
  void see(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& d);
  [[nodiscard]] bool any() const noexcept { return found_.datagrams != 0; }
  /// What was seen so far; joins drops with `losses`.
  [[nodiscard]] Exports finish(std::vector<LostTransmission> losses) &&;

 private:
  struct Numbering {
    bool any = false;
    std::uint32_t last = 0;
    std::uint64_t seen = 0;  ///< bit n: last - n has come
  };
  struct AgentState {
    Numbering datagrams;
    std::uint32_t uptime_ms = 0;
  };
  /// Of one kind of samples of a data source.
  struct SourceState {
    Numbering samples;
    std::uint32_t pool = 0;
    std::uint32_t drops = 0;
  };
  /// What one sample says of its packet.
  struct Context {
    std::uint32_t agent;
    std::uint64_t number;
    std::int64_t time_ns;
  };
  /// First counters of a port, and what was added since.
  struct PortState {
    std::uint32_t place;
    dissect::sflow::InterfaceCounters interface;
    dissect::sflow::PfcCounters pfc;
    bool any_interface = false, any_pfc = false;
  };
  struct FlowPlace {
    std::uint32_t source;
    bool egress;
    FlowKey key;
    [[nodiscard]] bool operator==(const FlowPlace&) const noexcept = default;
  };
  struct FlowPlaceHash {
    std::size_t operator()(const FlowPlace& place) const noexcept {
      return place.key.hash() ^
             (std::uint64_t{place.source} * 2 + (place.egress ? 1 : 0)) * 0x9e3779b97f4a7c15U;
    }
  };
  using Records = struct RecordsOfSample;

  [[nodiscard]] std::optional<std::uint32_t> agent_of(const dissect::sflow::Datagram& datagram);
  [[nodiscard]] std::optional<std::uint32_t> source_of(const Context& at,
                                                       const dissect::sflow::Sample& sample);
  void see_sample(const Context& at, const dissect::sflow::Sample& sample);
  void see_packet(const Context& at, const dissect::sflow::Sample& sample);
  void see_drop(const Context& at, const dissect::sflow::Sample& sample);
  void see_counters(const Context& at, const dissect::sflow::Sample& sample);
  void count_flow(const Context& at, std::uint32_t source, bool egress, const PacketRecord& packet,
                  std::uint32_t length);
  void count_queue(const Context& at, const dissect::sflow::Sample& sample, const Records& records);
  enum class Kind : std::uint8_t { flow, dropped, counters };
  /// Of that kind of samples of its data source; null: there are too many.
  [[nodiscard]] SourceState* state_of(const Context& at, Kind kind, const dissect::sflow::Sample& sample);
  [[nodiscard]] PortState* port_of(const Context& at, std::uint32_t index);
  void forget_numbers(std::uint32_t agent);
  [[nodiscard]] std::vector<ExportFlow> flows_by_agent() const;

  Exports found_;  ///< its flows: one for each data source and direction
  std::vector<AgentState> agent_states_;
  std::map<std::tuple<dissect::IpAddress, std::uint32_t>, std::uint32_t> agents_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> sources_;
  /// By agent, kind, class and index.
  std::map<std::tuple<std::uint32_t, Kind, std::uint32_t, std::uint32_t>, SourceState> states_;
  std::unordered_map<FlowPlace, std::uint32_t, FlowPlaceHash> flows_;
  std::vector<std::uint32_t> source_of_flow_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> queues_;
  std::map<std::tuple<std::uint32_t, std::uint32_t>, PortState> ports_;
};

}  // namespace roce::analyze
