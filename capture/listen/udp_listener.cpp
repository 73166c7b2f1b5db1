// SPDX-License-Identifier: Apache-2.0
#include "capture/listen/udp_listener.hpp"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "capture/listen/udp_frame.hpp"

namespace roce::capture {
namespace {

using std::chrono::milliseconds;

constexpr std::uint16_t link_raw_ip = 101;  // LINKTYPE_RAW
constexpr std::size_t usual_socket_buffer = std::size_t{64} << 20U, small_buffer = std::size_t{1} << 20U;
constexpr std::size_t largest_datagram = 65'535, datagrams_at_once = 32, control_bytes = 256;

tl::unexpected<Error> listen_failed(ErrorKind kind, const ListenAddress& address, int number,
                                    std::string message) {
  Error error;
  error.kind = kind;
  error.path = address.text;
  error.message = std::move(message);
  error.system_errno = number;
  return tl::unexpected<Error>(std::move(error));
}

tl::unexpected<Error> cannot_bind(const ListenAddress& address, int number) {
  const std::string port = std::to_string(address.port);
  switch (number) {
    case EADDRINUSE:
      return listen_failed(
          ErrorKind::not_readable, address, number,
          "another program has UDP port " + port + "; ss -ulnp 'sport = :" + port + "' names it");
    case EACCES:
      return listen_failed(ErrorKind::not_readable, address, number,
                           "no permission to listen on UDP port " + port +
                               ": ports below 1024 need CAP_NET_BIND_SERVICE (sudo)");
    case EADDRNOTAVAIL:
      return listen_failed(ErrorKind::not_found, address, number,
                           "no interface of this host has the address " + address.address + " (ip address)");
    default:
      return listen_failed(ErrorKind::not_readable, address, number,
                           std::string("it cannot be listened to: ") + std::strerror(number));
  }
}

/// An open socket, and what the kernel dropped before it was read.
class ListenSocket {
 public:
  ListenSocket(int descriptor, ListenAddress address) noexcept
      : descriptor_(descriptor), address_(std::move(address)) {}
  ~ListenSocket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  ListenSocket(ListenSocket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)),
        address_(std::move(other.address_)),
        dropped_(other.dropped_),
        last_(other.last_) {}
  ListenSocket& operator=(ListenSocket&&) = delete;
  ListenSocket(const ListenSocket&) = delete;
  ListenSocket& operator=(const ListenSocket&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] const ListenAddress& address() const noexcept { return address_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  /// The kernel counts in 32 bits (SO_RXQ_OVFL with each datagram, SO_MEMINFO at any time).
  void note_dropped(std::uint32_t count) noexcept {
    const std::uint32_t more = count - last_;
    if (more > static_cast<std::uint32_t>(INT_MAX)) return;  // an older count
    dropped_ += more;
    last_ = count;
  }
  template <class Value>
  bool set(int level, int option, Value value) noexcept {
    return ::setsockopt(descriptor_, level, option, &value, sizeof value) == 0;
  }

 private:
  int descriptor_;
  ListenAddress address_;
  std::uint64_t dropped_ = 0;
  std::uint32_t last_ = 0;
};

/// Of a datagram: what is around it.
struct Received {
  UdpEnds ends;
  std::int64_t time_ns = no_time;
};

void set_ipv4(std::array<std::uint8_t, 16>& to, const in_addr& address) noexcept {
  to[10] = to[11] = 0xff;
  std::memcpy(to.data() + 12, &address, sizeof address);
}

Received received_of(msghdr& message, ListenSocket& socket) noexcept {
  Received got;
  got.ends.destination_port = socket.address().written_port;
  const auto* const from = static_cast<const sockaddr*>(message.msg_name);
  if (from->sa_family == AF_INET) {
    sockaddr_in ip{};
    std::memcpy(&ip, from, sizeof ip);
    set_ipv4(got.ends.source, ip.sin_addr);
    got.ends.source_port = ntohs(ip.sin_port);
  } else {
    sockaddr_in6 ip{};
    std::memcpy(&ip, from, sizeof ip);
    std::memcpy(got.ends.source.data(), &ip.sin6_addr, got.ends.source.size());
    got.ends.source_port = ntohs(ip.sin6_port);
  }
  for (const cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
       each = CMSG_NXTHDR(&message, const_cast<cmsghdr*>(each))) {
    const unsigned char* const data = CMSG_DATA(each);
    if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SO_RXQ_OVFL) {
      std::uint32_t count = 0;
      std::memcpy(&count, data, sizeof count);
      socket.note_dropped(count);
    } else if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_TIMESTAMPNS) {
      timespec time{};
      std::memcpy(&time, data, sizeof time);
      got.time_ns = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    } else if (each->cmsg_level == IPPROTO_IP && each->cmsg_type == IP_PKTINFO) {
      in_pktinfo info{};
      std::memcpy(&info, data, sizeof info);
      set_ipv4(got.ends.destination, info.ipi_addr);
    } else if (each->cmsg_level == IPPROTO_IPV6 && each->cmsg_type == IPV6_PKTINFO) {
      in6_pktinfo info{};
      std::memcpy(&info, data, sizeof info);
      std::memcpy(got.ends.destination.data(), &info.ipi6_addr, got.ends.destination.size());
    }
  }
  return got;
}

