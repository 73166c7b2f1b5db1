// SPDX-License-Identifier: Apache-2.0
#include "analyze/report/advice.hpp"

#include <utility>

namespace roce::analyze {
namespace {

/// Position of the quote that closes the one at `quote`, as a shell reads it: '\'' is a quote inside the
/// text.
std::size_t end_of_quoted(std::string_view text, std::size_t quote) {
  constexpr std::string_view inner = "'\\''";
  std::size_t close = quote == std::string_view::npos ? quote : text.find('\'', quote + 1);
  while (close != std::string_view::npos && text.substr(close).starts_with(inner))
    close = text.find('\'', close + inner.size());
  return close;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \n") + 1 - first);
}

/// The files as words of a shell.
std::string shell_words(std::span<const std::string> files) {
  std::string words;
  for (const std::string& name : files) words += (words.empty() ? "" : " ") + shell_word(name);
  return words;
}

}  // namespace

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+,:@%-=";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::vector<AdvicePart> advice_parts(std::string_view advice, std::span<const std::string> files) {
  constexpr std::string_view beginning = "roceanalyze ", file = " FILE ";
  std::vector<AdvicePart> parts;
  const auto add = [&parts](bool command, std::string_view text) {
    if (const std::string_view part = trimmed(text); !part.empty())
      parts.push_back({command, std::string(part)});
  };
  const std::string words = shell_words(files);
  std::size_t done = 0;
  while (done < advice.size()) {
    const std::size_t at = advice.find(beginning, done);
    const std::size_t close =
        at == std::string_view::npos ? at : end_of_quoted(advice, advice.find('\'', at));
    if (close == std::string_view::npos) break;
    add(false, advice.substr(done, at - done));
    std::string command(advice.substr(at, close + 1 - at));
    const std::size_t place = command.find(file);
    if (!words.empty() && place < command.find('\'')) command.replace(place + 1, file.size() - 2, words);
    add(true, command);
    // Otherwise the punctuation would be alone on the next line.
    done = advice.find_first_not_of("., ", close + 1);
  }
  if (done < advice.size()) add(false, advice.substr(done));
  return parts;
}

std::vector<AdvicePart> advice_parts(const Diagnosis& diagnosis, std::span<const std::string> files) {
  std::vector<AdvicePart> parts = advice_parts(diagnosis.advice, files);
  for (std::string command : diagnosis.commands) {
    if (diagnosis.advice.find(command) != std::string::npos) continue;
    // Without a filter there is no quote that ends it: it is a command as a whole.
    constexpr std::string_view placeholder = " FILE";
    const std::string words = shell_words(files);
    if (command.ends_with(placeholder) && !words.empty())
      command.replace(command.size() - placeholder.size() + 1, std::string::npos, words);
    for (AdvicePart& part : advice_parts(command, files)) parts.push_back({true, std::move(part.text)});
  }
  return parts;
}

}  // namespace roce::analyze
