// The tables: columns whose widths depend on the terminal alone, so that nothing jumps when the
// jobs change.

#include <algorithm>

#include "cli/format.h"
#include "cli/table.h"
#include "cli/top/layout.h"
#include "common/hostlist.h"
#include "common/job_spec.h"

namespace hai::cli::top {
namespace {

constexpr size_t kGap = 1;

// The rest of the line goes to the last column, and some of it to the names.
std::vector<Column> filled(std::vector<Column> columns, int width, size_t name_at) {
  size_t used = kGap * (columns.size() - 1);
  for (const Column& column : columns) used += column.width;
  const auto wanted = static_cast<size_t>(std::max(width, 60));
  const size_t spare = wanted > used ? wanted - used : 0;
  const size_t for_name = std::min<size_t>(spare / 4, 30);
  columns[name_at].width += for_name;
  columns.back().width += spare - for_name;
  return columns;
}

std::string priority_text(const v1::Job& job, size_t width) {
  if (job.priority().size() <= width) return job.priority();
  const Result<Priority> known = parse_priority(job.priority());
  return known.is_ok() ? std::to_string(static_cast<int>(known.value())) : job.priority();
}

std::string state_text(const v1::Job& job) {
  if (job.held()) return "held";
  // What happens to it just now says more than that it runs.
  const bool is_moving = job.state() == "running" && !job.attempt_state().empty();
  return is_moving ? job.attempt_state() : job.state();
}

// Why it waits, where it runs, or how it ended.
std::string note_of(const v1::Job& job) {
  if (job.has_pending_reason()) return job.pending_reason().text();
  if (!job.end_reason().empty()) return job.end_reason();
  return format_hostlist({job.nodes().begin(), job.nodes().end()});
}

std::string time_text(const v1::Job& job, UnixTime now) {
  const UnixTime end = has_ended(job) ? unix_micros(job.ended_at_us()) : now;
  const int64_t from = job.has_started_at_us() ? job.started_at_us() : job.submitted_at_us();
  return short_duration(end - unix_micros(from));
}

struct Row {
  Line line;
  size_t at = 0;
  const std::vector<Column>& columns;

  void add(std::string_view text, Style style = Style::plain) {
    const Column& column = columns[at];
    if (at > 0) line.add(std::string(kGap, ' '));
    line.add(fit(printable(text), column.width, column.right), style);
    ++at;
  }
};

Style style_of_state(const v1::Job& job) {
  return job.held() ? Style::dim : style_of(state_text(job));
}

std::string jobs_of(const v1::Node& node) {
  std::string text;
  for (const int64_t job : node.jobs()) text += (text.empty() ? "" : ",") + std::to_string(job);
  return text;
}

}  // namespace

std::vector<Column> job_columns(int width) {
  const bool wide = width >= 110;
  const bool wider = width >= 150;
  std::vector<Column> columns = {
      {"ID", 6, true}, {"NAME", 12}, {"USER", wide ? size_t{10} : size_t{7}}};
  if (wider) columns.push_back({"GROUP", 10});
  const std::vector<Column> middle = {{wide ? "PRIORITY" : "PRI", wide ? size_t{12} : size_t{4}},
                                      {"STATE", 10},
                                      {"NODES", 5, true},
                                      {"GPUS", 4, true}};
  columns.insert(columns.end(), middle.begin(), middle.end());
  if (wider) {
    columns.push_back({"ATTEMPT", 7, true});
    columns.push_back({"SUSPENDS", 8, true});
  }
  columns.push_back({"TIME", 6, true});
  columns.push_back({"NOTE", 0});
  return filled(std::move(columns), width, 1);
}

Line job_line(const v1::Job& job, const std::vector<Column>& columns, UnixTime now) {
  Row row{.columns = columns};
  for (const Column& column : columns) {
    if (column.title == "ID") row.add(std::to_string(job.id()));
    if (column.title == "NAME") row.add(job.name());
    if (column.title == "USER") row.add(job.user());
    if (column.title == "GROUP") row.add(job.group());
    if (column.title.starts_with("PRI")) row.add(priority_text(job, column.width));
    if (column.title == "STATE") row.add(state_text(job), style_of_state(job));
    if (column.title == "NODES") row.add(std::to_string(job.node_count()));
    if (column.title == "GPUS") {
      row.add(job.gpus_per_node() == 0         ? "all"
              : job.gpus_per_node() == kNoGpus ? "none"
                                               : std::to_string(job.gpus_per_node()));
    }
    if (column.title == "ATTEMPT") row.add(std::to_string(job.attempt()));
    if (column.title == "SUSPENDS") row.add(std::to_string(job.suspend_count()));
    if (column.title == "TIME") row.add(time_text(job, now));
    if (column.title == "NOTE") row.add(note_of(job));
  }
  return std::move(row.line);
}

std::vector<Column> node_columns(int width) {
  const bool wide = width >= 110;
  std::vector<Column> columns = {
      {"NAME", 8}, {"GROUP", 9}, {"LEAF", wide ? size_t{12} : size_t{9}}};
  if (wide) columns.push_back({"ZONE", 5});
  const std::vector<Column> rest = {{"LIVE", 7},   {"SCHEDULING", 10}, {"FREE", 5, true},
                                    {"HEALTH", 7}, {"JOBS", 9},        {"REASON", 0}};
  columns.insert(columns.end(), rest.begin(), rest.end());
  return filled(std::move(columns), width, 0);
}

Line node_line(const v1::Node& node, const std::vector<Column>& columns) {
  Row row{.columns = columns};
  for (const Column& column : columns) {
    if (column.title == "NAME") row.add(node.name());
    if (column.title == "GROUP") row.add(node.group());
    if (column.title == "LEAF") row.add(node.leaf());
    if (column.title == "ZONE") row.add(node.zone());
    if (column.title == "LIVE") row.add(node.liveness(), style_of(node.liveness()));
    if (column.title == "SCHEDULING") row.add(node.scheduling(), style_of(node.scheduling()));
    if (column.title == "FREE") row.add(fmt::format("{}/{}", node.gpus_free(), node.gpus()));
    if (column.title == "HEALTH") row.add(node.health(), style_of(node.health()));
    if (column.title == "JOBS") row.add(jobs_of(node));
    if (column.title == "REASON") row.add(node.reason());
  }
  return std::move(row.line);
}

Line title_line(const std::vector<Column>& columns, int width) {
  std::string text;
  for (const Column& column : columns) {
    if (&column != &columns.front()) text.append(kGap, ' ');
    text += fit(column.title, column.width, column.right);
  }
  return Line(fit(text, static_cast<size_t>(std::max(width, 0))), Style::reverse);
}

}  // namespace hai::cli::top
