// SPDX-License-Identifier: Apache-2.0
#include "capture/host/kernel.hpp"

#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace roce::capture {
namespace {

constexpr std::size_t most_answer = std::size_t{16} << 20U;
constexpr std::size_t most_message = 256 * 1024;  // largest datagram of the kernel
constexpr time_t patience_s = 5;

/// Owns a descriptor.
class Socket {
 public:
  Socket(int domain, int type, int protocol) : descriptor_(::socket(domain, type | SOCK_CLOEXEC, protocol)) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

Error netlink_error(int error) {
  return {error == EPERM || error == EACCES ? ErrorKind::not_readable : ErrorKind::unsupported, "netlink",
          std::nullopt, std::strerror(error), error};
}

enum class Answer { more, whole };

/// Whether the answer is complete with the messages of this datagram.
Expected<Answer> look_through(std::span<const std::byte> datagram) {
  while (datagram.size() >= sizeof(nlmsghdr)) {
    nlmsghdr header{};
    std::memcpy(&header, datagram.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > datagram.size()) break;
    if (header.nlmsg_type == NLMSG_ERROR) {
      int code = 0;
      if (header.nlmsg_len >= sizeof header + sizeof code)
        std::memcpy(&code, datagram.data() + sizeof header, sizeof code);
      if (code != 0) return tl::unexpected(netlink_error(-code));
      return Answer::whole;
    }
    if (header.nlmsg_type == NLMSG_DONE || (header.nlmsg_flags & NLM_F_MULTI) == 0) return Answer::whole;
    datagram =
        datagram.subspan(std::min(datagram.size(), static_cast<std::size_t>(NLMSG_ALIGN(header.nlmsg_len))));
  }
  return Answer::more;
}

class RunningKernel final : public KernelQueries {
 public:
  Expected<std::vector<std::byte>> netlink(int family, std::span<const std::byte> request) override {
    const Socket socket(AF_NETLINK, SOCK_RAW, family);
    if (socket.get() < 0) return tl::unexpected(netlink_error(errno));
    const timeval patience{patience_s, 0};
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_nl to{};
    to.nl_family = AF_NETLINK;
    const ssize_t sent = ::sendto(socket.get(), request.data(), request.size(), 0,
                                  static_cast<const sockaddr*>(static_cast<const void*>(&to)), sizeof to);
    if (sent != static_cast<ssize_t>(request.size())) return tl::unexpected(netlink_error(errno));

    std::vector<std::byte> answer, datagram(most_message);
    for (;;) {
      const ssize_t got = ::recv(socket.get(), datagram.data(), datagram.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return tl::unexpected(netlink_error(errno == EAGAIN ? ETIMEDOUT : errno));
      const std::span<const std::byte> part(datagram.data(), static_cast<std::size_t>(got));
      const Expected<Answer> state = look_through(part);
      if (!state) return tl::unexpected(state.error());
      answer.insert(answer.end(), part.begin(), part.end());
      if (*state == Answer::whole || part.empty()) return answer;
      if (answer.size() > most_answer) return tl::unexpected(netlink_error(EMSGSIZE));
    }
  }

  int ethtool(const std::string& interface, std::span<std::byte> data) override {
    if (interface.size() >= IFNAMSIZ) return ENODEV;
    if (socket_.get() < 0) return EAFNOSUPPORT;
    ifreq request{};
    std::memcpy(request.ifr_name, interface.data(), interface.size());
    request.ifr_data = static_cast<char*>(static_cast<void*>(data.data()));
    return ::ioctl(socket_.get(), SIOCETHTOOL, &request) == 0 ? 0 : errno;
  }

 private:
  Socket socket_{AF_INET, SOCK_DGRAM, 0};
};

}  // namespace

std::unique_ptr<KernelQueries> running_kernel() {
  return std::make_unique<RunningKernel>();
}

}  // namespace roce::capture
