// SPDX-License-Identifier: Apache-2.0
// HTTP requests: curl.h is included in http_client.cpp only, and its library loaded when it is needed.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "capture/core/error.hpp"

namespace roce::analyze {

struct HttpReply {
  long status = 0;
  std::string body;
};

/// Posts to one server. Not thread-safe. Follows no redirection.
class HttpClient {
 public:
  /// `ca_file`: certificates that are trusted; empty: those of the system. Errors: unsupported: libcurl
  /// cannot be loaded.
  [[nodiscard]] static capture::Expected<HttpClient> open(const std::string& ca_file);

  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  /// `headers`: "Name: value", which nobody else sees. With `once`, a connection that was used before is not
  /// used: then the request never goes out twice. Errors: not_readable: no reply; unsupported: who answers
  /// cannot be trusted (TLS).
  [[nodiscard]] capture::Expected<HttpReply> post(const std::string& url, std::string_view body,
                                                  const std::vector<std::string>& headers,
                                                  std::chrono::seconds patience, bool once);

 private:
  struct Curl;
  explicit HttpClient(std::unique_ptr<Curl> curl);
  std::unique_ptr<Curl> curl_;
};

}  // namespace roce::analyze
