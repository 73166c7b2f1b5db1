// SPDX-License-Identifier: Apache-2.0
// What the walks through datagrams of switches share: their layers, and the frames that they show. Internal
// to this folder.
#pragma once

#include "dissect/part.hpp"
#include "dissect/walk.hpp"

namespace roce::dissect {

/// The bytes behind the UDP header. Those of the first fragment are cut by the network, not by a length that
/// lies.
[[nodiscard]] Part udp_payload(const Walk& walk) noexcept;
/// The first thing that is wrong is what ended the dissection; what can be passed is passed all the same.
void note_end(Walk& walk, End end, HeaderId id) noexcept;
/// False if there is no room for another layer.
[[nodiscard]] bool add_export(Walk& walk, HeaderId id, std::uint32_t offset, std::size_t length) noexcept;
/// An exported frame is cut, as a rule, and none of its facts are this frame's: only its layers are taken
/// over. `wire`: its length when it was whole; 0: not known.
[[nodiscard]] bool walk_exported(Walk& walk, Bytes bytes, std::uint32_t wire, Step step) noexcept;

}  // namespace roce::dissect
