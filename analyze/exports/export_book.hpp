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
#include "analyze/exports/sampled_packet.hpp"
#include "capture/core/frame.hpp"
#include "dissect/part.hpp"

// Internal to this room.
namespace roce::analyze {

/// Where something was exported: its agent, and the datagram.
struct ExportPlace {
  std::uint32_t agent = 0;
  std::uint64_t number = 0;
  std::int64_t time_ns = capture::no_time;
};

/// What tells one data source from others.
struct SourceName {
  std::uint32_t agent = 0, source_class = 0, index = 0;
  std::uint32_t rate = 0, per = 1;
  [[nodiscard]] auto operator<=>(const SourceName&) const noexcept = default;
};

/// Accounts for what is read from exports of any protocol. Bounded: what has no room is counted.
class ExportBook {
 public:
  static constexpr std::size_t agents_at_most = 4096, sources_at_most = 64 * std::size_t{1024},
                               flows_at_most = 64 * std::size_t{1024}, drops_at_most = 64 * std::size_t{1024};

  [[nodiscard]] Exports& found() noexcept { return found_; }
  [[nodiscard]] const Exports& found() const noexcept { return found_; }
  [[nodiscard]] ExportAgent& agent(std::uint32_t place) { return found_.agents[place]; }
  [[nodiscard]] ExportSource& source(std::uint32_t place) { return found_.sources[place]; }

  /// Places in Exports; nothing: there are too many.
  [[nodiscard]] std::optional<std::uint32_t> agent_of(ExportProtocol protocol,
                                                      const dissect::IpAddress& address,
                                                      std::uint32_t sub_agent);
  /// The source whose rate was not known takes it over once it is.
  [[nodiscard]] std::optional<std::uint32_t> source_of(const SourceName& name);

  /// As source_of(), of those that are there.
  [[nodiscard]] std::optional<std::uint32_t> find_source(const SourceName& name) const;

  void see_datagram(const ExportPlace& at);
  enum class Way : std::uint8_t { not_said, ingress, egress };
  /// A sample of a packet that goes out at `output`.
  void see_packet(const ExportPlace& at, std::uint32_t source, Way way, std::uint32_t output,
                  const SampledPacket& packet);
  /// `told`: without what the packet says.
  void see_drop(const ExportPlace& at, ExportDrop told, const SampledPacket& packet);

  /// Joins drops with `losses`.
  [[nodiscard]] Exports finish(std::vector<LostTransmission> losses) &&;

 private:
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

  void count_flow(const ExportPlace& at, std::uint32_t source, bool egress, const PacketRecord& packet,
                  std::uint32_t length);
  void count_queue(const ExportPlace& at, std::uint32_t port, const SampledPacket& packet);
  [[nodiscard]] std::vector<ExportFlow> flows_by_agent() const;

  Exports found_;  ///< its flows: one for each data source and direction
  std::map<std::tuple<ExportProtocol, dissect::IpAddress, std::uint32_t>, std::uint32_t> agents_;
  std::map<SourceName, std::uint32_t> sources_;
  std::unordered_map<FlowPlace, std::uint32_t, FlowPlaceHash> flows_;
  std::vector<std::uint32_t> source_of_flow_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> queues_;
};

/// The bytes behind the UDP header.
[[nodiscard]] dissect::Part exported_bytes(const capture::Frame& frame, const dissect::Dissection& d);
/// A difference of counters that may have wrapped once; absurd ones are those of a restart.
[[nodiscard]] constexpr std::uint64_t added(std::uint32_t before, std::uint32_t now) noexcept {
  const std::uint32_t difference = now - before;
  return difference < 0x8000'0000U ? difference : 0U;
}
[[nodiscard]] constexpr std::uint64_t added(std::uint64_t before, std::uint64_t now) noexcept {
  return now > before ? now - before : 0;
}

}  // namespace roce::analyze
