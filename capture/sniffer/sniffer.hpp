// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "capture/live/live_device.hpp"
#include "capture/sniffer/own_frames.hpp"
#include "capture/sniffer/ring_plan.hpp"
#include "capture/sniffer/sniffed_port.hpp"
#include "capture/sniffer/sniffer_errors.hpp"
#include "capture/sniffer/verbs.hpp"

// Internal: RDMA devices as a LiveDevice. RoCE frames never reach the host's network stack; the device copies
// them to a raw packet queue pair, by a flow rule of type sniffer (IBV_FLOW_ATTR_SNIFFER).
namespace roce::capture {

/// The system as a sniffer sees it; replaced by tests.
struct SnifferWorld {
  std::string root;                          ///< prefix of /sys, /proc and /dev
  const char* library = "libibverbs.so.1";   ///< for dlopen()
  std::function<std::int64_t()> wall_clock;  ///< nanoseconds since the epoch; empty: the system's
};

class Sniffer final : public LiveDevice {
 public:
  /// `options.device` is the name of an RDMA device. From here on frames arrive in the ring.
  [[nodiscard]] static Expected<std::unique_ptr<Sniffer>> open(const LiveOptions& options,
                                                               SnifferWorld world = {});

  [[nodiscard]] std::vector<InterfaceInfo> interfaces() const override;
  [[nodiscard]] std::string format() const override;
  [[nodiscard]] std::vector<std::string> notices() const override;
  [[nodiscard]] Expected<bool> take(SlabQueue& queue) override;
  [[nodiscard]] Expected<void> wait(int stop, std::chrono::milliseconds at_most) override;
  void finish(SlabQueue& queue) override;
  [[nodiscard]] Drops drops() override;

 private:
  Sniffer(const LiveOptions& options, SnifferWorld world, RdmaName name);
  [[nodiscard]] std::optional<Error> start();
  [[nodiscard]] std::optional<Error> make_ring();
  [[nodiscard]] Error failed(const verbs::Failure& failure) const;
  [[nodiscard]] Error lost_device(const std::string& why);
  [[nodiscard]] Error lost_device(const verbs::Failure& failure);

  [[nodiscard]] Expected<std::size_t> take_some(SlabQueue& queue);
  void deliver(SlabQueue& queue, const verbs::Completion& completion, std::int64_t now);
  void learn_clock(std::int64_t stamp);
  void watch_for_dry_ring(std::size_t polled);
  [[nodiscard]] std::optional<Error> recover(SlabQueue& queue);
  [[nodiscard]] std::optional<Error> handle_events();
  void refresh_port();
  [[nodiscard]] bool can_grow();
  void note(std::string text);

  static constexpr std::size_t batch = 256;  ///< completions polled and buffers reposted at once

  const LiveOptions options_;
  const SnifferWorld world_;
  const RdmaName name_;
  SniffedPort sysfs_;
  RingNeeds needs_;
  RingPlan plan_;
  OwnAddresses own_;
  bool infiniband_ = false;
  bool port_active_ = false;
  std::uint16_t link_type_ = 0;
  std::optional<RoomCounters> room_;
  std::unique_ptr<verbs::Device> device_;
  std::unique_ptr<verbs::Ring> ring_;  ///< after device_: destroyed before it

  std::array<verbs::Completion, batch> completions_{};
  std::array<std::uint32_t, batch> give_back_{};
  std::uint32_t posted_ = 0;  ///< buffers posted to the device
  bool armed_ = false;
  bool events_waiting_ = true;  ///< to be handled in the next take()
  unsigned takes_ = 0;          ///< calls of take() since events were handled
  bool flushing_ = false;       ///< the queue pair is in error
  bool broken_ = false;         ///< the completion queue is in error
  bool outgrown_ = false;       ///< a frame was longer than its buffer
  unsigned flush_waits_ = 0;
  unsigned restarts_in_a_row_ = 0;
  bool clock_known_ = false;
  std::uint64_t run_ = 0;        ///< completions since a poll returned fewer than requested
  std::uint64_t run_limit_ = 0;  ///< buffers posted when the run began
  bool dry_ = false;

  // Dropped frames: exact counts and upper bounds.
  std::uint64_t too_long_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t overrun_at_most_ = 0;
  std::uint64_t restarts_ = 0;

  mutable std::mutex notes_mutex_;
  std::vector<std::string> notes_;
};

/// Whether an RDMA device has this name: in sysfs, or in libibverbs' list.
[[nodiscard]] bool is_rdma_device(const std::string& device, const SnifferWorld& world = {});

/// Opens an RDMA device. Software devices (rxe, siw) are refused; the error names the interface to capture
/// on.
[[nodiscard]] Expected<std::unique_ptr<LiveDevice>> open_rdma_device(const LiveOptions& options,
                                                                     SnifferWorld world = {});

}  // namespace roce::capture