class UdpListener final : public LiveDevice {
 public:
  UdpListener(std::vector<ListenSocket> sockets, const LiveOptions& options, std::vector<std::string> notices)
      : sockets_(std::move(sockets)),
        options_(options),
        notices_(std::move(notices)),
        memory_(datagrams_at_once * (largest_datagram + control_bytes)) {}

  [[nodiscard]] std::vector<InterfaceInfo> interfaces() const override;
  [[nodiscard]] std::string format() const override { return "live by UDP socket (ns)"; }
  [[nodiscard]] std::vector<std::string> notices() const override { return notices_; }
  [[nodiscard]] Expected<bool> take(SlabQueue& queue) override;
  [[nodiscard]] Expected<void> wait(int stop, milliseconds at_most) override;
  void finish(SlabQueue& queue) override;
  [[nodiscard]] Drops drops() override;

 private:
  [[nodiscard]] Expected<bool> take_from(std::size_t place, SlabQueue& queue);
  void put(std::size_t place, msghdr& message, std::span<const std::uint8_t> payload, SlabQueue& queue);

  std::vector<ListenSocket> sockets_;
  LiveOptions options_;
  std::vector<std::string> notices_;
  bool finished_ = false;
  std::vector<std::uint8_t> memory_;  ///< for the datagrams of one call, then what is around them
};

std::vector<InterfaceInfo> UdpListener::interfaces() const {
  std::vector<InterfaceInfo> all;
  utsname system{};
  for (const ListenSocket& socket : sockets_) {
    InterfaceInfo info;
    info.name = socket.address().text;
    info.description = "UDP socket: datagrams as they came, their headers made anew, the port " +
                       std::to_string(socket.address().written_port);
    if (::uname(&system) == 0) info.operating_system = std::string(system.sysname) + " " + system.release;
    info.link_type = link_raw_ip;
    info.snap_length = options_.snap_length;
    info.ticks_per_second = 1'000'000'000;
    all.push_back(std::move(info));
  }
  return all;
}

void UdpListener::put(std::size_t place, msghdr& message, std::span<const std::uint8_t> payload,
                      SlabQueue& queue) {
  const Received got = received_of(message, sockets_[place]);
  const std::size_t head = udp_head_size(got.ends);
  Frame frame;
  frame.wire = static_cast<std::uint32_t>(head + payload.size());
  std::uint8_t* const bytes = queue.reserve(frame.wire);
  if (bytes == nullptr) return;  // counted
  std::copy(payload.begin(), payload.end(), bytes + head);
  write_udp_head(got.ends, {bytes + head, payload.size()}, bytes);
  frame.captured = options_.snap_length == 0 ? frame.wire : std::min(frame.wire, options_.snap_length);
  frame.time_ns = got.time_ns;
  frame.interface = static_cast<decltype(frame.interface)>(place);
  frame.link_type = link_raw_ip;
  queue.put(frame);
}

