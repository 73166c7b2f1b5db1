// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

// Internal to compare: differences between the times of two points, delays and clock offset.
namespace roce::analyze {

/// Statistics of delays in nanoseconds.
struct DelayStats {
  std::uint64_t count = 0;
  std::int64_t min = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;  ///< ns
};

/// A packet's time, and the difference of its times at both points (B minus A).
struct DelayPoint {
  std::int64_t time_ns = 0;
  std::int64_t difference_ns = 0;
};

/// Of many packets a few at equal distances.
class DelaySamples {
 public:
  explicit DelaySamples(std::size_t most) noexcept : most_(most) {}
  void add(std::int64_t time_ns, std::int64_t difference_ns);
  [[nodiscard]] bool any() const noexcept { return count_ != 0; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }  ///< of all packets
  /// Delays of the samples: sign * (difference - offset - drift).
  [[nodiscard]] DelayStats stats(int sign, std::int64_t offset_ns, double drift, std::int64_t since_ns) const;

 private:
  std::size_t most_;
  std::uint64_t count_ = 0;
  std::uint64_t step_ = 1;
  std::vector<DelayPoint> samples_;
};

/// Time differences (B minus A, ns) of the packets of one direction, over A's time. Bounded.
class DelayTrack {
 public:
  using Point = DelayPoint;
  /// Maximum number of samples for percentiles, taken at equal intervals.
  static constexpr std::size_t most_samples = std::size_t{1} << 18U;
  static constexpr std::size_t most_corners = std::size_t{1} << 12U;

  void add(std::int64_t time_ns, std::int64_t difference_ns);
  [[nodiscard]] std::uint64_t count() const noexcept { return samples_.count(); }

  /// Minimum and maximum of the differences minus the clock drift (ns per ns, from `since_ns` on).
  [[nodiscard]] std::int64_t least(double drift, std::int64_t since_ns) const noexcept;
  [[nodiscard]] std::int64_t largest(double drift, std::int64_t since_ns) const noexcept;
  /// Slope of the line below (or above) all differences that is nearest to them: the edge of their convex
  /// hull over the middle of the time (Moon, Skelly, Towsley 1999).
  [[nodiscard]] std::optional<double> slope(bool from_below) const noexcept;
  /// Seconds between the first and the last difference.
  [[nodiscard]] double seconds() const noexcept;
  [[nodiscard]] std::int64_t first_time_ns() const noexcept { return first_ns_; }

  /// Delays: sign * (difference - offset - drift); minimum and maximum are exact, percentiles are of samples.
  [[nodiscard]] DelayStats delays(int sign, std::int64_t offset_ns, double drift,
                                  std::int64_t since_ns) const;

 private:
  static void extend(std::vector<Point>& hull, Point point, int sign);

  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  DelaySamples samples_{most_samples};
  std::vector<Point> lower_, upper_;      ///< corners of the convex hull, by time
  std::int64_t least_ = 0, largest_ = 0;  ///< including times that went backwards
};

/// Clock offset and drift, from the differences of both directions.
struct ClockEstimate {
  /// B's clock minus A's at the first packet; absent without packets in both directions.
  std::optional<std::int64_t> offset_ns;
  std::optional<std::int64_t> error_ns;  ///< maximum error of the offset, unless a clock was set
  std::optional<double> drift_ppm;       ///< drift of B's clock against A's; absent if not visible
  std::int64_t since_ns = 0;             ///< A's time at the first packet
  double drift = 0;                      ///< ns per ns
};
[[nodiscard]] ClockEstimate estimate_clocks(const DelayTrack& a_to_b, const DelayTrack& b_to_a);

/// A running estimate of the clock offset, within the bounds of the two directions.
class ClockShift {
 public:
  /// `sure`: the initial value is reliable, and kept until there are enough differences.
  ClockShift(std::int64_t start_ns, bool sure) noexcept : shift_(start_ns), sure_(sure) {}
  void add(unsigned direction, std::int64_t difference_ns) noexcept;
  [[nodiscard]] std::int64_t value() const noexcept { return shift_; }

 private:
  static constexpr unsigned epoch = 2048;  ///< differences per update
  struct Bounds {
    std::optional<std::int64_t> least, largest;  ///< of A to B, and of B to A
  };
  std::int64_t shift_;
  bool sure_;
  Bounds current_, previous_;
  unsigned counted_ = 0;
};

}  // namespace roce::analyze
