// What each key does.

#include <algorithm>
#include <set>

#include "cli/format.h"
#include "cli/top/view.h"

namespace hai::cli::top {
namespace {

using Kind = Key::Kind;

bool is(const Key& key, std::string_view letter) {
  return key.kind == Kind::letter && key.letter == letter;
}

void type(View& view, const Key& key) {
  switch (key.kind) {
    case Kind::letter:
      view.filter += key.letter;
      break;
    case Kind::backspace:
      while (!view.filter.empty() && (view.filter.back() & 0xC0) == 0x80) view.filter.pop_back();
      if (!view.filter.empty()) view.filter.pop_back();
      break;
    case Kind::enter:
      view.is_typing = false;
      break;
    case Kind::escape:
      view.filter.clear();
      view.is_typing = false;
      break;
    default:
      break;
  }
}

Errand answer(View& view, const Key& key) {
  const Question question = *view.question;
  view.question.reset();
  if (!is(key, "y") && !is(key, "Y")) {
    view.message = "nothing was done";
    return {};
  }
  return {.kind = Errand::Kind::control, .job = question.job, .action = question.action};
}

// Rows by which a key moves; 0 if it moves nothing.
ptrdiff_t step_of(const Key& key, size_t rows) {
  const auto page = static_cast<ptrdiff_t>(std::max<size_t>(rows, 2) - 1);
  constexpr ptrdiff_t kFar = ptrdiff_t{1} << 40;
  switch (key.kind) {
    case Kind::up:
      return -1;
    case Kind::down:
      return 1;
    case Kind::page_up:
      return -page;
    case Kind::page_down:
      return page;
    case Kind::home:
      return -kFar;
    case Kind::end:
      return kFar;
    default:
      if (is(key, "k")) return -1;
      if (is(key, "j")) return 1;
      if (is(key, " ")) return page;
      return 0;
  }
}

size_t moved(size_t from, ptrdiff_t step, size_t count) {
  const ptrdiff_t to = static_cast<ptrdiff_t>(from) + step;
  return static_cast<size_t>(std::clamp<ptrdiff_t>(to, 0, static_cast<ptrdiff_t>(count) - 1));
}

void move_selection(View& view, const Data& data, ptrdiff_t step) {
  if (view.page == Page::jobs) {
    const auto jobs = shown_jobs(data, view);
    if (jobs.empty()) return;
    size_t at = 0;
    while (at < jobs.size() && jobs[at]->id() != view.job) ++at;
    view.job = jobs[at == jobs.size() ? 0 : moved(at, step, jobs.size())]->id();
    return;
  }
  const auto nodes = shown_nodes(data, view);
  if (nodes.empty()) return;
  size_t at = 0;
  while (at < nodes.size() && nodes[at]->name() != view.node) ++at;
  view.node = nodes[at == nodes.size() ? 0 : moved(at, step, nodes.size())]->name();
}

void next_group(View& view, const Data& data) {
  std::set<std::string> groups;
  for (const auto& [name, node] : data.nodes) groups.insert(node.group());
  const auto next = groups.upper_bound(view.group);
  view.group = next == groups.end() ? "" : *next;
}

template <typename Sort, size_t kCount>
Sort next_of(const Sort (&sorts)[kCount], Sort now) {
  const auto at = std::find(std::begin(sorts), std::end(sorts), now);
  return sorts[static_cast<size_t>(at - std::begin(sorts) + 1) % kCount];
}

void ask(View& view, const Data& data, v1::JobAction action, std::string_view verb) {
  const auto job = data.jobs.find(view.job);
  if (job == data.jobs.end()) {
    view.message = "no job is selected";
    return;
  }
  view.question = Question{action, view.job,
                           fmt::format("{} job {} {} of {}? y/n", verb, view.job,
                                       job->second.name(), job->second.user())};
}

// S, R and X, wherever a job is selected or looked at.
bool asks_for_control(View& view, const Data& data, const Key& key) {
  if (is(key, "S")) {
    ask(view, data, v1::JOB_ACTION_SUSPEND, "Suspend");
  } else if (is(key, "R")) {
    ask(view, data, v1::JOB_ACTION_RESUME, "Resume");
  } else if (is(key, "X")) {
    ask(view, data, v1::JOB_ACTION_STOP, "Stop");
  } else {
    return false;
  }
  return true;
}

Errand look(View& view) {
  view.scroll = 0;
  view.rank = 0;
  Errand errand;
  if (view.page == Page::jobs && view.job != 0) {
    errand = {.kind = Errand::Kind::look_at_job, .job = view.job};
  } else if (view.page == Page::nodes && !view.node.empty()) {
    errand = {.kind = Errand::Kind::look_at_node, .node = view.node};
  } else {
    return {};
  }
  view.page_before = view.page;
  view.page = Page::detail;
  return errand;
}

Errand press_in_detail(View& view, const Data& data, const Key& key) {
  if (const ptrdiff_t step = step_of(key, view.rows); step != 0) {
    // The last line is found when the lines are made.
    view.scroll =
        static_cast<size_t>(std::max<ptrdiff_t>(0, static_cast<ptrdiff_t>(view.scroll) + step));
    return {};
  }
  if (key.kind == Kind::escape || key.kind == Kind::left || key.kind == Kind::backspace ||
      is(key, "q")) {
    view.page = view.page_before;
    return {.kind = Errand::Kind::look_away};
  }
  if (view.page_before != Page::jobs) return {};
  const auto job = data.jobs.find(view.job);
  const int ranks = job == data.jobs.end() ? 1 : job->second.node_count();
  if (is(key, "+") || is(key, "-")) {
    const int rank = std::clamp(view.rank + (is(key, "+") ? 1 : -1), 0, ranks - 1);
    if (rank == view.rank) return {};
    view.rank = rank;
    return {.kind = Errand::Kind::look_at_job, .job = view.job, .rank = rank};
  }
  asks_for_control(view, data, key);
  return {};
}

void press_letter(View& view, const Data& data, const Key& key) {
  const bool is_jobs = view.page == Page::jobs;
  if (is(key, "q")) view.wants_quit = true;
  if (is(key, "/")) view.is_typing = true;
  if (is(key, "s") && is_jobs) view.job_sort = next_of(kJobSorts, view.job_sort);
  if (is(key, "s") && !is_jobs) view.node_sort = next_of(kNodeSorts, view.node_sort);
  if (is(key, "r")) view.is_reversed = !view.is_reversed;
  if (is(key, "u") && is_jobs) view.is_mine = !view.is_mine;
  if (is(key, "g")) next_group(view, data);
  if (is(key, "n")) {
    view.page = is_jobs ? Page::nodes : Page::jobs;
    view.first_row = 0;
  }
  if (is_jobs) asks_for_control(view, data, key);
}

}  // namespace

Errand press(View& view, const Data& data, const Key& key) {
  if (key.kind == Kind::interrupt) {
    view.wants_quit = true;
    return {};
  }
  if (view.question) return answer(view, key);
  if (view.is_typing) {
    type(view, key);
    return {};
  }
  view.message.clear();
  if (view.page == Page::help) {
    view.page = view.page_before;
    return {};
  }
  if (view.page == Page::detail) return press_in_detail(view, data, key);
  if (is(key, "?") || is(key, "h")) {
    view.page_before = view.page;
    view.page = Page::help;
    return {};
  }
  if (key.kind == Kind::enter || key.kind == Kind::right) return look(view);
  if (key.kind == Kind::escape) {
    view.filter.clear();
  } else if (const ptrdiff_t step = step_of(key, view.rows); step != 0) {
    move_selection(view, data, step);
  } else if (key.kind == Kind::letter) {
    press_letter(view, data, key);
  }
  return {};
}

}  // namespace hai::cli::top
