// SPDX-License-Identifier: Apache-2.0
// SMB Direct: MS-SMBD, 2.2. All numbers are little-endian.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"

namespace roce::dissect {

inline constexpr std::uint16_t smb_direct_version = 0x0100;
// MS-SMBD, 3.1.5.2 and 3.1.5.3: the minimum that a peer must offer.
inline constexpr std::uint32_t smb_direct_min_size = 128, smb_direct_min_fragmented = 131072;

namespace detail {
constexpr Field smbd_number(std::string_view name, std::string_view label, unsigned bit, unsigned bits,
                            std::string_view section) {
  Field field = decimal_field(name, label, bit, bits, section);
  field.little_endian = true;
  return field;
}
constexpr Field smbd_hex(std::string_view name, std::string_view label, unsigned bit, unsigned bits,
                         std::string_view section) {
  Field field = hex_field(name, label, bit, bits, bits, section);
  field.little_endian = true;
  return field;
}
}  // namespace detail

/// The whole message; the next layer is the kind of message.
struct SmbDirect {
  static constexpr HeaderId id = HeaderId::smb_direct;
  static constexpr std::string_view name = "smb_direct", title = "SMB Direct";
  static constexpr std::size_t size = 0;
  static constexpr std::array<Field, 0> fields{};
};

struct SmbDirectNegotiateRequest {
  static constexpr HeaderId id = HeaderId::smb_direct_negotiate_request;
  static constexpr std::string_view name = "smb_direct.negotiate_request", title = "Negotiate Request";
  static constexpr std::size_t size = 20;
  static constexpr std::string_view at = "MS-SMBD, 2.2.1";
  static constexpr Field min_version = detail::smbd_hex("smb_direct.version.min", "MinVersion", 0, 16, at);
  static constexpr Field max_version = detail::smbd_hex("smb_direct.version.max", "MaxVersion", 16, 16, at);
  static constexpr Field credits_requested =
      detail::smbd_number("smb_direct.credits.requested", "CreditsRequested", 48, 16, at);
  static constexpr Field preferred_send =
      detail::smbd_number("smb_direct.preferred_send_size", "PreferredSendSize", 64, 32, at);
  static constexpr Field max_receive =
      detail::smbd_number("smb_direct.max_receive_size", "MaxReceiveSize", 96, 32, at);
  static constexpr Field max_fragmented =
      detail::smbd_number("smb_direct.max_fragmented_size", "MaxFragmentedSize", 128, 32, at);
  static constexpr std::array fields{min_version,    max_version, credits_requested,
                                     preferred_send, max_receive, max_fragmented};
};

struct SmbDirectNegotiateResponse {
  static constexpr HeaderId id = HeaderId::smb_direct_negotiate_response;
  static constexpr std::string_view name = "smb_direct.negotiate_response", title = "Negotiate Response";
  static constexpr std::size_t size = 32;
  static constexpr std::string_view at = "MS-SMBD, 2.2.2";
  static constexpr Field min_version = detail::smbd_hex("smb_direct.version.min", "MinVersion", 0, 16, at);
  static constexpr Field max_version = detail::smbd_hex("smb_direct.version.max", "MaxVersion", 16, 16, at);
  static constexpr Field negotiated =
      detail::smbd_hex("smb_direct.version.negotiated", "NegotiatedVersion", 32, 16, at);
  static constexpr Field credits_requested =
      detail::smbd_number("smb_direct.credits.requested", "CreditsRequested", 64, 16, at);
  static constexpr Field credits_granted =
      detail::smbd_number("smb_direct.credits.granted", "CreditsGranted", 80, 16, at);
  static constexpr Field status = detail::smbd_hex("smb_direct.status", "Status", 96, 32, at);
  static constexpr Field max_read_write =
      detail::smbd_number("smb_direct.max_read_write_size", "MaxReadWriteSize", 128, 32, at);
  static constexpr Field preferred_send =
      detail::smbd_number("smb_direct.preferred_send_size", "PreferredSendSize", 160, 32, at);
  static constexpr Field max_receive =
      detail::smbd_number("smb_direct.max_receive_size", "MaxReceiveSize", 192, 32, at);
  static constexpr Field max_fragmented =
      detail::smbd_number("smb_direct.max_fragmented_size", "MaxFragmentedSize", 224, 32, at);
  static constexpr std::array fields{min_version,     max_version,   negotiated,     credits_requested,
                                     credits_granted, status,        max_read_write, preferred_send,
                                     max_receive,     max_fragmented};
};

struct SmbDirectData {
  static constexpr HeaderId id = HeaderId::smb_direct_data;
  static constexpr std::string_view name = "smb_direct.data_message", title = "Data Transfer";
  static constexpr std::size_t size = 20;
  static constexpr std::string_view at = "MS-SMBD, 2.2.3";
  static constexpr Field credits_requested =
      detail::smbd_number("smb_direct.credits.requested", "CreditsRequested", 0, 16, at);
  static constexpr Field credits_granted =
      detail::smbd_number("smb_direct.credits.granted", "CreditsGranted", 16, 16, at);
  static constexpr Field flags = detail::smbd_hex("smb_direct.flags", "Flags", 32, 16, at);
  static constexpr Field response_requested =
      detail::flag_field("smb_direct.flags.response_requested", "Response Requested", 39, at);
  static constexpr Field remaining =
      detail::smbd_number("smb_direct.remaining_length", "RemainingDataLength", 64, 32, at);
  static constexpr Field data_offset =
      detail::smbd_number("smb_direct.data_offset", "DataOffset", 96, 32, at);
  static constexpr Field data_length =
      detail::smbd_number("smb_direct.data_length", "DataLength", 128, 32, at);
  static constexpr std::array fields{credits_requested, credits_granted, flags,      response_requested,
                                     remaining,         data_offset,     data_length};
};

}  // namespace roce::dissect
