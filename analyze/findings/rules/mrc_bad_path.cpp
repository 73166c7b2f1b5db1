// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <vector>

#include "analyze/base/units.hpp"
#include "analyze/findings/shared/mrc_cases.hpp"
#include "analyze/results/mrc_columns.hpp"

namespace roce::analyze {

void find_mrc_bad_path(const Snapshot& snapshot, FindingSink& sink) {
  if (snapshot.mrc == nullptr) return;
  const Mrc& mrc = *snapshot.mrc;
  std::vector<Finding> findings;
  for (const MrcBadPath& bad : bad_paths(mrc)) {
    const MrcStream& stream = mrc.streams[bad.stream];
    const MrcPath& path = stream.paths[bad.path];
    const MrcWay way{stream.key.src, stream.key.dst, {&stream}};
    Proof proof = losses_of(snapshot, way, [&](const MrcLoss& loss) { return loss.path == bad.path; });
    proof.count = path.lost;
    Finding finding = mrc_finding(Severity::error, way, proof);
    const std::string name = mrc_path_text(stream, path);
    finding.subject = fmt::format("{} > {} QP {:#08x}, {}", address_text(way.src), address_text(way.dst),
                                  stream.key.dst_qp, name);
    finding.explanation = fmt::format(
        "The path of UDP source {} from {} to {} loses {} of its {} ({}), the {} other paths of that stream "
        "{}. A "
        "link or a switch that only this path takes is faulty or full.{}",
        name, address_text(way.src), address_text(way.dst), path.lost,
        plural(path.packets, "packet", "packets"), percent_text(path.lost, path.packets),
        stream.paths.size() - 1,
        bad.others_lost == 0 ? "none" : percent_text(bad.others_lost, bad.others_sent),
        path.retired == 0 ? "" : " The receiver asked the sender not to use it any more (M = 2).");
    finding.advice = fmt::format(
        "Trace where that source port leads: the hash of each switch for these addresses and this port "
        "(Linux: "
        "traceroute -U --sport={0} -p 4791 {1}), then errors and drops of the links found. Other streams "
        "have other "
        "ports for the same link: look for theirs in the table mrc_paths. The packets: {2}",
        path.udp_source, address_text(way.dst), packets_command(snapshot, mrc_path_filter({&stream, &path})));
    findings.push_back(std::move(finding));
  }
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze
