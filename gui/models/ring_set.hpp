// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QStringList>

namespace roce::gui {

/// All files of the ring or file set that this one belongs to, named as by roceanalyze, dumpcap and Wireshark
/// (NAME_00012_20261120110853.pcapng), in order and including itself; the oldest may be missing. Empty: the
/// name has another form, or there is no other file.
[[nodiscard]] QStringList ring_of(const QString& file);

}  // namespace roce::gui