Expected<bool> UdpListener::take_from(std::size_t place, SlabQueue& queue) {
  std::array<mmsghdr, datagrams_at_once> messages{};
  std::array<iovec, datagrams_at_once> parts{};
  std::array<sockaddr_storage, datagrams_at_once> senders{};
  std::uint8_t* const controls = memory_.data() + datagrams_at_once * largest_datagram;
  for (std::size_t i = 0; i < datagrams_at_once; ++i) {
    parts[i] = {memory_.data() + i * largest_datagram, largest_datagram};
    msghdr& message = messages[i].msg_hdr;
    message.msg_iov = &parts[i];
    message.msg_iovlen = 1;
    message.msg_name = &senders[i];
    message.msg_namelen = sizeof senders[i];
    message.msg_control = controls + i * control_bytes;
    message.msg_controllen = control_bytes;
  }
  const ListenSocket& socket = sockets_[place];
  const int got = ::recvmmsg(socket.descriptor(), messages.data(), datagrams_at_once, MSG_DONTWAIT, nullptr);
  if (got < 0) {
    if (errno == EAGAIN || errno == EINTR) return false;
    return listen_failed(ErrorKind::not_readable, socket.address(), errno,
                         std::string("listening failed: ") + std::strerror(errno));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i)
    put(place, messages[i].msg_hdr, {memory_.data() + i * largest_datagram, messages[i].msg_len}, queue);
  return static_cast<std::size_t>(got) == datagrams_at_once;
}

Expected<bool> UdpListener::take(SlabQueue& queue) {
  bool more = false;
  for (std::size_t place = 0; place < sockets_.size(); ++place) {
    const Expected<bool> taken = take_from(place, queue);
    if (!taken) return taken;
    more = more || *taken;
  }
  return more;
}

Expected<void> UdpListener::wait(int stop, milliseconds at_most) {
  std::vector<pollfd> waiting{{stop, POLLIN, 0}};
  for (const ListenSocket& socket : sockets_) waiting.push_back({socket.descriptor(), POLLIN, 0});
  (void)::poll(waiting.data(), waiting.size(), static_cast<int>(at_most.count()));
  return {};
}

/// What arrives from now on is not accepted, so that this ends.
void UdpListener::finish(SlabQueue& queue) {
  (void)drops();  // what the filter turns away is counted by the kernel, too
  for (ListenSocket& socket : sockets_) {
    sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    (void)socket.set(SOL_SOCKET, SO_ATTACH_FILTER, sock_fprog{1, &nothing});
  }
  constexpr int at_most = 1 << 16;  // should the filter not be there
  for (int i = 0; i < at_most; ++i) {
    const Expected<bool> more = take(queue);
    if (!more || !*more) break;
  }
  finished_ = true;
}

LiveDevice::Drops UdpListener::drops() {
  Drops all;
  for (ListenSocket& socket : sockets_) {
    std::array<std::uint32_t, SK_MEMINFO_VARS> facts{};
    socklen_t size = sizeof facts;
    if (!finished_ && ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_MEMINFO, facts.data(), &size) == 0 &&
        size == sizeof facts)
      socket.note_dropped(facts[SK_MEMINFO_DROPS]);
    all.by_kernel += socket.dropped();
  }
  return all;
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Expected<ListenSocket> open_listen_socket(const ListenAddress& address, const SocketAddress& at) {
  const int family = at.storage.ss_family;
  ListenSocket socket(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP), address);
  if (socket.descriptor() < 0) return cannot_bind(address, errno);
  // One socket for both families where all addresses are meant.
  if (family == AF_INET6) {
    (void)socket.set(IPPROTO_IPV6, IPV6_V6ONLY, address.address.empty() ? 0 : 1);
    (void)socket.set(IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
  } else {
    (void)socket.set(IPPROTO_IP, IP_PKTINFO, 1);
  }
  (void)socket.set(SOL_SOCKET, SO_RXQ_OVFL, 1);
  (void)socket.set(SOL_SOCKET, SO_TIMESTAMPNS, 1);
  if (::bind(socket.descriptor(), reinterpret_cast<const sockaddr*>(&at.storage), at.size) != 0)
    return cannot_bind(address, errno);
  return socket;
}

