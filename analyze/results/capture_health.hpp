// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// The overall state of a capture: what reports, screens and the window begin with, and its colour. A capture
/// that was truncated, damaged or only analysed in part is not healthy just because nothing was found in the
/// rest.
struct CaptureHealth {
  bool anything = false;          ///< there was something to judge: a RoCE packet or a finding
  bool whole = true;              ///< Snapshot::complete()
  bool judged = true;             ///< the capture bears all verdicts: Completeness::limited()
  std::optional<Severity> worst;  ///< of the findings
  /// What to begin with; null: nothing is wrong. Lives as long as the snapshot.
  const Diagnosis* diagnosis = nullptr;

  [[nodiscard]] bool serious() const noexcept { return worst && *worst >= Severity::warning; }
  [[nodiscard]] bool good() const noexcept {
    return anything && whole && judged && !serious() && diagnosis == nullptr;
  }
  /// The severity to show it with if it is not good.
  [[nodiscard]] Severity level() const noexcept {
    const Severity wrong = diagnosis ? severity_like(diagnosis->severity) : worst.value_or(Severity::info);
    return std::max(wrong, whole && judged ? Severity::info : Severity::notice);
  }
  /// To append to a reassuring sentence: what it does not cover. Empty if there is nothing to add.
  [[nodiscard]] std::string_view but() const noexcept {
    return (whole && judged) || serious() ? std::string_view{}
                                          : ", but not all of the capture could be judged";
  }
  /// Where there are no findings. Incidents alone may be a diagnosis, and a capture too little to judge.
  [[nodiscard]] std::string_view without_findings() const noexcept {
    return diagnosis != nullptr ? "no further findings" : judged ? "nothing wrong found" : "no findings";
  }
  /// The sentence if there is nothing to judge; `none`: "no RoCE packets".
  [[nodiscard]] std::string nothing(std::string none) const {
    return none + (whole ? "" : " in what could be analysed") + ", so nothing to judge";
  }
};

[[nodiscard]] CaptureHealth capture_health(const Snapshot& snapshot);

/// Where there is no RoCE packet: that there is none, and how to get at what may have been sent; the second
/// may be empty.
struct NoRoce {
  std::string_view what;  ///< "none in this capture"
  std::string advice;     ///< whole sentences
};
[[nodiscard]] NoRoce no_roce(const Snapshot& snapshot);

/// "There are 40 packets of UET (Ultra Ethernet), 3 of Falcon"; empty without any.
[[nodiscard]] std::string other_transports_text(const Snapshot& snapshot);

/// A diagnostic in a few words, for a sentence: "a file ends inside a record" of "cut_short". The id itself
/// of those that take nothing away (severity info). Constant strings.
[[nodiscard]] std::string_view words_of_diagnostic(std::string_view id) noexcept;

/// "reading was interrupted", "reading was ended by the limit of time".
[[nodiscard]] std::string_view stop_text(capture::StopReason reason) noexcept;

/// What the results do not cover, as the first sentence of every output, without a full stop: "reading was
/// interrupted after 125 packets; what follows speaks for these only". Empty if the snapshot is complete().
[[nodiscard]] std::string incomplete_text(const Snapshot& snapshot);

}  // namespace roce::analyze
