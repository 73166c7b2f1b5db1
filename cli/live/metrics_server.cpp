// SPDX-License-Identifier: Apache-2.0
#include "cli/live/metrics_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>

namespace roce::cli {
namespace {

constexpr std::string_view loopback = "127.0.0.1", everywhere = "0.0.0.0";

/// Converts a metric to the type of prometheus-cpp.
prometheus::MetricFamily family_of(Metric&& metric) {
  prometheus::MetricFamily family;
  family.name = std::move(metric.name);
  family.help = std::string(metric.help);
  const bool counter = metric.type == MetricType::counter;
  family.type = counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  for (MetricSample& sample : metric.samples) {
    prometheus::ClientMetric& one = family.metric.emplace_back();
    for (auto& [name, value] : sample.labels) one.label.push_back({std::move(name), std::move(value)});
    (counter ? one.counter.value : one.gauge.value) = sample.value;
  }
  return family;
}

class Collected : public prometheus::Collectable {
 public:
  explicit Collected(MetricsServer::Values values) : values_(std::move(values)) {}
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    const std::lock_guard lock(mutex_);
    std::vector<prometheus::MetricFamily> families;
    for (Metric& metric : values_()) families.push_back(family_of(std::move(metric)));
    return families;
  }

 private:
  mutable std::mutex mutex_;
  MetricsServer::Values values_;
};

/// Errno of listening on the address, which the library does not report; 0: it works.
int try_address(const MetricsAddress& address) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(address.port);
  if (::inet_pton(AF_INET, address.host.c_str(), &where.sin_addr) != 1) return EINVAL;
  const int tried = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (tried < 0) return errno;
  const int on = 1;
  (void)::setsockopt(tried, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr generic{};
  static_assert(sizeof generic == sizeof where);
  std::memcpy(&generic, &where, sizeof where);
  // Another socket may be bound with SO_REUSEADDR as well: only listen() fails then.
  const bool free = ::bind(tried, &generic, sizeof generic) == 0 && ::listen(tried, 1) == 0;
  const int result = free ? 0 : errno;
  (void)::close(tried);
  return result;
}

/// The port that a descriptor is bound to; 0 if it is not an IPv4 socket.
std::uint16_t local_port(int descriptor) noexcept {
  sockaddr generic{};
  socklen_t size = sizeof generic;
  sockaddr_in where{};
  if (::getsockname(descriptor, &generic, &size) != 0 || generic.sa_family != AF_INET) return 0;
  std::memcpy(&where, &generic, sizeof where);
  return ntohs(where.sin_port);
}

/// Calls `act` with each socket of the library, identified by its port. (/proc/self/fd is not readable after
/// -Z.)
template <class Act>
void with_each_socket(std::uint16_t port, Act act) noexcept {
  constexpr rlim_t most = 65'536;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  for (int each = 0, end = static_cast<int>(std::min(files.rlim_cur, most)); each < end; ++each) {
    if (local_port(each) == port) act(each);
  }
}

std::string_view advice(int error) {
  switch (error) {
    case EADDRINUSE:
      return "; another process is listening there (ss -tlnp): use another port";
    case EACCES:
      return "; ports below 1024 need CAP_NET_BIND_SERVICE: use a higher one";
    case EADDRNOTAVAIL:
      return "; this host has no such address (ip address)";
    default:
      return "";
  }
}

}  // namespace

std::optional<MetricsAddress> parse_metrics_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string host = colon == std::string::npos ? std::string() : text.substr(0, colon);
  const std::string_view digits = std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1);
  MetricsAddress address;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (failure != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  address.host = host.empty() || host == "localhost" ? loopback : host == "*" ? everywhere : host;
  in_addr numeric{};
  if (::inet_pton(AF_INET, address.host.c_str(), &numeric) != 1) return std::nullopt;
  return address;
}

std::string metrics_address_error(const std::string& text) {
  if (parse_metrics_address(text)) return {};
  return fmt::format(
      "'{}' is not an address for metrics: PORT (on 127.0.0.1), IPV4-ADDRESS:PORT, or *:PORT for all "
      "addresses",
      text);
}

struct MetricsServer::Impl {
  Impl() = default;
  /// The library checks only every two seconds whether to stop, while its threads wait for connections and
  /// for requests of connected clients. Shutting down reading of its sockets ends that at once; answers are
  /// still sent. It also leaves connections open that were accepted and not yet served.
  ~Impl() {
    if (port == 0) return;
    with_each_socket(port, [](int each) { (void)::shutdown(each, SHUT_RD); });
    exposer.reset();
    with_each_socket(port, [](int each) { (void)::close(each); });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  std::shared_ptr<Collected> collected;
  std::unique_ptr<prometheus::Exposer> exposer;
  std::uint16_t port = 0;  ///< 0: not yet listening
};

MetricsServer::MetricsServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MetricsServer::~MetricsServer() = default;

capture::Expected<std::unique_ptr<MetricsServer>> MetricsServer::listen(const MetricsAddress& address,
                                                                        Values values) {
  const std::string where = fmt::format("{}:{}", address.host, address.port);
  const auto refuse = [&](int error, std::string message) {
    return tl::unexpected(capture::Error{.kind = capture::ErrorKind::not_writable,
                                         .path = "metrics at " + where,
                                         .offset = std::nullopt,
                                         .message = std::move(message),
                                         .system_errno = error});
  };
  if (const int error = try_address(address); error != 0)
    return refuse(error, fmt::format("{}{}", std::strerror(error), advice(error)));
  auto impl = std::make_unique<Impl>();
  impl->collected = std::make_shared<Collected>(std::move(values));
  try {
    // A client that sends nothing, or reads slowly, blocks one of the threads for at most this time. Threads
    // that wait cost little.
    impl->exposer = std::make_unique<prometheus::Exposer>(
        std::vector<std::string>{"listening_ports", where, "num_threads", "64", "request_timeout_ms", "2000",
                                 "enable_keep_alive", "no"});
    impl->exposer->RegisterCollectable(impl->collected);
    const std::vector<int> ports = impl->exposer->GetListeningPorts();
    impl->port = ports.empty() ? address.port : static_cast<std::uint16_t>(ports.front());
  } catch (const std::exception& error) {
    return refuse(0, error.what());
  }
  const std::string url = fmt::format("http://{}:{}/metrics", address.host, impl->port);
  std::unique_ptr<MetricsServer> server(new MetricsServer(std::move(impl)));
  server->url_ = url;
  return server;
}

}  // namespace roce::cli
