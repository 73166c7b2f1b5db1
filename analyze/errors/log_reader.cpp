// SPDX-License-Identifier: Apache-2.0
#include "analyze/errors/log_reader.hpp"

#include <algorithm>
#include <utility>

#include "analyze/errors/completion_status.hpp"
#include "analyze/errors/log_values.hpp"

namespace roce::analyze {
namespace {

using Part = LogPattern::Part;

/// Who logs: the word "host:1234:1240" before the message, as NCCL and UCX begin their lines with it. Empty
/// if there is none.
std::string_view thread_of(std::string_view line) noexcept {
  constexpr std::string_view ends = " []\t";
  constexpr std::size_t words = 8;  // the times before it included
  std::size_t at = 0;
  for (std::size_t i = 0; i < words; ++i) {
    at = line.find_first_not_of(ends, at);
    if (at == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(ends, at), line.size());
    const std::string_view word = line.substr(at, end - at);
    const bool name =
        (word.front() >= 'a' && word.front() <= 'z') || (word.front() >= 'A' && word.front() <= 'Z');
    const std::size_t colon = word.find(':');
    // Not a source with its line, "p2p.cc:688".
    if (name && colon != word.npos && word.find(':', colon + 1) != word.npos) return word;
    at = end;
  }
  return {};
}

/// Text that is all there is on the line, without what ends it.
std::string rest_of(std::string_view text) {
  constexpr std::size_t longest = 80;
  text = text.substr(0, std::min(text.find_last_not_of(" \t\r") + 1, longest));
  return std::string(text);
}

std::string word_of(std::string_view text) {
  constexpr std::size_t longest = 32;
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  const std::size_t end = std::min(text.find_first_not_of(letters), text.size());
  return std::string(text.substr(0, std::min(end, longest)));
}

bool set_addresses(LoggedError& error, std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return false;
  error.local = read_address(text);
  error.remote = read_address(text.substr(comma + 1));
  return error.local || error.remote;
}

/// Sets a field to the value that `text` begins with. False: there is none.
bool set_field(LoggedError& error, LogField field, std::string_view text, bool hexadecimal) {
  switch (field) {
    case LogField::none:
      return true;
    case LogField::status:
      return (error.status = read_completion_status(text)).has_value();
    case LogField::vendor_error:
      return (error.vendor_error = read_number(text, hexadecimal)).has_value();
    case LogField::syndrome: {
      const auto number = read_number(text, hexadecimal);
      if (!number || *number > 0xff) return false;
      error.syndrome = static_cast<std::uint8_t>(*number);
      error.status = status_of_mlx5_syndrome(*error.syndrome);
      return true;
    }
    case LogField::local_qp:
      return (error.local_qp = read_qp(text, hexadecimal)).has_value();
    case LogField::remote_qp:
      return (error.remote_qp = read_qp(text, hexadecimal)).has_value();
    case LogField::local:
      return (error.local = read_address(text)).has_value();
    case LogField::remote:
      return (error.remote = read_address(text)).has_value();
    case LogField::local_and_remote:
      return set_addresses(error, text);
    case LogField::device:
      error.device = read_device(text);
      return !error.device.empty();
    case LogField::event:
      error.event = rest_of(text);
      return true;
    case LogField::operation:
      error.operation = word_of(text);
      return !error.operation.empty();
  }
  return false;
}

void set_field(LoggedError& error, const LogMarker& marker, std::string_view line) {
  const bool hexadecimal = marker.after.ends_with("0x");
  const auto behind = [&](std::size_t at) { return line.substr(at + marker.after.size()); };
  if (marker.field == LogField::event) {
    if (const std::size_t at = line.rfind(marker.after); at != line.npos)
      set_field(error, marker.field, behind(at), hexadecimal);
    return;
  }
  // The first one behind which there is such a value.
  for (std::size_t at = line.find(marker.after); at != line.npos; at = line.find(marker.after, at + 1)) {
    if (set_field(error, marker.field, behind(at), hexadecimal)) return;
  }
}

LoggedError read_error(const LogPattern& pattern, std::string_view line) {
  LoggedError error;
  error.program = pattern.program;
  for (const LogMarker& marker : pattern.markers) {
    if (marker.field != LogField::none) set_field(error, marker, line);
  }
  return error;
}

template <class Value>
void add(std::optional<Value>& to, const std::optional<Value>& more) {
  if (!to) to = more;
}

/// What another line says of the same error.
void add_all(LoggedError& error, const LoggedError& more) {
  add(error.status, more.status);
  add(error.vendor_error, more.vendor_error);
  add(error.syndrome, more.syndrome);
  add(error.local_qp, more.local_qp);
  add(error.remote_qp, more.remote_qp);
  add(error.local, more.local);
  add(error.remote, more.remote);
  if (error.device.empty()) error.device = more.device;
  if (error.operation.empty()) error.operation = more.operation;
}

/// Whether a line is an error, and not only something that looks like one.
bool says_something(const LoggedError& error) noexcept {
  return error.status || error.syndrome || error.vendor_error || error.local_qp || !error.event.empty();
}

/// Programs whose lines tell which thread wrote them.
bool tells_thread(LogProgram program) noexcept {
  return program == LogProgram::nccl || program == LogProgram::ucx;
}

}  // namespace

void LogReader::read(std::string_view bytes) {
  log_.bytes += bytes.size();
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (end != bytes.npos && !any_) {
      use(piece.substr(0, line_limit));
    } else {
      line_ += piece.substr(0, line_limit - std::min(line_limit, line_.size()));
      any_ = end == bytes.npos;
      if (!any_) {
        use(line_);
        line_.clear();
      }
    }
    if (end == bytes.npos) return;
    bytes.remove_prefix(end + 1);
  }
}

ErrorLog LogReader::finish(std::string name) {
  if (any_) use(line_);
  any_ = false;
  for (Open& each : open_) keep(std::move(each.error));
  open_.clear();
  log_.name = std::move(name);
  std::stable_sort(log_.errors.begin(), log_.errors.end(),
                   [](const LoggedError& a, const LoggedError& b) { return a.line < b.line; });
  return std::move(log_);
}

void LogReader::use(std::string_view line) {
  ++log_.lines;
  if (!open_.empty()) {
    close_old();
    if (take_dump(line)) return;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (told_.local_qp || told_.remote_qp) {
    // perftest tells the GID on a line of its own.
    constexpr std::string_view gid = " GID: ";
    if (line.starts_with(gid)) {
      (told_.remote_was_last ? told_.remote : told_.local) = read_decimal_gid(line.substr(gid.size()));
      return;
    }
  }
  for (const LogPattern& pattern : log_patterns()) {
    if (line.find(pattern.anchor) == line.npos) continue;
    if (!pattern.also.empty() && line.find(pattern.also) == line.npos) continue;
    if (use_pattern(pattern, line)) return;
  }
}

/// False: it is no such line after all.
bool LogReader::use_pattern(const LogPattern& pattern, std::string_view line) {
  LoggedError found = read_error(pattern, line);
  if (pattern.part == Part::tells) {
    tell(found);
    return true;
  }
  const std::string_view thread = tells_thread(pattern.program) ? thread_of(line) : std::string_view();
  if (pattern.part == Part::joins) {
    if (Open* before = going_on(pattern.program, thread)) {
      add_all(before->error, found);
      before->dumped = true;
      return true;
    }
  }
  const bool dumps = pattern.program == LogProgram::mlx5;
  if (!dumps && !says_something(found)) return false;
  found.line = found.last_line = log_.lines;
  found.text = line.substr(0, LoggedError::longest_text);
  if (const auto time = read_log_time(line)) {
    found.time_ns = time->ns;
    found.zone_known = time->zone_known;
  }
  add_told(found);
  if (pattern.part == Part::opens || dumps) {
    open({std::move(found), std::string(thread), {}, dumps});
  } else {
    keep(std::move(found));
  }
  return true;
}

void LogReader::tell(const LoggedError& found) {
  const bool remote = found.remote_qp.has_value();
  if (!remote && !found.local_qp) return;
  std::optional<std::uint32_t>& qp = remote ? told_.remote_qp : told_.local_qp;
  const std::optional<std::uint32_t>& now = remote ? found.remote_qp : found.local_qp;
  told_.several = told_.several || (qp && qp != now);
  qp = now;
  std::optional<dissect::IpAddress>& address = remote ? told_.remote : told_.local;
  if (const auto& known = remote ? found.remote : found.local) address = known;
  told_.remote_was_last = remote;
}

/// perftest and the examples of rdma-core say which queue pairs they have before anything can go wrong.
void LogReader::add_told(LoggedError& error) const {
  if (error.program != LogProgram::perftest) return;
  add(error.local, told_.local);
  add(error.remote, told_.remote);
  if (told_.several) return;
  add(error.local_qp, told_.local_qp);
  add(error.remote_qp, told_.remote_qp);
}

/// Whether the line is part of the dump of a CQE.
bool LogReader::take_dump(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const auto of = std::find_if(open_.rbegin(), open_.rend(), [](const Open& each) {
    return each.error.program == LogProgram::mlx5 && each.dumped;
  });
  if (of == open_.rend() || !of->dump.take(line)) return false;
  if (!of->dump.complete()) return true;
  if (const auto cqe = of->dump.read()) {
    LoggedError more;
    if (cqe->qp != 0) more.local_qp = cqe->qp;
    more.syndrome = cqe->syndrome;
    more.vendor_error = cqe->vendor_error;
    more.status = status_of_mlx5_syndrome(cqe->syndrome);
    more.operation = cqe->operation;
    add_all(of->error, more);
  }
  keep(std::move(of->error));
  open_.erase(std::next(of).base());
  return true;
}

/// The newest error of the program that may go on in a line of this thread.
LogReader::Open* LogReader::going_on(LogProgram program, std::string_view thread) {
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& each) {
    return each.error.program == program && each.thread == thread;
  });
  return found == open_.rend() ? nullptr : &*found;
}

void LogReader::open(Open&& error) {
  // A thread has one error at a time.
  const auto same = std::find_if(open_.begin(), open_.end(), [&](const Open& each) {
    return each.error.program == error.error.program && each.thread == error.thread;
  });
  const auto ended = same != open_.end() ? same : open_.begin();
  if (same != open_.end() || open_.size() == open_limit) {
    keep(std::move(ended->error));
    open_.erase(ended);
  }
  open_.push_back(std::move(error));
}

void LogReader::close_old() {
  while (!open_.empty() && open_.front().error.line + open_lines < log_.lines) {
    keep(std::move(open_.front().error));
    open_.erase(open_.begin());
  }
}

void LogReader::keep(LoggedError&& error) {
  if (!says_something(error)) return;
  const auto same = std::find_if(log_.errors.begin(), log_.errors.end(),
                                 [&](const LoggedError& each) { return each.same_as(error); });
  if (same != log_.errors.end()) {
    ++same->times;
    same->last_line = std::max(same->last_line, error.line);
  } else if (log_.errors.size() == error_limit) {
    ++log_.dropped;
  } else {
    log_.errors.push_back(std::move(error));
  }
}

}  // namespace roce::analyze
