// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/http_client.hpp"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>

#include <utility>

namespace roce::analyze {
namespace {

using capture::Error;
using capture::ErrorKind;
using capture::Expected;

constexpr const char* library_name = "libcurl.so.4";
constexpr long connect_seconds = 10;
/// More than any answer has that somebody reads.
constexpr std::size_t bytes_at_most = std::size_t{1} << 30U;

tl::unexpected<Error> failure(ErrorKind kind, std::string message) {
  Error error;
  error.kind = kind;
  error.message = std::move(message);
  return tl::unexpected(error);
}

struct Library {
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
};

template <class Function>
bool find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(handle, name));
  return function != nullptr;
}

Expected<Library> load() {
  // Never unloaded: TLS leaves handlers registered.
  void* const handle = ::dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  Library all;
  if (handle == nullptr || !find(handle, "curl_easy_init", all.easy_init) ||
      !find(handle, "curl_easy_cleanup", all.easy_cleanup) ||
      !find(handle, "curl_easy_reset", all.easy_reset) ||
      !find(handle, "curl_easy_setopt", all.easy_setopt) ||
      !find(handle, "curl_easy_getinfo", all.easy_getinfo) ||
      !find(handle, "curl_easy_perform", all.easy_perform) ||
      !find(handle, "curl_easy_strerror", all.easy_strerror) ||
      !find(handle, "curl_slist_append", all.slist_append) ||
      !find(handle, "curl_slist_free_all", all.slist_free_all))
    return failure(ErrorKind::unsupported,
                   std::string(library_name) +
                       ", which speaks to ClickHouse, cannot be loaded: apt-get install "
                       "libcurl4");
  return all;
}

std::size_t take(const char* data, std::size_t size, std::size_t count, void* body) {
  auto& text = *static_cast<std::string*>(body);
  if (text.size() + size * count > bytes_at_most) return 0;
  text.append(data, size * count);
  return size * count;
}

bool is_of_trust(CURLcode code) noexcept {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
         code == CURLE_SSL_CERTPROBLEM;
}

}  // namespace

struct HttpClient::Curl {
  Library library;
  CURL* handle = nullptr;
  std::string ca_file;

  Curl() = default;
  Curl(const Curl&) = delete;
  Curl& operator=(const Curl&) = delete;
  ~Curl() {
    if (handle != nullptr) library.easy_cleanup(handle);
  }
};

HttpClient::HttpClient(std::unique_ptr<Curl> curl) : curl_(std::move(curl)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

Expected<HttpClient> HttpClient::open(const std::string& ca_file) {
  auto library = load();
  if (!library) return tl::unexpected(std::move(library.error()));
  auto curl = std::make_unique<Curl>();
  curl->library = *library;
  curl->handle = curl->library.easy_init();
  curl->ca_file = ca_file;
  if (curl->handle == nullptr) return failure(ErrorKind::unsupported, "libcurl does not begin");
  return HttpClient(std::move(curl));
}

Expected<HttpReply> HttpClient::post(const std::string& url, std::string_view body,
                                     const std::vector<std::string>& headers, std::chrono::seconds patience,
                                     bool once) {
  const Library& lib = curl_->library;
  CURL* const handle = curl_->handle;
  lib.easy_reset(handle);
  HttpReply reply;
  char why[CURL_ERROR_SIZE] = {};
  // It does not wait for leave to send a body.
  curl_slist* list = lib.slist_append(nullptr, "Expect:");
  for (const std::string& header : headers) list = lib.slist_append(list, header.c_str());
  lib.easy_setopt(handle, CURLOPT_URL, url.c_str());
  lib.easy_setopt(handle, CURLOPT_POST, 1L);
  lib.easy_setopt(handle, CURLOPT_POSTFIELDS, body.data());
  lib.easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  lib.easy_setopt(handle, CURLOPT_HTTPHEADER, list);
  lib.easy_setopt(handle, CURLOPT_WRITEFUNCTION, &take);
  lib.easy_setopt(handle, CURLOPT_WRITEDATA, static_cast<void*>(&reply.body));
  lib.easy_setopt(handle, CURLOPT_ERRORBUFFER, why);
  lib.easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  lib.easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  lib.easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, connect_seconds);
  const long seconds = patience.count();
  lib.easy_setopt(handle, CURLOPT_TIMEOUT, seconds);
  lib.easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  lib.easy_setopt(handle, CURLOPT_FRESH_CONNECT, once ? 1L : 0L);
  if (!curl_->ca_file.empty()) lib.easy_setopt(handle, CURLOPT_CAINFO, curl_->ca_file.c_str());
  const CURLcode code = lib.easy_perform(handle);
  lib.slist_free_all(list);
  if (code != CURLE_OK)
    return failure(is_of_trust(code) ? ErrorKind::unsupported : ErrorKind::not_readable,
                   why[0] != 0 ? why : lib.easy_strerror(code));
  lib.easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &reply.status);
  return reply;
}

}  // namespace roce::analyze
