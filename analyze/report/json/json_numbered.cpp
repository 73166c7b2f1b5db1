// SPDX-License-Identifier: Apache-2.0
#include "analyze/report/json/json_columns.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "analyze/results/numbered_columns.hpp"

namespace roce::analyze {
namespace {

using N = const NumberedStream&;

const JsonObject<NumberedStream>& numbered_object() {
  static const auto object = [] {
    JsonObject<NumberedStream> o("numbered");
    add_other_columns(o, numbered_columns(), {"dscp"});
    o.key("dscp", "packets by DSCP of the outer header",
          [](N n) { return counts_by(n.dscp, [](auto key) { return std::to_string(key); }); });
    o.key("first_time", "time of its first packet", [](N n) { return json_time(n.first_ns); });
    o.key("last_time", "time of its last packet", [](N n) { return json_time(n.last_ns); });
    return o;
  }();
  return object;
}

const JsonObject<Snapshot>& named_object() {
  using S = const Snapshot&;
  static const auto object = [] {
    JsonObject<Snapshot> o("named");
    o.key("uet", "packets of Ultra Ethernet by type", [](S s) { return counts_by_number(s.totals.uet); });
    o.key("falcon", "packets of Falcon by type", [](S s) { return counts_by_number(s.totals.falcon); });
    o.key("veroce", "packets of veRoCE by opcode", [](S s) { return counts_by_number(s.totals.veroce); });
    o.key("mads", "MADs by management class", [](S s) { return counts_by_number(s.mad_classes); });
    o.key("ifa", "RoCE packets with metadata of IFA", [](S s) { return s.totals.ifa; });
    return o;
  }();
  return object;
}

}  // namespace

const JsonObject<ReportPage>& numbered_keys() {
  using P = const ReportPage&;
  static const auto object = [] {
    JsonObject<ReportPage> o("numbered_streams");
    o.list("shells", "shells (ESP, AH, PSP, MACsec) that number their packets", numbered_object(),
           [](P page) { return numbered_rows(page.s, NumberedRows::shells); });
    o.list("mirrors", "mirrors (ERSPAN, GRE) that number their packets", numbered_object(),
           [](P page) { return numbered_rows(page.s, NumberedRows::mirrors); });
    o.object("named", "packets that are named only", named_object(),
             [](P page) -> const Snapshot& { return page.s; });
    return o;
  }();
  return object;
}

}  // namespace roce::analyze
