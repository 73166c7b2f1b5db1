// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_ibverbs/script.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iomanip>
#include <sstream>

namespace fake {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "fake libibverbs: %s\n", why.c_str());
  _exit(98);
}

std::array<std::uint8_t, 16> gid_of(const std::string& digits) {
  std::array<std::uint8_t, 16> gid{};
  if (digits.size() != 32) give_up("a GID has 32 digits: " + digits);
  for (std::size_t i = 0; i < gid.size(); ++i) {
    gid[i] = static_cast<std::uint8_t>(std::stoul(digits.substr(i * 2, 2), nullptr, 16));
  }
  return gid;
}

}  // namespace

Script read_script(const char* path) {
  Script script;
  if (path == nullptr) return script;
  std::ifstream file(path);
  if (!file) give_up(std::string("cannot read ") + path);
  using Kind = Step::Kind;
  std::istringstream words;
  const auto add = [&](Kind kind) -> Step& { return script.steps.emplace_back(Step{kind, 0, 0, 0, {}, {}}); };
  const std::map<std::string, std::function<void()>> keys = {
      {"device", [&] { words >> script.device; }},
      {"no_devices", [&] { script.devices = false; }},
      {"ports", [&] { words >> script.ports; }},
      {"layer",
       [&] {
         std::string layer;
         words >> layer;
         script.infiniband = layer == "infiniband";
       }},
      {"transport",
       [&] {
         std::string name;
         words >> name;
         script.iwarp = name == "iwarp";
       }},
      {"firmware", [&] { words >> script.firmware; }},
      {"port_state", [&] { words >> script.port_state; }},
      {"speed", [&] { words >> script.speed; }},
      {"width", [&] { words >> script.width; }},
      {"mtu", [&] { words >> script.mtu; }},
      {"lid", [&] { words >> script.lid; }},
      {"lmc", [&] { words >> script.lmc; }},
      {"gid",
       [&] {
         std::string digits;
         words >> digits;
         script.gids.push_back(gid_of(digits));
       }},
      {"stamps",
       [&] {
         std::string yes;
         words >> yes;
         script.stamps = yes == "yes";
       }},
      {"max_qp_wr", [&] { words >> script.max_qp_wr; }},
      {"raw_limit", [&] { words >> script.raw_limit; }},
      {"max_cqe", [&] { words >> script.max_cqe; }},
      {"counter", [&] { words >> script.counter; }},
      {"refuse",
       [&] {
         std::string what;
         words >> what;
         Refusal& row = script.refusals[what];
         words >> row.error;
         if (!(words >> row.after)) words.clear();
       }},
      {"frames",
       [&] {
         Step& step = add(Kind::frames);
         words >> step.count >> step.bytes;
         if (!(words >> step.burst)) words.clear();
       }},
      {"file",
       [&] {
         Step& step = add(Kind::file);
         words >> std::quoted(step.path);
         if (!(words >> step.burst)) words.clear();
       }},
      {"wait_armed", [&] { add(Kind::wait_armed); }},
      {"race", [&] { add(Kind::race); }},
      {"long",
       [&] {
         Step& step = add(Kind::long_frame);
         step.count = 1;
         words >> step.bytes;
       }},
      {"error", [&] { words >> add(Kind::error).count; }},
      {"broken", [&] { words >> add(Kind::broken).count; }},
      {"event",
       [&] {
         Step& step = add(Kind::event);
         words >> step.count;
         if (!(words >> step.bytes)) {
           step.bytes = 1;
           words.clear();
         }
       }},
      {"now_port_state", [&] { words >> add(Kind::port_state).count; }},
      {"write",
       [&] {
         Step& step = add(Kind::write_file);
         words >> step.path >> step.text;
       }},
      {"lie",
       [&] {
         Step& step = add(Kind::lie);
         words >> step.count >> step.bytes;
       }},
      {"overrun", [&] { words >> add(Kind::overrun).count; }},
      {"remove", [&] { add(Kind::remove); }},
      {"vanish", [&] { add(Kind::vanish); }},
  };
  for (std::string line; std::getline(file, line);) {
    words.clear();
    words.str(line);
    std::string key;
    if (!(words >> key) || key[0] == '#') continue;
    const auto found = keys.find(key);
    if (found == keys.end()) give_up("unknown line: " + line);
    found->second();
    if (!words) give_up("incomplete line: " + line);
  }
  return script;
}

std::vector<Frame> read_pcap(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  const std::string all = content.str();
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, all.data() + at, sizeof value);
    return value;
  };
  if (all.size() < 24 || (word(0) != 0xa1b2c3d4 && word(0) != 0xa1b23c4d)) {
    give_up(path + " is no pcap file of this machine's byte order");
  }
  const std::uint64_t unit = word(0) == 0xa1b23c4d ? 1 : 1000;
  std::vector<Frame> frames;
  for (std::size_t at = 24; at + 16 <= all.size();) {
    const std::size_t size = word(at + 8);
    if (at + 16 + size > all.size()) break;
    Frame& frame = frames.emplace_back();
    frame.time_ns = word(at) * std::uint64_t{1'000'000'000} + word(at + 4) * unit;
    frame.bytes.assign(all.begin() + static_cast<std::ptrdiff_t>(at + 16),
                       all.begin() + static_cast<std::ptrdiff_t>(at + 16 + size));
    at += 16 + size;
  }
  return frames;
}

}  // namespace fake
