#pragma once
// What `hai top` shows, as data: lines of pieces of text in styles. Knows no terminal; a test reads
// the lines as they are.

#include <string>
#include <string_view>
#include <vector>

namespace hai::cli::top {

enum class Style {
  plain,
  bold,
  dim,
  reverse,  // the selected row, the title of a table
  green,
  yellow,
  red,
  blue,
};

struct Span {
  std::string text;
  Style style = Style::plain;
};

struct Line {
  std::vector<Span> spans;

  Line() = default;
  explicit Line(std::string text, Style style = Style::plain) { add(std::move(text), style); }
  Line& add(std::string text, Style style = Style::plain) {
    if (!text.empty()) spans.push_back({std::move(text), style});
    return *this;
  }
};

using Frame = std::vector<Line>;

struct Size {
  int width = 80;
  int height = 24;
  bool operator==(const Size&) const = default;
};

// As text alone, without blanks at its end.
std::string plain_text(const Line& line);
// For a terminal: no wider than `width`; with NO_COLOR only what is no colour (bold, reverse).
std::string terminal_text(const Line& line, int width, bool colour);

// What turns the screen that shows `before` into `after`: only lines that differ are written. The
// lines are those of terminal_text().
std::string redraw(const std::vector<std::string>& before, const std::vector<std::string>& after);

// The style of a state word of jobs, attempts, nodes and checks.
Style style_of(std::string_view word);

}  // namespace hai::cli::top
