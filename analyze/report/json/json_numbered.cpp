// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "analyze/base/address_text.hpp"
#include "analyze/report/json/json_columns.hpp"
#include "analyze/report/json/json_parts.hpp"
#include "analyze/results/numbered_columns.hpp"

namespace roce::analyze {
namespace {

template <std::size_t Size>
void write_numbers(JsonWriter& json, std::string_view key, const std::array<std::uint64_t, Size>& counts) {
  json.key(key).begin_object();
  for (std::size_t i = 0; i < Size; ++i) {
    if (counts[i] != 0) json.field(std::to_string(i), counts[i]);
  }
  json.end_object();
}

}  // namespace

void write_numbered(JsonWriter& json, const Snapshot& snapshot) {
  static const JsonColumns<NumberedStream> columns(numbered_columns(), {}, {"dscp"});
  for (const NumberedRows which : {NumberedRows::shells, NumberedRows::mirrors}) {
    json.key(which == NumberedRows::mirrors ? "mirrors" : "shells").begin_array();
    for (const NumberedStream* each : numbered_rows(snapshot, which)) {
      const NumberedStream& stream = *each;
      json.begin_object();
      columns.write_rest(json, stream);
      json.key("dscp").begin_object();
      for (const auto& entry : stream.dscp.sorted()) json.field(std::to_string(entry.key), entry.count);
      json.end_object();
      write_time(json, "first_time", stream.first_ns);
      write_time(json, "last_time", stream.last_ns);
      json.end_object();
    }
    json.end_array();
  }
  json.key("named").begin_object();
  write_numbers(json, "uet", snapshot.totals.uet);
  write_numbers(json, "falcon", snapshot.totals.falcon);
  write_numbers(json, "veroce", snapshot.totals.veroce);
  write_numbers(json, "mads", snapshot.mad_classes);
  json.field("ifa", snapshot.totals.ifa).end_object();
}

}  // namespace roce::analyze
