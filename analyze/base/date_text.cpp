// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/date_text.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "analyze/base/value_format.hpp"

namespace roce::analyze {
namespace {

namespace ch = std::chrono;

constexpr std::int64_t ns_per_second = 1'000'000'000;
constexpr std::string_view month_names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

constexpr bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

/// Reads a text from its front; every call removes what it has read.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return text_.empty(); }
  bool take(std::string_view word) {
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  /// A number of exactly `digits` digits, at most `limit`.
  bool take(std::size_t digits, unsigned limit, unsigned& value) {
    if (text_.size() < digits || !std::all_of(text_.begin(), text_.begin() + digits, is_decimal))
      return false;
    value = 0;
    for (std::size_t i = 0; i < digits; ++i) value = value * 10 + static_cast<unsigned>(text_[i] - '0');
    text_.remove_prefix(digits);
    return value <= limit;
  }
  /// Decimals after the point, as nanoseconds.
  bool take_fraction(std::int64_t& nanoseconds) {
    if (text_.empty() || !is_decimal(text_.front())) return false;
    for (std::int64_t unit = ns_per_second / 10; !text_.empty() && is_decimal(text_.front()); unit /= 10) {
      nanoseconds += unit * (text_.front() - '0');
      text_.remove_prefix(1);
    }
    return true;
  }

 private:
  std::string_view text_;
};

bool take_iso_day(DateReader& text, ch::year_month_day& date) {
  constexpr unsigned any = 9999;
  unsigned year = 0, month = 0, day = 0;
  if (!text.take(4, any, year) || !text.take("-") || !text.take(2, any, month) || !text.take("-") ||
      !text.take(2, any, day))
    return false;
  date = ch::year(static_cast<int>(year)) / ch::month(month) / ch::day(day);
  return true;
}

/// "Nov 20, 2026"; a day of one digit may have a blank or a zero before it, or neither.
bool take_named_day(DateReader& text, ch::year_month_day& date) {
  constexpr unsigned any = 9999;
  const auto* const name = std::find_if(std::begin(month_names), std::end(month_names),
                                        [&](std::string_view one) { return text.take(one); });
  unsigned year = 0, day = 0;
  if (name == std::end(month_names) || !text.take(" ")) return false;
  (void)text.take(" ");
  if (!text.take(2, any, day) && !text.take(1, any, day)) return false;
  if (!text.take(", ") || !text.take(4, any, year)) return false;
  date = ch::year(static_cast<int>(year)) /
         ch::month(static_cast<unsigned>(name - std::begin(month_names)) + 1) / ch::day(day);
  return true;
}

bool take_clock(DateReader& text, std::int64_t& nanoseconds) {
  unsigned hour = 0, minute = 0, second = 0;
  if (!text.take(2, 23, hour) || !text.take(":") || !text.take(2, 59, minute)) return false;
  nanoseconds = 0;
  // A leap second is the first one of the next minute, as the clocks of captures count.
  if (text.take(":") && (!text.take(2, 60, second) || (text.take(".") && !text.take_fraction(nanoseconds))))
    return false;
  nanoseconds += (std::int64_t{hour} * 3600 + minute * 60 + second) * ns_per_second;
  return true;
}

/// The zone's seconds east of Greenwich; 0 if there is none.
bool take_zone(DateReader& text, std::int64_t& seconds) {
  seconds = 0;
  if (text.at_end() || text.take("Z") || text.take(" UTC")) return true;
  (void)text.take(" ");
  const bool west = text.take("-");
  if (!west && !text.take("+")) return false;
  unsigned hours = 0, minutes = 0;
  if (!text.take(2, 23, hours)) return false;
  const bool colon = text.take(":");
  if ((colon || !text.at_end()) && !text.take(2, 59, minutes)) return false;
  seconds = (std::int64_t{hours} * 60 + minutes) * (west ? -60 : 60);
  return true;
}

void append_padded(std::string& out, std::int64_t value, char pad) {
  if (value < 10) out.push_back(pad);
  append_decimal(out, static_cast<std::uint64_t>(value));
}

}  // namespace

std::optional<std::int64_t> parse_date(std::string_view typed) noexcept {
  DateReader text(typed);
  ch::year_month_day date{};
  const bool iso = !typed.empty() && is_decimal(typed.front());
  if (iso ? !take_iso_day(text, date) : !take_named_day(text, date)) return std::nullopt;
  // Nanoseconds in 64 bits range from 1677 to 2262; both years are incomplete.
  if (!date.ok() || date.year() < ch::year(1678) || date.year() > ch::year(2261)) return std::nullopt;
  std::int64_t clock = 0, zone = 0;
  DateReader before_clock = text;
  if (before_clock.take(" ") || (iso && before_clock.take("T"))) {
    // A blank may also precede a zone.
    if (take_clock(before_clock, clock)) {
      text = before_clock;
    } else {
      clock = 0;
    }
  }
  if (!take_zone(text, zone) || !text.at_end()) return std::nullopt;
  const std::int64_t day = ch::sys_days(date).time_since_epoch().count();
  return (day * 86'400 - zone) * ns_per_second + clock;
}

std::optional<std::int64_t> parse_time_of_day(std::string_view typed) noexcept {
  DateReader text(typed);
  std::int64_t clock = 0;
  if (!take_clock(text, clock) || !text.at_end()) return std::nullopt;
  return clock;
}

void append_date_text(std::string& out, std::int64_t nanoseconds_since_epoch) {
  const ch::sys_time<ch::nanoseconds> time{ch::nanoseconds(nanoseconds_since_epoch)};
  const ch::sys_days day = ch::floor<ch::days>(time);
  const ch::year_month_day date(day);
  const ch::hh_mm_ss clock(time - day);
  out += month_names[static_cast<unsigned>(date.month()) - 1];
  out.push_back(' ');
  append_padded(out, static_cast<unsigned>(date.day()), ' ');
  out += ", ";
  append_decimal(out, static_cast<std::uint64_t>(static_cast<int>(date.year())));
  out.push_back(' ');
  append_padded(out, clock.hours().count(), '0');
  out.push_back(':');
  append_padded(out, clock.minutes().count(), '0');
  out.push_back(':');
  append_padded(out, clock.seconds().count(), '0');
  std::string fraction;
  append_seconds(fraction, clock.subseconds().count());
  out.append(fraction, 1);  // without the 0 before the point
  out += " UTC";
}

}  // namespace roce::analyze
