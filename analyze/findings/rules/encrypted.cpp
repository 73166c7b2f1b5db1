// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

void find_encrypted(const Snapshot& snapshot, FindingSink& sink) {
  const std::string encrypted = encrypted_text(snapshot.numbered);
  if (encrypted.empty()) return;
  Finding finding;
  // Beside RoCE that can be read it is no reason to look; alone it is all that there is to say.
  finding.severity = snapshot.totals.roce_packets == 0 ? Severity::notice : Severity::info;
  finding.subject = "the capture";
  finding.count = snapshot.numbered.encrypted();
  std::uint64_t missing = 0, late = 0;
  for (const NumberedStream& stream : snapshot.numbered.streams) {
    if (stream.mirror() || stream.key.kind == NumberedKind::ah) continue;
    finding.packets.push_back(stream.first_packet);
    missing += stream.missing;
    late += stream.late;
    if (stream.first_ns == capture::no_time) continue;
    finding.first_time_ns = std::min(finding.first_time_ns.value_or(stream.first_ns), stream.first_ns);
    finding.last_time_ns = std::max(finding.last_time_ns.value_or(stream.last_ns), stream.last_ns);
  }
  finding.explanation = fmt::format("{}: RoCE may be inside, and nothing can be said of it.", encrypted);
  if (missing != 0) {
    finding.explanation += fmt::format(
        " By their sequence numbers {} missing: lost on the way here, or not captured, of whatever is "
        "inside.",
        missing == 1 ? "1 is" : fmt::format("{} are", missing));
  }
  if (late != 0)
    finding.explanation += fmt::format(" {} came late, behind higher numbers.", packets_text(late));
  finding.advice =
      "Capture where it is decrypted: live on the RDMA device of a host, or behind the gateway or switch "
      "port "
      "that ends the encryption. The packets: roceanalyze packets FILE -Y "
      "'esp or psp or macsec.TCI.E == 1'";
  sink.add(std::move(finding));
}

}  // namespace roce::analyze
