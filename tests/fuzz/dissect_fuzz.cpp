// SPDX-License-Identifier: Apache-2.0
// Byte 0 chooses the link type, byte 1 the options, bytes 2 and 3 how much longer the frame was on
// the wire; the rest is the frame. Everything that reads a dissection must survive it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/filter/field_registry.hpp"
#include "analyze/filter/filter.hpp"
#include "dissect/dissect.hpp"
#include "dissect/header_table.hpp"
#include "dissect/icrc.hpp"

namespace {

using namespace roce;

constexpr std::uint16_t link_types[] = {dissect::link_ethernet,
                                        dissect::link_null,
                                        dissect::link_raw,
                                        dissect::link_loop,
                                        dissect::link_linux_sll,
                                        dissect::link_erf,
                                        dissect::link_ipv4,
                                        dissect::link_infiniband,
                                        dissect::link_ipv6,
                                        dissect::link_linux_sll2,
                                        999};

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const dissect::Dissection& d, std::size_t size) {
  require(d.layer_count <= dissect::max_layers_of_exports);
  require(d.captured_end == size);
  for (const dissect::Layer& layer : d.all()) {
    require(std::size_t{layer.offset} + layer.length <= size);
    require(layer.length >= dissect::header_info(layer.id).size);
  }
  for (const std::uint8_t index : {d.ethernet, d.vlan, d.network, d.udp, d.bth, d.mad})
    require(index == dissect::Dissection::none || index < d.layer_count);
  require(d.is_transport() == (d.find(dissect::HeaderId::bth) != nullptr));
}

const std::vector<analyze::Filter>& filters() {
  static const std::vector<analyze::Filter> compiled = [] {
    std::vector<analyze::Filter> out;
    for (const std::string_view text :
         {"infiniband.bth.opcode == \"RDMA WRITE Only\" && ip.addr == 10.0.0.0/8",
          "infiniband.payload contains aa:bb or infiniband.payload matches \"(a|b)+c\"",
          "infiniband.payload[2:4] == 00:01:02:03 or eth.src[-2:] == eth.dst[0:2]",
          "roce.src == roce.dst xor frame.protocols matches \"udp$\"",
          "all udp.port in {1..1024, 4791} and roce.icrc.status != match"})
      out.push_back(std::move(*analyze::Filter::compile(text)));
    return out;
  }();
  return compiled;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t head = 4;
  if (size < head || size > 9000) return 0;
  const dissect::Bytes bytes{data + head, size - head};
  dissect::Options options;
  if ((data[1] & 1U) != 0) options.roce_ip_protocol = 254;
  if ((data[1] & 2U) != 0) options.trimmed_dscps = ~std::uint64_t{1};
  if ((data[1] & 4U) != 0)
    options.named = {.falcon_port = 7777, .veroce_port = 4794, .ifa_protocol = 253, .csig_type = 0x9900};

  capture::Frame frame;
  frame.data = bytes.data();
  frame.captured = static_cast<std::uint32_t>(bytes.size());
  frame.wire = frame.captured + dissect::load_be16(data + 2);
  frame.link_type = link_types[data[0] % (sizeof link_types / sizeof link_types[0])];
  dissect::Dissection dissection;
  dissect::dissect(bytes, frame.wire, frame.link_type, dissection, options);
  check(dissection, bytes.size());

  analyze::PacketView view;
  view.number = 1;
  view.frame = &frame;
  view.dissection = &dissection;
  view.icrc = dissect::check_icrc(bytes, dissection);
  (void)dissect::check_vcrc(bytes, dissection);
  require((view.icrc->status == dissect::CrcStatus::not_checkable) ==
          (view.icrc->obstacle != dissect::CrcObstacle::none));

  analyze::Values values;
  std::string text;
  for (const analyze::FieldRef field : analyze::all_fields()) {
    values.clear();
    analyze::extract(view, field, values);
    text.clear();
    for (const analyze::Value& value : values)
      analyze::append_value(text, analyze::field_facts(field), value);
  }
  for (const analyze::Filter& filter : filters()) (void)filter.matches(view);
  return 0;
}
