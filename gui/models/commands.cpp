// SPDX-License-Identifier: Apache-2.0
#include "gui/models/commands.hpp"

#include <algorithm>

namespace roce::gui {
namespace {

/// Where the text ends that the quote begins, as a shell reads it: '\'' in it is a quote of its own.
std::size_t end_of_quoted(const std::string& text, std::size_t quote) {
  constexpr std::string_view inner = "'\\''";
  std::size_t close = text.find('\'', quote + 1);
  while (close != std::string::npos && text.compare(close, inner.size(), inner) == 0)
    close = text.find('\'', close + inner.size());
  return close;
}

}  // namespace

QString shell_word(const QString& word) {
  const auto plain = [](QChar c) { return c.isLetterOrNumber() || QStringLiteral("/._+,:@%-=").contains(c); };
  if (!word.isEmpty() && std::all_of(word.begin(), word.end(), plain)) return word;
  QString quoted = word;
  quoted.replace(QLatin1Char('\''), QStringLiteral("'\\''"));
  return QLatin1Char('\'') + quoted + QLatin1Char('\'');
}

std::vector<AdvicePart> advice_parts(const std::string& advice, const QStringList& files) {
  constexpr std::string_view beginning = "roceanalyze ", file = " FILE ";
  std::vector<AdvicePart> parts;
  const auto add = [&parts](bool command, const QString& text) {
    if (!text.trimmed().isEmpty()) parts.push_back({command, text.trimmed()});
  };
  QStringList words;
  for (const QString& name : files) words << shell_word(name);
  std::size_t done = 0;
  while (done < advice.size()) {
    const std::size_t at = advice.find(beginning, done);
    const std::size_t quote = at == std::string::npos ? at : advice.find('\'', at);
    const std::size_t close = quote == std::string::npos ? quote : end_of_quoted(advice, quote);
    if (close == std::string::npos) break;
    add(false, QString::fromStdString(advice.substr(done, at - done)));
    QString command = QString::fromStdString(advice.substr(at, close + 1 - at));
    const QString place = QString::fromUtf8(file.data(), static_cast<qsizetype>(file.size()));
    const qsizetype where = command.indexOf(place);
    if (!words.isEmpty() && where >= 0 && where < command.indexOf(QLatin1Char('\'')))
      command.replace(where + 1, place.size() - 2, words.join(QLatin1Char(' ')));
    add(true, command);
    // What ended the sentence would stand alone on the next line.
    done = advice.find_first_not_of("., ", close + 1);
  }
  if (done < advice.size()) add(false, QString::fromStdString(advice.substr(done)));
  return parts;
}

}  // namespace roce::gui
