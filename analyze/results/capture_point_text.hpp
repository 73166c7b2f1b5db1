// SPDX-License-Identifier: Apache-2.0
// Texts on capture points.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/connection/clock_offset.hpp"
#include "analyze/connection/connection.hpp"
#include "capture/core/source.hpp"

namespace roce::analyze {

/// The file and interface that a point was first described in: "left.pcap", "both.pcapng eth1".
[[nodiscard]] std::string point_name(const std::vector<capture::FileInfo>& files,
                                     const std::vector<capture::InterfaceInfo>& interfaces,
                                     std::uint16_t point);

/// "3 connections, followed at a.pcap, seen at b.pcap too", one for each set of points, 16 at most.
[[nodiscard]] std::vector<std::string> copy_texts(const std::vector<Connection>& connections,
                                                  const std::vector<capture::FileInfo>& files,
                                                  const std::vector<capture::InterfaceInfo>& interfaces);

/// "the clock of b.pcap is 3.000 ms ahead of that of a.pcap (+- 0.021 ms, 3705 packets)", one per pair whose
/// clocks certainly differ.
[[nodiscard]] std::vector<std::string> clock_texts(const std::vector<ClockOffset>& clocks,
                                                   const std::vector<capture::FileInfo>& files,
                                                   const std::vector<capture::InterfaceInfo>& interfaces);

/// Whether no single file has packets of all these points: then their times may come from several clocks.
[[nodiscard]] bool of_several_files(const std::vector<capture::FileInfo>& files,
                                    const std::vector<capture::InterfaceInfo>& interfaces,
                                    const std::vector<std::uint16_t>& points);

}  // namespace roce::analyze
