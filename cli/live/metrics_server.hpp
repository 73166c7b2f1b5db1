// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/core/error.hpp"
#include "cli/live/metric_values.hpp"

namespace roce::cli {

/// The address at which metrics are served.
struct MetricsAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any free port
};
/// Parses "9100" and ":9100" (loopback), "localhost:9100", "10.0.0.1:9100", "*:9100" or "0.0.0.0:9100" (all
/// IPv4 addresses of this host). None for other texts.
[[nodiscard]] std::optional<MetricsAddress> parse_metrics_address(const std::string& text);
/// Error message with the valid forms; empty for a valid address.
[[nodiscard]] std::string metrics_address_error(const std::string& text);

/// Serves metrics at http://ADDRESS:PORT/metrics during its lifetime. Threads and socket exist when listen()
/// returns: privileges may be dropped then.
class MetricsServer {
 public:
  /// Called for each scrape, from any thread, one call at a time.
  using Values = std::function<std::vector<Metric>()>;
  [[nodiscard]] static capture::Expected<std::unique_ptr<MetricsServer>> listen(const MetricsAddress& address,
                                                                                Values values);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  /// "http://127.0.0.1:9100/metrics"
  [[nodiscard]] const std::string& url() const noexcept { return url_; }

 private:
  struct Impl;
  explicit MetricsServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  std::string url_;
};

}  // namespace roce::cli
