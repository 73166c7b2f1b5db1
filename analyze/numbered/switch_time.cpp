// SPDX-License-Identifier: Apache-2.0
#include "analyze/numbered/switch_time.hpp"

#include <algorithm>
#include <cstdlib>

#include "capture/core/forwarding_source.hpp"
#include "dissect/bytes.hpp"
#include "dissect/dissect.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/headers/mirror.hpp"
#include "dissect/headers/tunnel.hpp"
#include "dissect/trailer.hpp"

namespace roce::analyze {

using namespace dissect;

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t tai_minus_utc_ns = 37 * second_ns;
/// A stamp that is not so near to the time of the capture is no time, or none of a clock that was set.
constexpr std::int64_t near_ns = 30 * 86'400 * second_ns;

bool is_near(std::int64_t time_ns, const capture::Frame& frame) noexcept {
  return frame.time_ns != capture::no_time && std::abs(time_ns - frame.time_ns) <= near_ns;
}

std::optional<std::int64_t> arista_time(const capture::Frame& frame, const Layer& layer) noexcept {
  const std::uint8_t* const p = frame.data + layer.offset;
  std::int64_t time = 0;
  if (layer.length >= AristaStamp::long_size) {
    time = std::int64_t{dissect::read<AristaStamp::seconds>(p)} * second_ns + AristaStamp::nanoseconds64(p);
  } else {
    if (frame.time_ns == capture::no_time) return std::nullopt;
    // The seconds are those nearest to the capture's with these low bits.
    constexpr std::int64_t period = 0x10000;
    const std::int64_t now = frame.time_ns / second_ns;
    const std::int64_t low = dissect::read<AristaStamp::seconds16>(p);
    std::int64_t seconds = now - now % period + low;
    if (seconds - now > period / 2) seconds -= period;
    if (now - seconds > period / 2) seconds += period;
    time = seconds * second_ns + dissect::read<AristaStamp::nanoseconds16>(p);
  }
  return dissect::read<AristaStamp::scale>(p) == 0 ? time - tai_minus_utc_ns : time;
}

/// Behind the end of the IP packet, with the FCS of the link or without it.
std::optional<std::int64_t> trailer_time(const capture::Frame& frame, const Dissection& d) noexcept {
  if (frame.time_ns == capture::no_time) return std::nullopt;
  const auto trailer = find_trailer({frame.data, frame.captured}, frame.wire, frame.time_ns, d);
  return trailer ? std::optional(trailer->time_ns) : std::nullopt;
}

/// Nanoseconds of a tick; 0: another unit.
std::int64_t tick_ns(unsigned granularity) noexcept {
  constexpr std::int64_t units[] = {100'000, 100, 1, 0};
  return units[granularity & 3U];
}

/// `ticks` after that time; nullopt: no time that a capture can have, so the stamp is none.
std::optional<std::int64_t> later(std::int64_t time_ns, std::int64_t ticks, std::int64_t unit) noexcept {
  std::int64_t passed = 0, time = 0;
  if (__builtin_mul_overflow(ticks, unit, &passed) || __builtin_add_overflow(time_ns, passed, &time))
    return std::nullopt;
  return time;
}

class StampedSource final : public capture::ForwardingSource {
 public:
  explicit StampedSource(std::unique_ptr<capture::CaptureSource> source)
      : ForwardingSource(std::move(source)) {}

  capture::Expected<std::size_t> next_batch(capture::FrameBatch& batch, std::size_t limit) override {
    const std::size_t before = batch.frames.size();
    auto got = source_->next_batch(batch, limit);
    for (std::size_t i = before; i < batch.frames.size(); ++i) {
      capture::Frame& frame = batch.frames[i];
      dissect::dissect({frame.data, frame.captured}, frame.wire, frame.link_type, d_);
      frame.time_ns = clock_.read(frame, d_).value_or(capture::no_time);
    }
    return got;
  }

 private:
  SwitchClock clock_;
  Dissection d_;
};

}  // namespace

/// With the upper half, or with seconds, it is a time; else it begins at the time of the capture.
std::optional<std::int64_t> SwitchClock::read_erspan(const capture::Frame& frame, const Dissection& d) {
  const Layer* const layer = d.find(HeaderId::erspan3);
  if (layer == nullptr) return std::nullopt;
  const std::uint8_t* const p = frame.data + layer->offset;
  const std::int64_t unit = tick_ns(dissect::read<Erspan3::granularity>(p));
  if (unit == 0) return std::nullopt;
  std::uint64_t ticks = dissect::read<Erspan3::timestamp>(p);
  bool whole = false;
  if (const Layer* const sub = d.find(HeaderId::erspan_platform); sub != nullptr) {
    const std::uint8_t* const s = frame.data + sub->offset;
    const unsigned platform = dissect::read<ErspanPlatform::platform>(s);
    const std::uint32_t second_word = load_be32(s + 4);
    if (platform == 5 || platform == 6) {
      const std::int64_t time = std::int64_t{second_word} * second_ns + static_cast<std::int64_t>(ticks);
      if (unit == 1 && ticks < second_ns && is_near(time, frame)) return time;
    } else if (platform == 0 || platform == 3 || platform == 7) {
      ticks |= std::uint64_t{second_word} << 32U;
      whole = true;
    }
  }
  constexpr std::uint64_t far_away = std::uint64_t{1} << 62U;
  if (whole && ticks < far_away / static_cast<std::uint64_t>(unit)) {
    const auto time = static_cast<std::int64_t>(ticks) * unit;
    if (is_near(time, frame)) return time;
  }
  if (frame.time_ns == capture::no_time || d.layers[0].id != HeaderId::ethernet) return std::nullopt;
  IpAddress from;
  for (const Layer& each : d.all()) {
    if (each.offset >= layer->offset) break;
    const std::uint8_t* const ip = frame.data + each.offset;
    if (each.id == HeaderId::ipv4) from = IpAddress::v4(ip + Ipv4::src.first_byte());
    if (each.id == HeaderId::ipv6) from = IpAddress::v6(ip + Ipv6::src.first_byte());
  }
  constexpr std::size_t sessions_at_most = 4096;
  const std::pair key{from, static_cast<std::uint32_t>(dissect::read<Erspan3::spanid>(p))};
  if (!sessions_.contains(key) && sessions_.size() >= sessions_at_most) return std::nullopt;
  const auto [found, fresh] = sessions_.try_emplace(key, Anchor{frame.time_ns, ticks});
  Anchor& anchor = found->second;
  if (fresh) return frame.time_ns;
  // Of 32 bits: the ticks nearest to what passed in the capture.
  std::int64_t passed = whole ? static_cast<std::int64_t>(ticks - anchor.ticks)
                              : static_cast<std::int32_t>(static_cast<std::uint32_t>(ticks - anchor.ticks));
  const std::int64_t then = anchor.time_ns;
  if (!whole) {
    const std::int64_t period = unit << 32U;
    const std::optional<std::int64_t> time = later(then, passed, unit);
    std::int64_t off = 0;
    if (!time || __builtin_sub_overflow(frame.time_ns, *time, &off)) return std::nullopt;
    passed += (off / period + off % period / (period / 2)) * (std::int64_t{1} << 32U);
  }
  return later(then, passed, unit);
}

std::optional<std::int64_t> SwitchClock::read(const capture::Frame& frame, const Dissection& d) {
  if (const Layer* const stamp = d.find(HeaderId::arista_stamp); stamp != nullptr)
    return arista_time(frame, *stamp);
  if (d.in(Tunnel::erspan)) return read_erspan(frame, d);
  return trailer_time(frame, d);
}

std::unique_ptr<capture::CaptureSource> by_switch_time(std::unique_ptr<capture::CaptureSource> source) {
  return std::make_unique<StampedSource>(std::move(source));
}

}  // namespace roce::analyze
