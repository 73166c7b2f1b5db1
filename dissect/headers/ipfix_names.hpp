// SPDX-License-Identifier: Apache-2.0
// Names of values of IPFIX and NetFlow version 9.
#pragma once

#include "dissect/field.hpp"

namespace roce::dissect {

/// IANA, "Forwarding Status" (RFC 7270, 4.12): packets that were dropped.
inline constexpr ValueName forwarding_status_names[] = {{128, "unknown"},
                                                        {129, "ACL deny"},
                                                        {130, "ACL drop"},
                                                        {131, "unroutable"},
                                                        {132, "no adjacency"},
                                                        {133, "too big, and may not be fragmented"},
                                                        {134, "bad header checksum"},
                                                        {135, "bad total length"},
                                                        {136, "bad header length"},
                                                        {137, "TTL exceeded"},
                                                        {138, "policer"},
                                                        {139, "WRED"},
                                                        {140, "reverse path forwarding"},
                                                        {141, "for the switch itself"},
                                                        {142, "bad output interface"},
                                                        {143, "hardware"}};
/// The few codes of mirrored drops that are public: the pipeline in bits 8 and 9, its code below.
inline constexpr ValueName mirror_reason_names[] = {
    {0x010, "ACL"},
    {0x01a, "destination discard"},
    {0x101, "no buffer (limit of the ingress priority group)"},
    {0x103, "no buffer (limit of the egress port)"}};
inline constexpr ValueName ipfix_set_names[] = {{0, "Templates (NetFlow 9)"},
                                                {1, "Options templates (NetFlow 9)"},
                                                {2, "Templates"},
                                                {3, "Options templates"}};

}  // namespace roce::dissect
