// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QStringList>

namespace roce::gui {

/// All files of the ring or series that this one belongs to, as roceanalyze, dumpcap and Wireshark name them
/// (NAME_00012_20261120110853.pcapng), in order, itself included; also where the oldest are gone. Empty: its
/// name is not of that kind, or it stands alone.
[[nodiscard]] QStringList ring_of(const QString& file);

}  // namespace roce::gui
