// SPDX-License-Identifier: Apache-2.0
// Datagrams from this host to this host, as frames.
#include "capture/listen/udp_listener.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <numeric>
#include <string>
#include <vector>

#include "capture/devices/open_live.hpp"
#include "capture/listen/udp_frame.hpp"

namespace roce::capture::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// A socket of 127.0.0.1 or ::1; port 0 is any free one.
class Peer {
 public:
  explicit Peer(int family) : descriptor_(::socket(family, SOCK_DGRAM, 0)), family_(family) {
    const auto [address, size] = at(0);
    if (::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), size) != 0) {
      ::close(descriptor_);
      descriptor_ = -1;
    }
  }
  ~Peer() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  [[nodiscard]] bool there() const { return descriptor_ >= 0; }
  [[nodiscard]] std::uint16_t port() const {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(family_ == AF_INET ? reinterpret_cast<sockaddr_in&>(address).sin_port
                                    : reinterpret_cast<sockaddr_in6&>(address).sin6_port);
  }
  void send(std::uint16_t port, const Bytes& bytes) const {
    const auto [address, size] = at(port);
    EXPECT_EQ(::sendto(descriptor_, bytes.data(), bytes.size(), 0,
                       reinterpret_cast<const sockaddr*>(&address), size),
              static_cast<ssize_t>(bytes.size()));
  }

 private:
  [[nodiscard]] std::pair<sockaddr_storage, socklen_t> at(std::uint16_t port) const {
    sockaddr_storage storage{};
    if (family_ == AF_INET) {
      auto& ip = reinterpret_cast<sockaddr_in&>(storage);
      ip.sin_family = AF_INET;
      ip.sin_port = htons(port);
      ip.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      return {storage, sizeof ip};
    }
    auto& ip = reinterpret_cast<sockaddr_in6&>(storage);
    ip.sin6_family = AF_INET6;
    ip.sin6_port = htons(port);
    ip.sin6_addr = in6addr_loopback;
    return {storage, sizeof ip};
  }
  int descriptor_;
  int family_;
};

std::uint16_t free_port() {
  return Peer(AF_INET).port();
}

std::unique_ptr<LiveSource> listening(const std::string& device, std::uint32_t snap_length = 0) {
  LiveOptions options;
  options.device = device;
  options.snap_length = snap_length;
  options.kernel_buffer_bytes = std::size_t{1} << 16U;
  auto source = open_live(options);
  EXPECT_TRUE(source) << source.error().describe();
  return source ? std::move(*source) : nullptr;
}

/// All `count` frames, then the end.
std::vector<Bytes> frames_of(LiveSource& source, std::size_t count) {
  std::vector<Bytes> frames;
  FrameBatch batch;
  while (frames.size() < count) {
    batch.clear();
    const auto got = source.next_batch(batch, 100);
    if (!got || *got == 0) break;
    for (const Frame& frame : batch.frames) {
      EXPECT_EQ(frame.link_type, 101);
      EXPECT_NE(frame.time_ns, no_time);
      frames.emplace_back(frame.data, frame.data + frame.captured);
    }
  }
  source.request_stop();
  batch.clear();
  while (source.next_batch(batch, 100).value_or(0) != 0) continue;
  return frames;
}

std::uint32_t sum16(const Bytes& bytes, std::size_t begin, std::size_t end, std::uint32_t sum = 0) {
  for (std::size_t i = begin; i < end; i += 2)
    sum += (std::uint32_t{bytes[i]} << 8U) + (i + 1 < end ? bytes[i + 1] : 0U);
  while (sum > 0xffff) sum = (sum & 0xffffU) + (sum >> 16U);
  return sum;
}

TEST(UdpListener, Ipv4DatagramsBecomeFrames) {
  const Peer sender(AF_INET);
  const std::uint16_t port = free_port();
  const auto source = listening("sflow://127.0.0.1:" + std::to_string(port));
  ASSERT_NE(source, nullptr);
  const Bytes payload{1, 2, 3, 4, 5};
  sender.send(port, payload);
  sender.send(port, {});
  const std::vector<Bytes> frames = frames_of(*source, 2);
  ASSERT_EQ(frames.size(), 2U);
  const Bytes& frame = frames[0];
  ASSERT_EQ(frame.size(), 33U);
  EXPECT_EQ(frame[0], 0x45);
  EXPECT_EQ(frame[3], 33);
  EXPECT_EQ(sum16(frame, 0, 20), 0xffffU);
  EXPECT_EQ(Bytes(frame.begin() + 12, frame.begin() + 20), (Bytes{127, 0, 0, 1, 127, 0, 0, 1}));
  EXPECT_EQ(frame[20] * 256 + frame[21], sender.port());
  EXPECT_EQ(frame[22] * 256 + frame[23], 6343);  // by which readers know it
  EXPECT_EQ(frame[25], 13);
  EXPECT_EQ(sum16(frame, 20, 33, sum16(frame, 12, 20, 17 + 13)), 0xffffU);
  EXPECT_EQ(Bytes(frame.begin() + 28, frame.end()), payload);
  EXPECT_EQ(frames[1].size(), 28U);
  EXPECT_EQ(source->interfaces()[0].name, "sflow://127.0.0.1:" + std::to_string(port));
  EXPECT_EQ(source->counts().dropped(), 0U);
}

