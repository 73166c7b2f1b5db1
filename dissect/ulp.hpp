// SPDX-License-Identifier: Apache-2.0
// Upper-layer protocols, without state: the headers at the beginning of a message.
#pragma once

#include <cstdint>
#include <string_view>

#include "dissect/dissection.hpp"

namespace roce::dissect {

enum class Ulp : std::uint8_t { none, nvme_of, iser, nfs_rdma, smb_direct, count_ };

/// "NVMe-oF", ...; empty for none.
[[nodiscard]] std::string_view ulp_name(Ulp ulp) noexcept;

/// The protocol of a connection to this CM service id (TCP port space of the RDMA IP CM service).
[[nodiscard]] Ulp ulp_of_service(std::uint64_t service_id) noexcept;

/// The protocol of the payload at the beginning of a SEND message (without pad bytes), if its own header
/// is unambiguous. NVMe-oF and SMB Direct data are not: they need the service id.
[[nodiscard]] Ulp recognise(Bytes payload) noexcept;

/// Adds the upper-layer headers at the beginning of the message to the first or only packet of a reliable
/// SEND; with Ulp::none as `hint`, only if recognise() finds one. In a REQ, REP or REJ it adds the private
/// data of NVMe over RDMA; a REQ has the service id itself, REP and REJ need the hint.
/// Adds no header that the bytes contradict and leaves `stop` as it is. Returns the protocol that was
/// found. `frame` are the bytes that were dissected.
Ulp dissect_ulp(Bytes frame, Dissection& dissection, Ulp hint) noexcept;

}  // namespace roce::dissect
