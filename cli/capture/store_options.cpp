// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/store_options.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>

#include "analyze/base/address_text.hpp"
#include "analyze/store/store.hpp"
#include "cli/capture/store_observer.hpp"
#include "cli/core/command.hpp"
#include "cli/core/link_options.hpp"
#include "cli/core/output.hpp"
#include "cli/store/spool.hpp"
#include "cli/store/store_export.hpp"
#include "cli/store/target_options.hpp"

namespace roce::cli {
namespace {

using capture::Error;
using capture::Expected;

constexpr std::int64_t default_interval_ns = 10'000'000'000;
constexpr std::int64_t default_ship_ns = 60'000'000'000;

Error store_error(const std::string& path, const std::string& message, int number) {
  Error error;
  error.kind = capture::ErrorKind::not_writable;
  error.path = path;
  error.message = message;
  error.system_errno = number;
  return error;
}

/// "1G", "500M": bytes; none if it is not that.
std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number == 0) return std::nullopt;
  const std::string_view unit(stop, static_cast<std::size_t>(text.data() + text.size() - stop));
  const unsigned shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : unit == "T" ? 40 : 0;
  if ((shift == 0 && !unit.empty()) || number > (UINT64_MAX >> shift)) return std::nullopt;
  return number << shift;
}

std::string size_error(const std::string& text) {
  return parse_size(text) ? std::string() : fmt::format("not a size: '{}' (500M, 1G)", text);
}

/// Of at least a second, as time is kept in seconds.
std::string interval_error(const std::string& text) {
  if (std::string wrong = duration_error(text); !wrong.empty()) return wrong;
  return parse_duration(text).value_or(0) % 1'000'000'000 == 0 && parse_duration(text).value_or(0) > 0
             ? std::string()
             : std::string("an interval is some whole seconds");
}

bool folder_exists(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != 0 ? std::string(name)
                                                                   : std::string("localhost");
}

/// Of all interfaces but the loopback.
std::set<std::string> own_addresses() {
  std::set<std::string> all;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return all;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr) continue;
    if (each->ifa_addr->sa_family == AF_INET) {
      sockaddr_in address{};
      std::memcpy(&address, each->ifa_addr, sizeof address);
      unsigned char bytes[4];
      std::memcpy(bytes, &address.sin_addr, sizeof bytes);
      if (bytes[0] != 127) all.insert(analyze::address_text(dissect::IpAddress::v4(bytes)));
    } else if (each->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 address{};
      std::memcpy(&address, each->ifa_addr, sizeof address);
      if (IN6_IS_ADDR_LOOPBACK(&address.sin6_addr)) continue;
      unsigned char bytes[16];
      std::memcpy(bytes, &address.sin6_addr, sizeof bytes);
      all.insert(analyze::address_text(dissect::IpAddress::v6(bytes)));
    }
  }
  ::freeifaddrs(first);
  return all;
}

/// Whether that descriptor was closed at its other end within the time.
bool closes_within(int descriptor, int milliseconds) {
  pollfd wait{descriptor, POLLIN, 0};
  return ::poll(&wait, 1, milliseconds) > 0;
}

[[noreturn]] void ship_until(int end, const std::string& folder, const analyze::StoreTarget& target) {
  std::int64_t wait = 1;
  std::string told;
  auto spool = SpoolReader::open(folder);
  if (!spool) {
    print_error(spool.error());
    ::_exit(exit_input);
  }
  while (true) {
    const bool last = closes_within(end, static_cast<int>(wait) * 1000);
    Shipped what;
    const auto done = ship(*spool, target, what);
    if (what.rejected != 0)
      print_error(fmt::format("{}: batches of no use are in {}/rejected", folder, folder));
    if (!done && told != done.error().headline()) {
      told = done.error().headline();
      print_error(done.error());
    }
    if (last && !spool->waiting().empty())
      print_error(fmt::format("{}: batches wait: roceanalyze ship {} --to {}", folder, folder, target.name));
    if (last) ::_exit(exit_ok);
    wait = wait_after(done, wait);
  }
}

}  // namespace

