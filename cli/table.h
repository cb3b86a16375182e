#pragma once
// Rows and columns for people. Columns take the width of their widest cell; when the terminal is
// narrower, the columns that may shrink give way, widest first, and cut cells end in "…"; when that
// is not enough, columns one can do without are left out. Nothing is cut or left out when the
// output is no terminal.

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "cli/text_width.h"

namespace hai::cli {

enum class Colour { none, green, yellow, red, blue, grey, bold };

struct Cell {
  Cell(std::string text,
       Colour colour = Colour::none)  // NOLINT: {"a", "b"} is how rows are written.
      : text(std::move(text)), colour(colour) {}
  Cell(const char* text) : text(text) {}  // NOLINT
  std::string text;
  Colour colour = Colour::none;
};

struct Column {
  std::string title;
  bool right = false;  // numbers
  bool may_shrink = false;
  size_t narrowest = 8;  // it shrinks no further
  int spare = 0;         // > 0: may be left out, the highest first
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add_row(std::vector<Cell> cells);
  bool is_empty() const { return rows_.empty(); }
  std::string render(const Terminal& terminal) const;

 private:
  // Of each column; 0 = left out.
  std::vector<size_t> widths(const Terminal& terminal) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

std::string paint(std::string_view text, Colour colour, const Terminal& terminal);
// The colour of a state word of jobs, attempts, nodes and checks.
Colour colour_of(std::string_view word);
// Control characters of foreign text must not reach a terminal: each becomes "?".
std::string printable(std::string_view text);

}  // namespace hai::cli
