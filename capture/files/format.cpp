// SPDX-License-Identifier: Apache-2.0
#include "capture/files/format.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "capture/core/bytes.hpp"
#include "capture/core/capture_magic.hpp"

namespace roce::capture {
namespace {

using namespace std::string_view_literals;

using WalkerMaker = std::unique_ptr<Walker> (*)(const WalkContext&);

// One row a magic. Formats that are read have a maker; the others are refused, with the reason.
struct FormatRow {
  std::string_view magic;
  WalkerMaker make;
  ErrorKind kind;
  std::string_view reason;
};

constexpr auto modified_reason =
    "pcap as modified by Kuznetzov's patched libpcap, with longer record headers, is not supported: convert "
    "it with editcap -F pcap"sv;
constexpr auto fmesquita_reason =
    "this variant of pcap (fmesquita) is not documented anywhere and is not supported"sv;
constexpr auto navtel_reason = "the Navtel variant of pcap is not documented and is not supported"sv;
constexpr auto ixia_reason =
    "pcap as written by Ixia's devices is not supported: convert it with editcap -F nsecpcap"sv;
constexpr auto cbpf_reason = "a pcap of OpenBSD's pflog format is not supported"sv;
constexpr auto old_pcap_reason = "a pcap of an unknown, pre-release kind is not supported"sv;

constexpr FormatRow refuse(std::string_view magic, std::string_view reason) {
  return {magic, nullptr, ErrorKind::unsupported, reason};
}
constexpr FormatRow foreign(std::string_view magic, std::string_view reason) {
  return {magic, nullptr, ErrorKind::not_a_capture, reason};
}

// clang-format off
constexpr std::array formats = {
    FormatRow{pcap_magics[0], make_pcap_walker, {}, {}},
    FormatRow{pcap_magics[1], make_pcap_walker, {}, {}},
    FormatRow{pcap_magics[2], make_pcap_walker, {}, {}},
    FormatRow{pcap_magics[3], make_pcap_walker, {}, {}},
    FormatRow{pcapng_magic, make_pcapng_walker, {}, {}},
    refuse("\x34\xcd\xb2\xa1"sv, modified_reason),
    refuse("\xa1\xb2\xcd\x34"sv, modified_reason),
    refuse("\xcd\x34\xb2\xa1"sv, fmesquita_reason),
    refuse("\xa1\xb2\x34\xcd"sv, fmesquita_reason),
    refuse("\x4d\x3c\x2b\xa1"sv, navtel_reason),
    refuse("\xa1\x2b\x3c\x4d"sv, navtel_reason),
    refuse("\x1c\x00\x01\xac"sv, ixia_reason),
    refuse("\xac\x01\x00\x1c"sv, ixia_reason),
    refuse("\x1c\x00\x01\xab"sv, ixia_reason),
    refuse("\xab\x01\x00\x1c"sv, ixia_reason),
    refuse("\xa1\xe2\xcb\x12"sv, cbpf_reason),
    refuse("\x12\xcb\xe2\xa1"sv, cbpf_reason),
    refuse("\xa1\xb2\xc3\xcd"sv, old_pcap_reason),
    refuse("\xcd\xc3\xb2\xa1"sv, old_pcap_reason),
    refuse("snoop\0\0\0"sv, "a Solaris snoop file is not supported: convert it with editcap -F pcapng"),
    refuse("btsnoop\0"sv, "a Bluetooth snoop file holds no network frames"),
    refuse("RTSS"sv, "a Microsoft Network Monitor file is not supported: convert it with editcap -F pcapng"),
    refuse("GMBU"sv, "a Microsoft Network Monitor file is not supported: convert it with editcap -F pcapng"),
    refuse("XCP\0"sv, "a NetXray or Sniffer file is not supported: convert it with editcap -F pcapng"),
    refuse("TRSNIFF data"sv, "a Sniffer file is not supported: convert it with editcap -F pcapng"),
    refuse("\xfd""7zXZ\0"sv, "xz compression is not supported: decompress it with xz -d, or pipe it in"),
    refuse("BZh"sv, "bzip2 compression is not supported: decompress it with bzip2 -d, or pipe it in"),
    refuse("\x02\x21\x4c\x18"sv, "the legacy frame of lz4 is not supported: decompress it with lz4 -d, or pipe it in"),
    refuse("\x1f\x9d"sv, "compress (.Z) compression is not supported: decompress it, or pipe it in"),
    refuse("PK\x03\x04"sv, "a zip archive is not supported: unpack it"),
    refuse("7z\xbc\xaf\x27\x1c"sv, "a 7z archive is not supported: unpack it"),
    foreign("\x7f""ELF"sv, "this is a program, not a capture"),
    foreign("<!DOCTYPE"sv, "this looks like a web page, not a capture: was a login page saved instead of the file?"),
    foreign("<html"sv, "this looks like a web page, not a capture: was a login page saved instead of the file?"),
    foreign("<?xml"sv, "this looks like XML, not a capture"),
    foreign("version https://git-lfs"sv, "this is a Git LFS pointer, not the capture itself: git lfs pull fetches it"),
};
// clang-format on

bool starts_with(const std::uint8_t* data, std::size_t size, std::string_view magic) noexcept {
  return size >= magic.size() && std::memcmp(data, magic.data(), magic.size()) == 0;
}

bool looks_like_text(const std::uint8_t* data, std::size_t size) noexcept {
  return std::all_of(data, data + size, [](std::uint8_t byte) {
    return byte >= 0x20 ? byte < 0x7F : byte == '\n' || byte == '\r' || byte == '\t';
  });
}

std::string in_hex(const std::uint8_t* data, std::size_t size) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    if (i != 0) text += ' ';
    text += digits[data[i] >> 4U];
    text += digits[data[i] & 0xFU];
  }
  return text;
}

tl::unexpected<Error> refusal(ErrorKind kind, std::string message) {
  Error error;
  error.kind = kind;
  error.offset = 0;
  error.message = std::move(message);
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace

Expected<std::unique_ptr<Walker>> make_walker(const std::uint8_t* data, std::size_t size,
                                              const WalkContext& context) {
  if (size == 0) return refusal(ErrorKind::not_a_capture, "it is empty");
  for (const FormatRow& row : formats) {
    if (!starts_with(data, size, row.magic)) continue;
    if (row.make != nullptr) return row.make(context);
    return refusal(row.kind, std::string(row.reason));
  }
  if (looks_like_text(data, std::min(size, detection_bytes))) {
    return refusal(ErrorKind::not_a_capture, "this looks like text, not a capture");
  }
  const std::size_t shown = std::min<std::size_t>(size, 8);
  return refusal(
      ErrorKind::not_a_capture,
      "neither pcap nor pcapng, plain or compressed: it begins with the bytes " + in_hex(data, shown));
}

}  // namespace roce::capture
