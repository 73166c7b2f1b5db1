// SPDX-License-Identifier: Apache-2.0
#include "capture/network/pcap_device.hpp"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "capture/core/rights.hpp"
#include "capture/host/readers.hpp"
#include "capture/network/filter_error_place.hpp"
#include "capture/network/interface_facts.hpp"

namespace roce::capture {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t longest_snap = 262'144;  // libpcap's maximum
constexpr std::size_t usual_kernel_buffer = std::size_t{64} << 20U;
constexpr milliseconds shortest_block_time{1};
constexpr milliseconds longest_block_time{10'000};
/// With longer block times each block is handed over when it arrives, one wake-up each.
constexpr milliseconds longest_gather_time{50};
constexpr int frames_at_once = 512;  // so many are still in the cache when they are processed

struct CloseHandle {
  void operator()(pcap_t* handle) const noexcept { pcap_close(handle); }
};
using Handle = std::unique_ptr<pcap_t, CloseHandle>;

tl::unexpected<Error> pcap_failed(ErrorKind kind, const std::string& device, std::string message) {
  Error error;
  error.kind = kind;
  error.path = device;
  error.message = std::move(message);
  return tl::unexpected<Error>(std::move(error));
}

std::string version() {
  // "libpcap version 1.10.3 (with TPACKET_V3)"
  const std::string text = pcap_lib_version();
  constexpr std::string_view words = "version ";
  const std::size_t at = text.find(words);
  if (at == std::string::npos) return text;
  const std::size_t begin = at + words.size();
  return "libpcap " + text.substr(begin, text.find(' ', begin) - begin);
}

/// The kernel hands over a block of its ring when it is full or this old: one wake-up serves all frames of
/// this time, and no frame waits longer.
milliseconds block_time(const LiveOptions& options) {
  return std::clamp(options.gather_time, shortest_block_time, longest_block_time);
}

class PcapDevice final : public LiveDevice {
 public:
  PcapDevice(Handle handle, const LiveOptions& options, std::vector<std::string> notices)
      : handle_(std::move(handle)),
        options_(options),
        notices_(std::move(notices)),
        descriptor_(pcap_get_selectable_fd(handle_.get())),
        index_(options.device == any_device ? 0 : if_nametoindex(options.device.c_str())),
        nanoseconds_(pcap_get_tstamp_precision(handle_.get()) == PCAP_TSTAMP_PRECISION_NANO) {
    frame_.link_type = link_type_of(pcap_datalink(handle_.get()));
  }

  [[nodiscard]] std::vector<InterfaceInfo> interfaces() const override;
  [[nodiscard]] std::string format() const override {
    return "live by " + version() + (nanoseconds_ ? " (ns)" : " (us)");
  }
  [[nodiscard]] std::vector<std::string> notices() const override { return notices_; }
  [[nodiscard]] Expected<bool> take(SlabQueue& queue) override;
  [[nodiscard]] Expected<void> wait(int stop, milliseconds at_most) override;
  void finish(SlabQueue& queue) override;
  [[nodiscard]] Drops drops() override;
  /// The kernel's ring buffers frames meanwhile.
  [[nodiscard]] bool waits_for_taker() const override { return true; }
  [[nodiscard]] milliseconds gather_time() const override {
    return std::min(block_time(options_) / 2, longest_gather_time);
  }

 private:
  static void put(unsigned char* user, const pcap_pkthdr* header, const unsigned char* bytes);
  void let_nothing_in() const;
  [[nodiscard]] Expected<void> look_after_interface();

  Handle handle_;
  LiveOptions options_;
  std::vector<std::string> notices_;
  int descriptor_;
  unsigned index_;  ///< of the interface; 0: "any"
  bool nanoseconds_;
  SlabQueue* queue_ = nullptr;
  Frame frame_;  ///< what all frames have in common
  std::uint64_t taken_ = 0;
  pcap_stat last_{};
  std::uint64_t accepted_ = 0;  ///< by the capture filter: taken, in the kernel's buffer, or dropped
  Drops drops_;
};

std::vector<InterfaceInfo> PcapDevice::interfaces() const {
  InterfaceInfo info = interface_facts(options_.device, "");
  info.filter = options_.filter;
  info.link_type = frame_.link_type;
  info.snap_length = static_cast<std::uint32_t>(pcap_snapshot(handle_.get()));
  info.ticks_per_second = nanoseconds_ ? 1'000'000'000 : 1'000'000;
  return {info};
}

void PcapDevice::put(unsigned char* user, const pcap_pkthdr* header, const unsigned char* bytes) {
  PcapDevice& self = *reinterpret_cast<PcapDevice*>(user);
  Frame& frame = self.frame_;
  frame.data = bytes;
  frame.captured = header->caplen;
  frame.wire = header->len;
  const std::int64_t fraction = header->ts.tv_usec;
  frame.time_ns =
      std::int64_t{header->ts.tv_sec} * 1'000'000'000 + (self.nanoseconds_ ? fraction : fraction * 1000);
  self.queue_->push(frame);
  ++self.taken_;
}

Expected<bool> PcapDevice::take(SlabQueue& queue) {
  queue_ = &queue;
  const int got = pcap_dispatch(handle_.get(), frames_at_once, put, reinterpret_cast<unsigned char*>(this));
  if (got >= 0) return got >= frames_at_once;
  if (auto there = look_after_interface(); !there) return tl::unexpected<Error>(std::move(there.error()));
  return pcap_failed(ErrorKind::not_readable, options_.device,
                     std::string("the capture failed: ") + pcap_geterr(handle_.get()));
}

/// Fails if the interface was removed or is down.
Expected<void> PcapDevice::look_after_interface() {
  if (index_ == 0) return {};
  ifreq request{};
  // By index, as the interface may have been renamed. Not with if_indextoname(), which opens a socket: the
  // sandbox forbids that.
  request.ifr_ifindex = static_cast<int>(index_);
  if (ioctl(descriptor_, SIOCGIFNAME, &request) != 0) {
    if (errno != ENODEV && errno != ENXIO) return {};  // unknown: not an error of the interface
    return pcap_failed(ErrorKind::not_readable, options_.device,
                       "the network interface was removed during the capture");
  }
  const std::string name = request.ifr_name;
  if (ioctl(descriptor_, SIOCGIFFLAGS, &request) != 0) return {};
  if ((static_cast<unsigned>(request.ifr_flags) & static_cast<unsigned>(IFF_UP)) != 0) return {};
  return pcap_failed(
      ErrorKind::not_readable, options_.device,
      "the network interface was set down during the capture; to set it up: sudo ip link set dev " + name +
          " up");
}

Expected<void> PcapDevice::wait(int stop, milliseconds at_most) {
  pollfd waiting[2] = {{descriptor_, POLLIN, 0}, {stop, POLLIN, 0}};
  const int ready = poll(waiting, 2, static_cast<int>(at_most.count()));
  if (ready < 0) return {};
  constexpr short trouble = POLLERR | POLLHUP | POLLNVAL;
  if (ready == 0) return look_after_interface();
  if ((waiting[0].revents & trouble) == 0) return {};
  // Down or removed: frames in the buffer can still be read. Reading SO_ERROR clears it.
  int number = 0;
  socklen_t size = sizeof number;
  getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &number, &size);
  if (auto there = look_after_interface(); !there) return there;
  // Down and up again in between, or irrelevant for a capture.
  if (number == 0 || number == ENETDOWN) return {};
  return pcap_failed(ErrorKind::not_readable, options_.device,
                     std::string("the capture failed: ") + std::strerror(number));
}

/// Replaces the capture filter by one that accepts nothing. Not with libpcap, which would apply it to frames
/// in its buffer as well.
void PcapDevice::let_nothing_in() const {
  sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{1, &nothing};
  setsockopt(descriptor_, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

void PcapDevice::finish(SlabQueue& queue) {
  using Clock = std::chrono::steady_clock;
  // Usually all accepted frames are accounted for at once or after the kernel's block time. The counts may
  // never match if frames were accepted before the capture filter was set.
  const milliseconds patience = 4 * block_time(options_);
  const milliseconds altogether = milliseconds{5000} + patience;
  let_nothing_in();
  const Clock::time_point begun = Clock::now();
  Clock::time_point last = begun;
  while (true) {
    const std::uint64_t before = taken_;
    const Expected<bool> more = take(queue);
    const Clock::time_point now = Clock::now();
    if (taken_ != before) last = now;
    if (now - begun > altogether) return;
    if (more && *more) continue;
    // After the interface was removed, libpcap returns errors even while the kernel still has the last block.
    const std::uint64_t lost = drops().by_kernel;
    if (taken_ + lost >= accepted_ || now - last > patience) return;
    pollfd waiting{descriptor_, POLLIN, 0};
    poll(&waiting, 1, static_cast<int>(block_time(options_).count()));
  }
}

LiveDevice::Drops PcapDevice::drops() {
  pcap_stat now{};
  if (pcap_stats(handle_.get(), &now) != 0) return drops_;
  // libpcap counts in 32 bits. The interface's counters may be reset, or vanish with it.
  const auto grown = [](unsigned value, unsigned before) -> std::uint64_t {
    const unsigned difference = value - before;
    return difference > static_cast<unsigned>(INT_MAX) ? 0 : difference;
  };
  accepted_ += grown(now.ps_recv, last_.ps_recv);
  drops_.by_kernel += grown(now.ps_drop, last_.ps_drop);
  drops_.by_interface += grown(now.ps_ifdrop, last_.ps_ifdrop);
  last_ = now;
  return drops_;
}

// Opening.

/// Explains an error of pcap_activate(), with the remedy.
tl::unexpected<Error> activation_error(int status, const std::string& device, const std::string& text) {
  const std::string more = text.empty() ? "" : " (" + text + ")";
  switch (status) {
    case PCAP_ERROR_NO_SUCH_DEVICE:
      return pcap_failed(ErrorKind::not_found, device, explain_unknown_device(device));
    case PCAP_ERROR_PERM_DENIED:
    case PCAP_ERROR_PROMISC_PERM_DENIED: {
      const Right needed = status == PCAP_ERROR_PERM_DENIED ? Right::net_raw : Right::net_admin;
      const std::string name =
          needed == Right::net_raw ? "CAP_NET_RAW" : "CAP_NET_ADMIN (for promiscuous mode)";
      if (!has_right(needed)) {
        return pcap_failed(ErrorKind::not_readable, device,
                           "no permission to capture: " + name + " is missing; " + how_to_allow());
      }
      return pcap_failed(ErrorKind::not_readable, device,
                         "no permission to capture, although this process has " + name +
                             ": a container or a security module may forbid it" + more);
    }
    case PCAP_ERROR_IFACE_NOT_UP:
      return pcap_failed(ErrorKind::not_readable, device,
                         "the network interface is down: sudo ip link set dev " + device + " up");
    default:
      return pcap_failed(
          ErrorKind::not_readable, device,
          std::string("it cannot be captured: ") + (text.empty() ? pcap_statustostr(status) : text));
  }
}

Expected<void> set_filter(pcap_t* handle, const LiveOptions& options) {
  if (options.filter.empty()) return {};
  bpf_program program{};
  bpf_u_int32 network = 0;
  bpf_u_int32 mask = 0;
  char unused[PCAP_ERRBUF_SIZE];
  if (pcap_lookupnet(options.device.c_str(), &network, &mask, unused) != 0) mask = PCAP_NETMASK_UNKNOWN;
  const auto compile = [&](const std::string& text) {
    const bool good = pcap_compile(handle, &program, text.c_str(), 1, mask) == 0;
    return good ? std::string() : std::string(pcap_geterr(handle));
  };
  if (std::string error = compile(options.filter); !error.empty()) {
    // libpcap reports the first error only: if it does not complain about the appended number, which is too
    // large, it had found an error before it.
    const FilterPlace place = find_filter_error(options.filter, [&](std::string_view beginning) {
      const std::string why = compile(std::string(beginning) + " 99999999999");
      if (why.empty()) pcap_freecode(&program);
      return why.empty() || why.find("overflows 32 bits") != std::string::npos;
    });
    auto refused =
        pcap_failed(ErrorKind::unsupported, options.device, "the capture filter is not valid: " + error);
    refused.value().below = mark_filter(options.filter, place);
    return refused;
  }
  const int status = pcap_setfilter(handle, &program);
  pcap_freecode(&program);
  if (status == 0) return {};
  return pcap_failed(ErrorKind::unsupported, options.device,
                     std::string("the capture filter cannot be set: ") + pcap_geterr(handle));
}

/// Unlike SLL, SLL2 has the interface index of each frame.
void prefer_sll2(pcap_t* handle) {
  int* types = nullptr;
  const int count = pcap_list_datalinks(handle, &types);
  if (count > 0 && std::find(types, types + count, DLT_LINUX_SLL2) != types + count) {
    pcap_set_datalink(handle, DLT_LINUX_SLL2);
  }
  if (count >= 0) pcap_free_datalinks(types);
}

std::string address_text(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address == nullptr) return "";
  if (address->sa_family == AF_INET) {
    sockaddr_in ip{};
    std::memcpy(&ip, address, sizeof ip);
    inet_ntop(AF_INET, &ip.sin_addr, text, sizeof text);
  } else if (address->sa_family == AF_INET6) {
    sockaddr_in6 ip{};
    std::memcpy(&ip, address, sizeof ip);
    inet_ntop(AF_INET6, &ip.sin6_addr, text, sizeof text);
  }
  return text;
}

}  // namespace

std::uint16_t link_type_of(int dlt) noexcept {
  // Some DLT numbers differ by operating system.
  constexpr std::pair<int, std::uint16_t> other[] = {
      {DLT_ATM_RFC1483, 100}, {DLT_RAW, 101},      {DLT_SLIP_BSDOS, 102},
      {DLT_PPP_BSDOS, 103},   {DLT_ATM_CLIP, 106},
  };
  for (const auto& [number, link_type] : other) {
    if (number == dlt) return link_type;
  }
  return static_cast<std::uint16_t>(dlt);
}

Expected<std::vector<NetworkDevice>> find_network_devices() {
  char text[PCAP_ERRBUF_SIZE] = {};
  pcap_if_t* found = nullptr;
  if (pcap_findalldevs(&found, text) != 0) {
    return pcap_failed(ErrorKind::not_readable, "",
                       std::string("network interfaces cannot be listed: ") + text);
  }
  const std::unique_ptr<pcap_if_t, decltype(&pcap_freealldevs)> devices(found, pcap_freealldevs);
  std::vector<std::pair<unsigned, NetworkDevice>> numbered;
  for (const pcap_if_t* one = found; one != nullptr; one = one->next) {
    const bool any = one->name == any_device;
    const unsigned index = if_nametoindex(one->name);
    // libpcap also lists USB, Bluetooth, D-Bus and RDMA devices.
    if (index == 0 && !any) continue;
    NetworkDevice device;
    device.name = one->name;
    if (one->description != nullptr) device.description = one->description;
    const auto is = [one](unsigned flag) { return (one->flags & flag) != 0; };
    device.up = is(PCAP_IF_UP);
    device.running = is(PCAP_IF_RUNNING);
    device.loopback = is(PCAP_IF_LOOPBACK);
    device.wireless = is(PCAP_IF_WIRELESS);
    if (std::string address = ethernet_address(device.name, ""); !address.empty()) {
      device.addresses.push_back(std::move(address));
    }
    for (const pcap_addr* address = one->addresses; address != nullptr; address = address->next) {
      if (std::string shown = address_text(address->addr); !shown.empty())
        device.addresses.push_back(std::move(shown));
    }
    numbered.emplace_back(any ? UINT_MAX : index, std::move(device));
  }
  std::sort(numbered.begin(), numbered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<NetworkDevice> list;
  for (auto& [index, device] : numbered) list.push_back(std::move(device));
  return list;
}

bool is_network_interface(const std::string& device) {
  return device == any_device || if_nametoindex(device.c_str()) != 0;
}

Expected<std::unique_ptr<LiveDevice>> open_network_device(const LiveOptions& options,
                                                          std::vector<std::string> notices) {
  const std::string& device = options.device;
  if (!is_network_interface(device)) {
    return pcap_failed(ErrorKind::not_found, device, explain_unknown_device(device));
  }
  char text[PCAP_ERRBUF_SIZE] = {};
  Handle handle(pcap_create(device.c_str(), text));
  if (!handle)
    return pcap_failed(ErrorKind::not_readable, device, std::string("it cannot be captured: ") + text);
  pcap_t* const raw = handle.get();
  const std::uint32_t snap =
      options.snap_length == 0 ? longest_snap : std::min(options.snap_length, longest_snap);
  pcap_set_snaplen(raw, static_cast<int>(snap));
  pcap_set_promisc(raw, options.promiscuous ? 1 : 0);
  pcap_set_timeout(raw, static_cast<int>(block_time(options).count()));
  const std::size_t buffer = options.kernel_buffer_bytes.value_or(usual_kernel_buffer);
  pcap_set_buffer_size(raw, static_cast<int>(std::min<std::size_t>(buffer, INT_MAX)));
  pcap_set_tstamp_precision(raw, PCAP_TSTAMP_PRECISION_NANO);  // if refused: microseconds
  const int status = pcap_activate(raw);
  if (status < 0) return activation_error(status, device, pcap_geterr(raw));
  if (status == PCAP_WARNING_PROMISC_NOTSUP) {
    notices.push_back(device + " has no promiscuous mode: frames for other hosts are not captured");
  } else if (status > 0) {
    notices.push_back(device + ": " + pcap_geterr(raw));
  }
  if (options.ring_time)
    notices.push_back(device + " is a network interface: --ring-time has no effect, -B does");
  if (device == any_device) prefer_sll2(raw);
  if (auto set = set_filter(raw, options); !set) return tl::unexpected<Error>(std::move(set.error()));
  if (pcap_setnonblock(raw, 1, text) != 0) {
    return pcap_failed(ErrorKind::not_readable, device, std::string("it cannot be captured: ") + text);
  }
  if (const auto sniffer = sniffer_switch(read_private_flags(*running_kernel(), device))) {
    notices.push_back(device + ": " + explain_sniffer_switch(device, *sniffer));
  }
  return std::make_unique<PcapDevice>(std::move(handle), options, std::move(notices));
}

}  // namespace roce::capture