/// Nothing where it is none, or of a link that is not there ("fe80::1%eth0").
std::optional<SocketAddress> socket_address(const std::string& address, std::uint16_t port) {
  SocketAddress at;
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &ipv4.sin_addr) == 1) {
    std::memcpy(&at.storage, &ipv4, sizeof ipv4);
    at.size = sizeof ipv4;
    return at;
  }
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(port);
  const std::size_t link = address.find('%');
  if (link != std::string::npos) {
    ipv6.sin6_scope_id = ::if_nametoindex(address.substr(link + 1).c_str());
    if (ipv6.sin6_scope_id == 0) return std::nullopt;
  }
  if (::inet_pton(AF_INET6, address.substr(0, link).c_str(), &ipv6.sin6_addr) != 1) return std::nullopt;
  std::memcpy(&at.storage, &ipv6, sizeof ipv6);
  at.size = sizeof ipv6;
  return at;
}

Expected<ListenSocket> bind_to(const ListenAddress& address) {
  const bool all = address.address.empty();
  const auto at = socket_address(all ? "::" : address.address, address.port);
  if (!at) return cannot_bind(address, EADDRNOTAVAIL);
  auto socket = open_listen_socket(address, *at);
  // A kernel without IPv6.
  const bool without =
      !socket && all &&
      (socket.error().system_errno == EAFNOSUPPORT || socket.error().system_errno == EADDRNOTAVAIL);
  return without ? open_listen_socket(address, *socket_address("0.0.0.0", address.port)) : std::move(socket);
}

/// Makes the kernel's buffer as large as is wanted and allowed; a notice where that is small.
void enlarge_buffer(ListenSocket& socket, const LiveOptions& options, std::vector<std::string>& notices) {
  const auto wanted = static_cast<int>(
      std::min<std::size_t>(options.kernel_buffer_bytes.value_or(usual_socket_buffer), INT_MAX / 2));
  if (!socket.set(SOL_SOCKET, SO_RCVBUFFORCE, wanted)) (void)socket.set(SOL_SOCKET, SO_RCVBUF, wanted);
  int doubled = 0;  // the kernel tells twice what was set
  socklen_t size = sizeof doubled;
  if (::getsockopt(socket.descriptor(), SOL_SOCKET, SO_RCVBUF, &doubled, &size) != 0) return;
  const std::size_t is = static_cast<std::size_t>(doubled) / 2;
  const std::size_t enough = options.kernel_buffer_bytes ? static_cast<std::size_t>(wanted) : small_buffer;
  if (is < enough)
    notices.push_back(
        socket.address().text + ": the kernel buffers " + std::to_string(is >> 10U) +
        " KiB of datagrams only; more with: sudo sysctl net.core.rmem_max=" + std::to_string(wanted));
}

}  // namespace

Expected<std::unique_ptr<LiveDevice>> open_udp_listener(const LiveOptions& options,
                                                        const std::vector<ListenAddress>& addresses) {
  std::vector<ListenSocket> sockets;
  std::vector<std::string> notices;
  for (const ListenAddress& address : addresses) {
    auto socket = bind_to(address);
    if (!socket) return tl::unexpected<Error>(std::move(socket.error()));
    sockets.push_back(std::move(*socket));
    enlarge_buffer(sockets.back(), options, notices);
  }
  return std::make_unique<UdpListener>(std::move(sockets), options, std::move(notices));
}

}  // namespace roce::capture
