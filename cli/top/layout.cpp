#include "cli/top/layout.h"

#include <algorithm>

#include "cli/format.h"
#include "cli/table.h"

namespace hai::cli::top {
namespace {

// Below this nothing of use can be shown.
constexpr int kHeightMin = 10;
constexpr int kWidthMin = 40;

// The whole row in one style, so that it is seen which one is selected without colour, too.
Line selected(const Line& line, int width) {
  std::string text;
  for (const Span& span : line.spans) text += span.text;
  return Line(fit(text, static_cast<size_t>(std::max(width, 0))), Style::reverse);
}

// Which part of `count` rows is shown so that row `at` is among them.
void keep_in_sight(View& view, size_t at, size_t count) {
  if (at < view.first_row) view.first_row = at;
  if (at >= view.first_row + view.rows) view.first_row = at + 1 - view.rows;
  const size_t last_first = count > view.rows ? count - view.rows : 0;
  view.first_row = std::min(view.first_row, last_first);
}

// Above the table: what is shown of what, and why not all.
Line table_caption(const View& view, size_t shown, std::string_view things, std::string_view sort) {
  Line line;
  line.add(fmt::format("{} {}", shown, things), Style::bold);
  line.add(fmt::format(", by {}{}", sort, view.is_reversed ? ", reversed" : ""));
  if (view.is_mine && view.page == Page::jobs) line.add(", mine");
  if (!view.group.empty()) line.add(", group " + printable(view.group));
  if (view.is_typing) {
    line.add("  filter: ").add(printable(view.filter) + "_", Style::bold);
  } else if (!view.filter.empty()) {
    line.add("  filter: " + printable(view.filter), Style::yellow);
  }
  return line;
}

Line bottom_line(const Data& data, const View& view) {
  if (view.question) return Line(printable(view.question->text), Style::bold);
  if (!view.message.empty()) return Line(printable(view.message), Style::bold);
  if (!data.trouble.empty()) return Line(printable(data.trouble), Style::red);
  switch (view.page) {
    case Page::jobs:
      return Line("q quit  / filter  s sort  u mine  g group  n nodes  Enter look  S R X  ? help",
                  Style::dim);
    case Page::nodes:
      return Line("q quit  / filter  s sort  g group  n jobs  Enter look  ? help", Style::dim);
    case Page::detail:
      return view.page_before == Page::nodes
                 ? Line("Esc back  up/down scroll", Style::dim)
                 : Line("Esc back  up/down scroll  +/- rank  S suspend  R resume  X stop",
                        Style::dim);
    case Page::help:
      return Line("any key goes back", Style::dim);
  }
  return {};
}

void add_jobs(const Data& data, View& view, const Moment& moment, Frame& frame) {
  const auto jobs = shown_jobs(data, view);
  const auto columns = job_columns(moment.size.width);
  frame.push_back(table_caption(view, jobs.size(), jobs.size() == 1 ? "job" : "jobs",
                                to_string(view.job_sort)));
  frame.push_back(title_line(columns, moment.size.width));
  size_t at = 0;
  while (at < jobs.size() && jobs[at]->id() != view.job) ++at;
  if (at == jobs.size()) {  // it is gone: whoever stands in its place is selected
    at = jobs.empty() ? 0 : std::min(view.first_row, jobs.size() - 1);
    view.job = jobs.empty() ? 0 : jobs[at]->id();
  }
  keep_in_sight(view, at, jobs.size());
  for (size_t i = view.first_row; i < std::min(jobs.size(), view.first_row + view.rows); ++i) {
    const Line line = job_line(*jobs[i], columns, moment.now);
    frame.push_back(i == at ? selected(line, moment.size.width) : line);
  }
  if (jobs.empty()) frame.push_back(Line("no jobs", Style::dim));
}

void add_nodes(const Data& data, View& view, const Moment& moment, Frame& frame) {
  const auto nodes = shown_nodes(data, view);
  const auto columns = node_columns(moment.size.width);
  frame.push_back(table_caption(view, nodes.size(), nodes.size() == 1 ? "node" : "nodes",
                                to_string(view.node_sort)));
  frame.push_back(title_line(columns, moment.size.width));
  size_t at = 0;
  while (at < nodes.size() && nodes[at]->name() != view.node) ++at;
  if (at == nodes.size()) {
    at = nodes.empty() ? 0 : std::min(view.first_row, nodes.size() - 1);
    view.node = nodes.empty() ? "" : nodes[at]->name();
  }
  keep_in_sight(view, at, nodes.size());
  for (size_t i = view.first_row; i < std::min(nodes.size(), view.first_row + view.rows); ++i) {
    const Line line = node_line(*nodes[i], columns);
    frame.push_back(i == at ? selected(line, moment.size.width) : line);
  }
  if (nodes.empty()) frame.push_back(Line("no nodes", Style::dim));
}

void add_lines(const std::vector<std::string>& lines, int width, Frame& frame) {
  for (const std::string& line : lines) {
    for (std::string& part : wrapped_lines(printable(line), static_cast<size_t>(width))) {
      frame.push_back(Line(std::move(part)));
    }
  }
}

// The log takes what is left of the screen, and ends with its newest line.
Frame detail_lines(const Detail& detail, const Size& size) {
  constexpr size_t kLogLinesMin = 8;
  Frame lines;
  add_lines(detail.card, size.width, lines);
  if (detail.card.empty() && detail.trouble.empty()) lines.push_back(Line("asking …", Style::dim));
  if (!detail.why.empty()) {
    lines.push_back({});
    lines.push_back(Line("Why it waits", Style::bold));
    add_lines(detail.why, size.width, lines);
  }
  if (!detail.log.empty()) {
    lines.push_back({});
    lines.push_back(Line(fmt::format("Log of rank {}, the last lines", detail.rank), Style::bold));
    const size_t body = static_cast<size_t>(size.height) - 1;
    const size_t room = std::max(kLogLinesMin, body - std::min(body, lines.size()));
    const size_t skipped = detail.log.size() > room ? detail.log.size() - room : 0;
    for (size_t i = skipped; i < detail.log.size(); ++i) {
      lines.push_back(Line(printable(detail.log[i])));
    }
  }
  if (!detail.trouble.empty()) lines.push_back(Line(printable(detail.trouble), Style::red));
  return lines;
}

void add_scrolled(const Frame& lines, View& view, size_t rows, Frame& frame) {
  view.scroll = std::min(view.scroll, lines.size() > rows ? lines.size() - rows : 0);
  const size_t end = std::min(lines.size(), view.scroll + rows);
  frame.insert(frame.end(), lines.begin() + static_cast<ptrdiff_t>(view.scroll),
               lines.begin() + static_cast<ptrdiff_t>(end));
}

}  // namespace

Frame help_lines() {
  Frame lines = {Line("Keys of hai top", Style::bold), {}};
  for (const char* text :
       {"up, down, k, j      another row", "PgUp, PgDn, Space   a page",
        "Home, End           the first, the last row",
        "Enter               look closely: why, ranks, log",
        "/                   filter by name, user, state, node …; Esc ends it",
        "s, r                sort by the next column, reverse",
        "u                   only my jobs, or all",
        "g                   the next node group, or all", "n                   nodes, or jobs",
        "S, R, X             suspend, resume, stop the job (asks first)",
        "+, -                in a job: the log of the next rank, of the one before",
        "Ctrl-L              draw anew", "q, Ctrl-C           quit"}) {
    lines.push_back(Line(text));
  }
  lines.push_back({});
  Line bar("The bar: ");
  bar.add("█ used", Style::green).add("  ").add("▓ reserved", Style::yellow).add("  ");
  bar.add("▒ draining", Style::yellow).add("  ").add("x broken", Style::red).add("  ");
  lines.push_back(bar.add("· free", Style::dim));
  lines.push_back(Line("TIME is since the first start, or how long the job has waited for it."));
  return lines;
}

Frame make_frame(const Data& data, View& view, const Detail& detail, const Moment& moment) {
  const auto [width, height] = moment.size;
  if (width < kWidthMin || height < kHeightMin) {
    return {Line(fmt::format("{}x{} at least", kWidthMin, kHeightMin)), Line("q quits")};
  }
  Frame frame;
  const auto body = static_cast<size_t>(height) - 1;  // the last line is the bottom line
  if (view.page == Page::help || view.page == Page::detail) {
    view.rows = body;
    add_scrolled(view.page == Page::help ? help_lines() : detail_lines(detail, moment.size), view,
                 body, frame);
  } else {
    frame = head_lines(data, moment);
    view.rows = body - frame.size() - 2;
    if (view.page == Page::jobs) add_jobs(data, view, moment, frame);
    if (view.page == Page::nodes) add_nodes(data, view, moment, frame);
  }
  frame.resize(body);
  frame.push_back(bottom_line(data, view));
  return frame;
}

Frame make_report(const Data& data, View& view, const Moment& moment) {
  Frame frame = head_lines(data, moment);
  frame.push_back({});
  if (view.page == Page::nodes) {
    const auto columns = node_columns(moment.size.width);
    frame.push_back(title_line(columns, moment.size.width));
    for (const v1::Node* node : shown_nodes(data, view)) {
      frame.push_back(node_line(*node, columns));
    }
    return frame;
  }
  const auto columns = job_columns(moment.size.width);
  frame.push_back(title_line(columns, moment.size.width));
  for (const v1::Job* job : shown_jobs(data, view)) {
    frame.push_back(job_line(*job, columns, moment.now));
  }
  return frame;
}

}  // namespace hai::cli::top
