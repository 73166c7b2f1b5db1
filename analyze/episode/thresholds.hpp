// SPDX-License-Identifier: Apache-2.0
// Times that no packet tells: each with its reason. Everything else is a fact of the path, and measured.
#pragma once

#include <cstdint>

// Internal to the tracker.
namespace roce::analyze::episode {

/// No NIC's retry timer is shorter, whatever Local ACK Timeout says (ConnectX rounds up to some 0.5 ms).
inline constexpr std::int64_t shortest_timer_ns = 100'000;

/// The least time that an RNR NAK can name, but for 0, which stands for the most (IBTA 9.7.5.2.8, table 45).
inline constexpr std::int64_t shortest_rnr_ns = 10'000;

/// Interrupts are not held back longer, so nothing that a host receives is stamped later than that.
inline constexpr std::int64_t latest_stamp_ns = 250'000;

/// Longer than a mirror takes to show a packet again.
inline constexpr std::int64_t quiet_ns = 1'000'000;

/// The paths of one fabric differ by less. Where packets come later than that behind others that were sent
/// after them, passes go by meanwhile.
inline constexpr std::int64_t paths_differ_ns = 1'000'000;

/// How exactly a mirror's lag is the same: what a port needs for a packet that is in the way.
inline constexpr std::int64_t steady_ns = 300;

/// After so long without a packet 16 bits of IPv4 ID may have gone once around, where their pace is not
/// known.
inline constexpr std::int64_t turned_ns = 50'000'000;

/// A slow host's reaction to a missing response; less than most timers.
inline constexpr std::int64_t at_once_ns = 10'000'000;

/// No network holds a packet back that long: what comes later is of another capture that was merged into
/// this.
inline constexpr std::int64_t held_back_ns = 100'000'000;

/// Closing a queue pair and setting it up again takes several system calls, however fast the program is.
inline constexpr std::int64_t soonest_reuse_ns = 100'000;

/// Setting up takes that long where nobody is in a hurry; most timers are shorter.
inline constexpr std::int64_t setting_up_ns = 10'000'000;

/// No time between two packets counts for more, so that a multiple of it can be reckoned with: 4 years.
inline constexpr std::int64_t longest_ns = INT64_MAX / 64;

}  // namespace roce::analyze::episode
