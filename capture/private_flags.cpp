// SPDX-License-Identifier: Apache-2.0
#include "capture/private_flags.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace roce::capture {
namespace {

/// ethtool's commands to one interface.
class Ethtool {
 public:
  explicit Ethtool(const std::string& interface) : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    fits_ = interface.size() < sizeof request_.ifr_name;
    if (fits_) std::memcpy(request_.ifr_name, interface.c_str(), interface.size());
  }
  ~Ethtool() {
    if (socket_ >= 0) close(socket_);
  }
  Ethtool(const Ethtool&) = delete;
  Ethtool& operator=(const Ethtool&) = delete;

  bool ask(std::byte* command) {
    request_.ifr_data = reinterpret_cast<char*>(command);
    return fits_ && socket_ >= 0 && ioctl(socket_, SIOCETHTOOL, &request_) == 0;
  }

 private:
  int socket_;
  ifreq request_{};
  bool fits_ = false;
};

/// The kernel takes and returns these with what follows in the same memory.
template <class Head>
std::vector<std::byte> with_room(const Head& head, std::size_t more) {
  std::vector<std::byte> memory(sizeof head + more);
  std::memcpy(memory.data(), &head, sizeof head);
  return memory;
}

constexpr std::uint32_t most_flags = 32;  // they are the bits of one number
/// The kernel writes as many names as the driver has by then, whatever room it was told of.
constexpr std::size_t room_for_names = std::size_t{8} * most_flags * ETH_GSTRING_LEN;

std::uint32_t count_flags(const EthtoolCall& ask) {
  ethtool_sset_info head{};
  head.cmd = ETHTOOL_GSSET_INFO;
  head.sset_mask = std::uint64_t{1} << static_cast<unsigned>(ETH_SS_PRIV_FLAGS);
  std::vector<std::byte> memory = with_room(head, sizeof(std::uint32_t));
  if (!ask(memory.data())) return 0;
  std::memcpy(&head, memory.data(), sizeof head);
  if (head.sset_mask == 0) return 0;
  std::uint32_t count = 0;
  std::memcpy(&count, memory.data() + sizeof head, sizeof count);
  return count;
}

}  // namespace

std::optional<bool> private_flag(const EthtoolCall& ask, std::string_view flag) {
  const std::uint32_t count = count_flags(ask);
  if (count == 0 || count > most_flags) return std::nullopt;
  ethtool_gstrings names{};
  names.cmd = ETHTOOL_GSTRINGS;
  names.string_set = ETH_SS_PRIV_FLAGS;
  names.len = count;
  std::vector<std::byte> memory = with_room(names, room_for_names);
  if (!ask(memory.data())) return std::nullopt;
  ethtool_value values{};
  values.cmd = ETHTOOL_GPFLAGS;
  std::vector<std::byte> flags = with_room(values, 0);
  if (!ask(flags.data())) return std::nullopt;
  std::memcpy(&values, flags.data(), sizeof values);

  const char* const texts = reinterpret_cast<const char*>(memory.data() + sizeof names);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view text(texts + std::size_t{i} * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
    if (text.substr(0, text.find('\0')) == flag) return (values.data >> i & 1U) != 0;
  }
  return std::nullopt;
}

std::optional<bool> private_flag(const std::string& interface, std::string_view flag) {
  Ethtool ethtool(interface);
  return private_flag([&ethtool](std::byte* command) { return ethtool.ask(command); }, flag);
}

}  // namespace roce::capture
