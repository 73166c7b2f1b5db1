// SPDX-License-Identifier: Apache-2.0
#include "cli/manual/roff.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

namespace roce::cli {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Number of # in front of a heading; 0 for what is none.
std::size_t heading_level(std::string_view line) {
  const std::size_t end = line.find_first_not_of('#');
  return end == std::string_view::npos || end == 0 || line[end] != ' ' ? 0 : end;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(' ');
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(' ') - from + 1);
}

/// `code`, **bold**, *emphasis* and [links](to) within a paragraph.
std::string inline_text(std::string_view text) {
  std::string out;
  const auto marked = [&](std::string_view mark, std::string_view font) {
    const std::size_t end = text.find(mark, mark.size());
    if (!text.starts_with(mark) || end == std::string_view::npos || end == mark.size()) return false;
    const std::string_view inside = text.substr(mark.size(), end - mark.size());
    if (mark != "`" && (inside.front() == ' ' || inside.back() == ' ')) return false;
    out += font;
    out += mark == "`" ? roff_text(inside) : inline_text(inside);
    out += "\\fR";
    text.remove_prefix(end + mark.size());
    return true;
  };
  while (!text.empty()) {
    if (marked("`", "\\fB") || marked("**", "\\fB") || marked("*", "\\fI")) continue;
    const std::size_t middle = text.find("](");
    const std::size_t end = middle == std::string_view::npos ? middle : text.find(')', middle);
    if (text.front() == '[' && end != std::string_view::npos &&
        text.substr(1, middle - 1).find('[') == std::string_view::npos) {
      out += inline_text(text.substr(1, middle - 1));
      text.remove_prefix(end + 1);
      continue;
    }
    out += roff_text(text.substr(0, 1));
    text.remove_prefix(1);
  }
  return out;
}

/// A line of text: a dot or quote in front would be a request.
std::string line_text(std::string_view text) {
  std::string out = inline_text(trimmed(text));
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out + "\n";
}

std::string code_line(std::string_view line) {
  std::string out = roff_text(line);
  if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
  return out + "\n";
}

std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  std::string cell;
  bool code = false;
  row = trimmed(row);
  row.remove_prefix(1);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '`') code = !code;
    if (row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|') {
      cell += row[++i];
    } else if (row[i] == '|' && !code) {
      cells.emplace_back(trimmed(cell));
      cell.clear();
    } else {
      cell += row[i];
    }
  }
  return cells;
}

/// Of a table each row is a term: its first cell, and the others below it.
std::string table_row(std::string_view row) {
  const std::vector<std::string> cells = cells_of(row);
  if (cells.empty()) return {};
  std::string out = ".TP\n" + line_text(cells.front());
  std::string rest;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    rest += (rest.empty() ? "" : "; ") + cells[i];
  }
  return out + (rest.empty() ? "\\&\n" : line_text(rest));
}

/// Not below a heading, which begins one.
void begin_paragraph(std::string& out) {
  if (out.empty() || out.ends_with(".PP\n")) return;
  const std::size_t before = out.rfind('\n', out.size() - 2);
  const std::string_view last = std::string_view(out).substr(before == std::string::npos ? 0 : before + 1);
  if (!last.starts_with(".SH") && !last.starts_with(".SS")) out += ".PP\n";
}

bool is_rule(std::string_view row) {
  return row.find_first_not_of("|-: ") == std::string_view::npos;
}

}  // namespace

std::string roff_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else {
      out += c;
    }
  }
  return out;
}

std::string markdown_section(std::string_view document, std::string_view heading) {
  std::string out;
  std::size_t level = 0;
  for (const std::string_view line : lines_of(document)) {
    const std::size_t here = heading_level(line);
    if (level != 0 && here != 0 && here <= level) break;
    if (level != 0) {
      out += line;
      out += '\n';
    }
    if (here != 0 && trimmed(line.substr(here)) == heading) level = here;
  }
  return out;
}

std::string roff_of_markdown(std::string_view document) {
  std::string out;
  const std::vector<std::string_view> lines = lines_of(document);
  bool fenced = false;
  bool indented = false;
  bool paragraph = false;  // whether text continues one
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view line = lines[i];
    const bool code = line.starts_with("    ") && !fenced && (indented || !paragraph);
    if (indented && !code) {
      out += ".EE\n.RE\n";
      indented = false;
    }
    if (line.starts_with("```")) {
      if (!fenced) begin_paragraph(out);
      out += fenced ? ".EE\n.RE\n" : ".RS 4\n.EX\n";
      fenced = !fenced;
      paragraph = false;
    } else if (fenced) {
      out += code_line(line);
    } else if (code) {
      if (!indented) {
        begin_paragraph(out);
        out += ".RS 4\n.EX\n";
      }
      indented = true;
      out += code_line(line.substr(4));
    } else if (trimmed(line).empty()) {
      paragraph = false;
    } else if (const std::size_t level = heading_level(line); level != 0) {
      if (level == 2) {
        std::string title(trimmed(line.substr(level)));
        std::transform(title.begin(), title.end(), title.begin(),
                       [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
        std::erase(title, '`');
        out += ".SH \"" + roff_text(title) + "\"\n";
      } else if (level > 2) {
        out += ".SS \"" + inline_text(trimmed(line.substr(level))) + "\"\n";
      }
      paragraph = false;
    } else if (line.starts_with("|")) {
      const bool header = i + 1 < lines.size() && lines[i + 1].starts_with("|") && is_rule(lines[i + 1]);
      if (!header && !is_rule(line)) out += table_row(line);
      const bool last = i + 1 == lines.size() || !lines[i + 1].starts_with("|");
      if (last) out += ".PP\n";
      paragraph = false;
    } else if (line.starts_with("- ") || line.starts_with("* ")) {
      out += ".IP \\(bu 2\n" + line_text(line.substr(2));
      paragraph = true;
    } else if (!line.starts_with("![") && !line.starts_with("<!--")) {
      if (!paragraph) begin_paragraph(out);
      out += line_text(line);
      paragraph = true;
    }
  }
  if (indented || fenced) out += ".EE\n.RE\n";
  if (out.ends_with(".PP\n")) out.erase(out.size() - 4);
  // A paragraph in front of a heading is empty.
  for (const std::string_view next : {".SH", ".SS", ".PP"}) {
    const std::string empty = ".PP\n" + std::string(next);
    for (std::size_t at = out.find(empty); at != std::string::npos; at = out.find(empty, at))
      out.erase(at, 4);
  }
  return out;
}

}  // namespace roce::cli
