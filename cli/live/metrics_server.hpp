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

/// Where metrics are served.
struct MetricsAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: one that is free
};
/// "9100" and ":9100" (loopback), "localhost:9100", "10.0.0.1:9100", "*:9100" or "0.0.0.0:9100" (every
/// address of this host). Nothing for anything else.
[[nodiscard]] std::optional<MetricsAddress> parse_metrics_address(const std::string& text);
/// What is wrong with such a text; empty for an address.
[[nodiscard]] std::string metrics_address_error(const std::string& text);

/// Serves metrics at http://ADDRESS:PORT/metrics until it goes. Its threads and its socket are there once
/// listen() returns: privileges may be dropped then.
class MetricsServer {
 public:
  /// Called for each scrape, by any thread, never twice at a time.
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
