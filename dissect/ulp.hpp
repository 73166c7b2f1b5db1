// SPDX-License-Identifier: Apache-2.0
// A stateless look above the transport: which headers of an upper-layer protocol begin a message.
#pragma once

#include <cstdint>
#include <string_view>

#include "dissect/dissection.hpp"

namespace roce::dissect {

enum class Ulp : std::uint8_t { none, nvme_of, iser, nfs_rdma, smb_direct, count_ };

/// "NVMe-oF", ...; empty for none.
[[nodiscard]] std::string_view ulp_name(Ulp ulp) noexcept;

/// What a connection to this CM service id carries (TCP port space of the RDMA IP CM service).
[[nodiscard]] Ulp ulp_of_service(std::uint64_t service_id) noexcept;

/// The protocol of the payload that begins a SEND message (pad bytes not included), if its own
/// header leaves no doubt. NVMe-oF and SMB Direct data have no such mark: they need the service id.
[[nodiscard]] Ulp recognise(Bytes payload) noexcept;

/// Adds the upper-layer headers that begin the message of a reliable SEND's first or only packet;
/// with Ulp::none as `hint`, if recognise() is sure. In a REQ, REP or REJ it adds the private data of
/// NVMe over RDMA; a REQ names its service itself, REP and REJ need the hint.
/// Adds nothing that the bytes contradict and never changes how the walk ended. Returns what was
/// found. `frame` is what was dissected.
Ulp dissect_ulp(Bytes frame, Dissection& dissection, Ulp hint) noexcept;

}  // namespace roce::dissect