TEST(UdpListener, OneSocketForBothFamiliesAndSeveralPlaces) {
  const Peer ipv4(AF_INET), ipv6(AF_INET6);
  if (!ipv6.there()) GTEST_SKIP() << "no IPv6 here";
  const std::uint16_t port = free_port(), other = free_port();
  const auto source =
      listening("ipfix://:" + std::to_string(port) + ",sflow://[::1]:" + std::to_string(other));
  ASSERT_NE(source, nullptr);
  ipv4.send(port, {1});
  ipv6.send(port, {2});
  ipv6.send(other, {3});
  const std::vector<Bytes> frames = frames_of(*source, 3);
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(source->interfaces()[0].packets, 2U);
  EXPECT_EQ(source->interfaces()[1].packets, 1U);
  for (const Bytes& frame : frames) {
    if (frame.back() == 1) {
      EXPECT_EQ(frame[0], 0x45);
      EXPECT_EQ(frame[22] * 256 + frame[23], 4739);
      continue;
    }
    ASSERT_EQ(frame.size(), 49U);
    EXPECT_EQ(frame[0], 0x60);
    EXPECT_EQ(frame[5], 9);
    EXPECT_EQ(frame[6], 17);
    EXPECT_EQ(frame[23], 1);
    EXPECT_EQ(frame[39], 1);
    EXPECT_EQ(sum16(frame, 40, 49, sum16(frame, 8, 40, 17 + 9)), 0xffffU);
  }
}

TEST(UdpListener, LargestDatagramsAndTheSnapLength) {
  const Peer sender(AF_INET);
  const std::uint16_t port = free_port();
  const auto source = listening("sflow://127.0.0.1:" + std::to_string(port), 100);
  ASSERT_NE(source, nullptr);
  Bytes payload(65'507);
  std::iota(payload.begin(), payload.end(), std::uint8_t{0});
  sender.send(port, payload);
  const std::vector<Bytes> frames = frames_of(*source, 1);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].size(), 100U);
  EXPECT_EQ(frames[0][2] * 256 + frames[0][3], 65'535);
}

TEST(UdpListener, WhatDoesNotFitIntoTheKernelIsCounted) {
  const Peer sender(AF_INET);
  const std::uint16_t port = free_port();
  const auto source = listening("sflow://127.0.0.1:" + std::to_string(port));
  ASSERT_NE(source, nullptr);
  constexpr std::size_t sent = 2000;
  for (std::size_t i = 0; i < sent; ++i) sender.send(port, Bytes(1000));  // nobody reads yet
  FrameBatch batch;
  std::size_t frames = source->next_batch(batch, 100).value_or(0);
  source->request_stop();
  while (const std::size_t got = source->next_batch(batch, 100).value_or(0)) frames += got;
  const LiveCounts counts = source->counts();
  EXPECT_GT(counts.dropped_by_kernel, 0U);
  EXPECT_EQ(frames + counts.dropped_by_kernel, sent);
  EXPECT_EQ(counts.delivered, frames);
}

TEST(UdpListener, ErrorsSayWhatHelps) {
  const Peer holder(AF_INET);
  LiveOptions options;
  options.device = "sflow://127.0.0.1:" + std::to_string(holder.port());
  const auto used = open_live(options);
  ASSERT_FALSE(used);
  EXPECT_NE(used.error().describe().find("another program has UDP port"), std::string::npos);
  EXPECT_EQ(used.error().system_errno, EADDRINUSE);
  options.device = "sflow://192.0.2.77:6343";  // RFC 5737: nobody's
  const auto strange = open_live(options);
  ASSERT_FALSE(strange);
  EXPECT_NE(strange.error().describe().find("no interface of this host"), std::string::npos);
  if (::geteuid() != 0) {
    options.device = "sflow://127.0.0.1:514";
    const auto forbidden = open_live(options);
    ASSERT_FALSE(forbidden);
    EXPECT_NE(forbidden.error().describe().find("CAP_NET_BIND_SERVICE"), std::string::npos);
  }
}

}  // namespace
}  // namespace roce::capture::test
