// SPDX-License-Identifier: Apache-2.0
#include "gui/models/bundled_samples.hpp"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

namespace roce::gui {
namespace {

struct SampleRow {
  const char* name;  ///< also in gui/CMakeLists.txt, which installs them
  const char* title;
};
constexpr SampleRow rows_of_samples[] = {
    {"04_write_loss1.cb.pcap.zst",
     QT_TRANSLATE_NOOP("Samples", "A switch drops 1 % of the packets: repeats take half of the link")},
    {"04_write_corrupt.cb.pcap.zst",
     QT_TRANSLATE_NOOP("Samples", "Packets are damaged on the way (wrong ICRC)")},
    {"04_write_reorder.cb.pcap.zst", QT_TRANSLATE_NOOP("Samples", "Late packets are taken for lost ones")},
    {"05_rnr_writeimm.pcap.zst", QT_TRANSLATE_NOOP("Samples", "A receiver is not ready (RNR NAKs)")},
    {"06_retry_exceeded.ca.pcap.zst",
     QT_TRANSLATE_NOOP("Samples", "The retries run out, and a queue pair ends")},
    {"07_ce_netem10.cb.pcap.zst",
     QT_TRANSLATE_NOOP("Samples", "Packets are marked CE, and nobody answers with CNPs")},
    {"02_write_bw_64k.pcap.zst", QT_TRANSLATE_NOOP("Samples", "RDMA WRITEs, and nothing wrong")}};

}  // namespace

QStringList sample_folders() {
  const QString program = QCoreApplication::applicationDirPath();
  return {program + QStringLiteral("/../share/roceanalyze/samples"),
          program + QStringLiteral("/../../../samples")};
}

std::vector<BundledSample> bundled_samples(const QStringList& folders) {
  std::vector<BundledSample> found;
  for (const QString& folder : folders) {
    for (const SampleRow& row : rows_of_samples) {
      const QFileInfo file(QDir(folder).filePath(QLatin1String(row.name)));
      if (file.isFile())
        found.push_back({file.canonicalFilePath(), QCoreApplication::translate("Samples", row.title)});
    }
    if (!found.empty()) break;
  }
  return found;
}

}  // namespace roce::gui