Expected<std::unique_ptr<ShipBeside>> ShipBeside::start(const std::string& spool,
                                                        const analyze::StoreTarget& target,
                                                        const std::optional<capture::User>& as) {
  int end[2] = {-1, -1};
  int done[2] = {-1, -1};
  if (::pipe2(end, O_CLOEXEC) != 0 || ::pipe2(done, O_CLOEXEC) != 0)
    return tl::unexpected(store_error(target.name, std::strerror(errno), errno));
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
    ::close(end[1]);
    ::close(done[0]);
    ::close(0);
    ::close(1);
    analyze::StoreTarget to = target;
    if (const auto learned = analyze::learn_password(to); !learned) {
      print_error(learned.error());
      ::_exit(exit_input);
    }
    if (as) {
      capture::PrivilegeOptions privileges;
      privileges.user = as;
      if (const auto dropped = capture::drop_privileges(privileges); !dropped) {
        print_error(dropped.error());
        ::_exit(exit_input);
      }
    }
    ship_until(end[0], spool, to);
  }
  ::close(end[0]);
  ::close(done[1]);
  if (child < 0) return tl::unexpected(store_error(target.name, std::strerror(errno), errno));
  return std::unique_ptr<ShipBeside>(new ShipBeside(end[1], done[0]));
}

ShipBeside::~ShipBeside() {
  ::close(end_);
  char byte = 0;
  while (::read(done_, &byte, 1) < 0 && errno == EINTR) {
  }
  ::close(done_);
}

void CaptureStoreOptions::add_to(CLI::App& command) {
  const char* const group = "Options of a store";
  command
      .add_option("--store", target.name,
                  "keep rows for `fleet`: a store (a file, or clickhouse://[user@]host[:port]/database), or "
                  "DIR/ for batches that `ship` adds to one")
      ->check(empty_error)
      ->type_name("TARGET")
      ->group(group);
  command.add_option("--store-every", interval, "length of the intervals of rows (default: 10s)")
      ->check(interval_error)
      ->type_name("TIME")
      ->group(group);
  command.add_option("--ship-every", ship_every, "a batch every TIME, at once with an error (default: 60s)")
      ->check(duration_error)
      ->type_name("TIME")
      ->group(group);
  command
      .add_option("--spool-limit", spool_limit,
                  "remove the oldest batches that wait beyond this (default: 1G)")
      ->check(size_error)
      ->type_name("SIZE")
      ->group(group);
  command
      .add_option("--spool", spool_folder,
                  "folder in which batches wait for the store (default: beside a store in a file)")
      ->check(empty_error)
      ->type_name("DIR")
      ->group(group);
  add_target_access(command, target);
  whose.add_to(command);
}

std::string CaptureStoreOptions::usage_error() const {
  const bool any = !interval.empty() || !ship_every.empty() || !spool_limit.empty() ||
                   !spool_folder.empty() || whose.any();
  if (const std::string wrong = analyze::store_address_error(target.name); !wrong.empty()) return wrong;
  if (analyze::is_store_address(target.name) && spool_folder.empty())
    return "--store with an address needs --spool DIR, where batches wait while the store does not answer";
  if (only_spool() && !spool_folder.empty()) return "--store DIR/ is a spool itself: --spool is for a store";
  return any && !wanted()
             ? "--store-every, --ship-every, --spool-limit, --host, --address and what else says "
               "whose rows these are need --store"
             : std::string();
}

bool CaptureStoreOptions::only_spool() const {
  return target.name.ends_with('/') || folder_exists(target.name);
}

std::string CaptureStoreOptions::spool() const {
  if (!only_spool() && spool_folder.empty()) return target.name + ".spool";
  std::string folder = spool_folder.empty() ? target.name : spool_folder;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  return folder;
}

Expected<void> CaptureStoreOptions::prepare(const std::optional<capture::User>& as) const {
  std::optional<capture::FilesAs> files;
  if (as) files.emplace(*as);
  constexpr mode_t only_owner = 0700;
  if (::mkdir(spool().c_str(), only_owner) != 0 && errno != EEXIST)
    return tl::unexpected(store_error(spool(), std::strerror(errno), errno));
  if (!folder_exists(spool())) return tl::unexpected(store_error(spool(), "is no folder", ENOTDIR));
  if (only_spool()) return {};
  return analyze::make_store_if_missing(target, program_version(), seconds_now());
}

std::unique_ptr<CaptureObserver> CaptureStoreOptions::observer(analyze::PsnMarks* marks) const {
  StoreObserverOptions options;
  options.spool = spool();
  if (const auto bytes = parse_size(spool_limit)) options.spool_bytes = *bytes;
  options.interval = std::chrono::nanoseconds(parse_duration(interval).value_or(default_interval_ns));
  options.ship_every = std::chrono::nanoseconds(parse_duration(ship_every).value_or(default_ship_ns));
  options.identity = whose.identity(host_name());
  if (options.identity.addresses.empty()) options.identity.addresses = own_addresses();
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
    number = static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  options.run.number = number >> 1U;  // databases have signed numbers
  options.run.program = program_version();
  options.run.point = "live";
  options.run.interval_ms = static_cast<std::uint32_t>(options.interval / std::chrono::milliseconds(1));
  return std::make_unique<StoreObserver>(std::move(options), marks, [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  });
}

}  // namespace roce::cli
