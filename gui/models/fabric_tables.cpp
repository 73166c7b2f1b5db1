// SPDX-License-Identifier: Apache-2.0
#include "gui/models/fabric_tables.hpp"

namespace roce::gui {

RowPackets packets_of(const analyze::HostPairRow& row) {
  return {analyze::host_pair_filter(row), 0};
}

RowPackets packets_of(const analyze::PathRow& row) {
  return {analyze::path_filter(row), 0};
}
RowPackets packets_of(const analyze::MrcStream* row) {
  return {analyze::mrc_stream_filter(*row), 0};
}
RowPackets packets_of(const analyze::MrcPathRow& row) {
  return {analyze::mrc_path_filter(row), 0};
}
RowPackets packets_of(const analyze::MrcLossRow& row) {
  return {{}, row.loss->packet};
}
RowPackets packets_of(const analyze::NumberedStream& row) {
  return {analyze::numbered_filter(row), 0};
}
RowPackets packets_of(const analyze::ExportDropRow& row) {
  const std::vector<std::size_t>& drops = row.it->drops;
  return {{}, drops.empty() ? 0 : row.exports->drops[drops.front()].packet};
}
RowPackets packets_of(const analyze::ExportFlowRow& row) {
  return {{}, row.it->first_packet};
}

}  // namespace roce::gui
