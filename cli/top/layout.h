#pragma once
// The view as lines of text. Pure: the same data, view, size and time make the same frame.

#include <vector>

#include "cli/top/data.h"
#include "cli/top/screen.h"
#include "cli/top/view.h"
#include "common/time.h"

namespace hai::cli::top {

struct Moment {
  UnixTime now{};
  Size size;
};

// As many lines as the size is high. Keeps the selected row on the screen: `view` remembers which
// rows are shown.
Frame make_frame(const Data& data, View& view, const Detail& detail, const Moment& moment);

// Everything in one go, for --once: the head and all rows, whatever the height.
Frame make_report(const Data& data, View& view, const Moment& moment);

// The parts of a frame.
Frame head_lines(const Data& data, const Moment& moment);
struct Column {
  std::string title;
  size_t width = 0;
  bool right = false;
};
std::vector<Column> job_columns(int width);
std::vector<Column> node_columns(int width);
Line title_line(const std::vector<Column>& columns, int width);
Line job_line(const v1::Job& job, const std::vector<Column>& columns, UnixTime now);
Line node_line(const v1::Node& node, const std::vector<Column>& columns);
Frame help_lines();

}  // namespace hai::cli::top
