// SPDX-License-Identifier: Apache-2.0
#include "analyze/numbered/numbered.hpp"

#include <fmt/format.h>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"

namespace roce::analyze {
namespace {

/// AH leaves readable what it carries.
bool hides(const NumberedStream& stream) noexcept {
  return !stream.mirror() && stream.key.kind != NumberedKind::ah;
}

template <class Of>
std::uint64_t sum_of(const Numbered& numbered, Of of) noexcept {
  std::uint64_t sum = 0;
  for (const NumberedStream& stream : numbered.streams) sum += of(stream);
  return sum;
}

}  // namespace

std::uint64_t Numbered::encrypted() const noexcept {
  return sum_of(*this, [](const NumberedStream& each) { return hides(each) ? each.packets : 0; });
}
std::uint64_t Numbered::mirrored() const noexcept {
  return sum_of(*this, [](const NumberedStream& each) { return each.mirror() ? each.packets : 0; });
}
std::uint64_t Numbered::mirror_missing() const noexcept {
  return sum_of(*this, [](const NumberedStream& each) { return each.mirror() ? each.missing : 0; });
}

std::string numbered_text(const NumberedKey& key) {
  switch (key.kind) {
    case NumberedKind::esp:
      return fmt::format("ESP, SPI 0x{:08x}", key.id);
    case NumberedKind::ah:
      return fmt::format("AH, SPI 0x{:08x}", key.id);
    case NumberedKind::psp:
      return fmt::format("PSP, SPI 0x{:08x}", key.id);
    case NumberedKind::macsec:
      return fmt::format("MACsec, SCI {:016x}, AN {}", key.id, key.association);
    case NumberedKind::erspan:
      return fmt::format("ERSPAN session {}", key.id);
    case NumberedKind::gre:
    case NumberedKind::count_:
      break;
  }
  return key.id == 0 ? std::string("GRE") : fmt::format("GRE key 0x{:08x}", key.id);
}

std::string encrypted_text(const Numbered& numbered) {
  const std::uint64_t packets = numbered.encrypted();
  if (packets == 0) return {};
  const NumberedStream* most = nullptr;
  std::uint64_t others = 0;
  for (const NumberedStream& stream : numbered.streams) {
    if (!hides(stream)) continue;
    if (most != nullptr) ++others;
    if (most == nullptr) most = &stream;
  }
  return fmt::format("{} {} encrypted ({}{})", packets_text(packets), packets == 1 ? "is" : "are",
                     numbered_text(most->key), others == 0 ? "" : fmt::format(" and {} more", others));
}

std::string mirror_loss_text(const Numbered& numbered) {
  const NumberedStream* worst = nullptr;
  std::uint64_t others = 0;
  for (const NumberedStream& stream : numbered.streams) {
    if (!stream.mirror() || stream.missing == 0) continue;
    if (worst != nullptr) ++others;
    if (worst == nullptr || stream.missing > worst->missing) worst = &stream;
  }
  if (worst == nullptr) return {};
  return fmt::format(
      "{} of {} lost {} of {} packets ({}) between switch and capture{}", numbered_text(worst->key),
      address_text(worst->key.src), worst->missing, worst->packets + worst->missing,
      percent_text(worst->missing, worst->packets + worst->missing),
      others == 0 ? "" : fmt::format(", {} more lost some, too", plural(others, "mirror", "mirrors")));
}

}  // namespace roce::analyze
