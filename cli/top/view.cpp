#include "cli/top/view.h"

#include <algorithm>
#include <cctype>
#include <tuple>

#include "common/job_spec.h"

namespace hai::cli::top {
namespace {

int place_of_state(const v1::Job& job) {
  if (job.state() == "running") return 0;
  if (job.state() == "suspended") return 1;
  return job.state() == "queued" ? 2 : 3;
}

int number_of(const std::string& priority) {
  const Result<Priority> known = parse_priority(priority);
  return known.is_ok() ? static_cast<int>(known.value()) : -1;
}

// A job and what it is sorted by; found once, not at each comparison.
struct Ranked {
  const v1::Job* job = nullptr;
  int state = 0;
  int priority = 0;
};

bool is_less(const Ranked& left, const Ranked& right, JobSort sort) {
  const v1::Job& a = *left.job;
  const v1::Job& b = *right.job;
  const auto in_order = [&](const auto& first, const auto& second) {
    return first != second ? first < second : a.id() > b.id();  // the newest first among equals
  };
  switch (sort) {
    case JobSort::state: {
      const auto key = [](const Ranked& row) {
        const int64_t id = row.job->id();
        return std::tuple(row.state, -row.priority, row.job->state() == "queued" ? id : -id);
      };
      return key(left) < key(right);
    }
    case JobSort::id:
      return a.id() > b.id();
    case JobSort::name:
      return in_order(a.name(), b.name());
    case JobSort::user:
      return in_order(a.user(), b.user());
    case JobSort::priority:
      return in_order(-left.priority, -right.priority);
    case JobSort::nodes:
      return in_order(-a.node_count(), -b.node_count());
    case JobSort::time:
      return in_order(time_of_state(a), time_of_state(b));
  }
  return false;
}

// The worst first.
int place_of_state(const v1::Node& node) {
  if (node.liveness() == "down") return 0;
  if (node.liveness() == "suspect") return 1;
  if (node.scheduling() != "open") return 2;
  return node.health() == "ok" ? 4 : 3;
}

bool is_less(const v1::Node& a, const v1::Node& b, NodeSort sort) {
  const auto by_name = [](const v1::Node& node) {
    return std::pair(node.name().size(), node.name());  // node-9 before node-10
  };
  const auto in_order = [&](int left, int right) {
    return left != right ? left < right : by_name(a) < by_name(b);
  };
  switch (sort) {
    case NodeSort::name:
      return by_name(a) < by_name(b);
    case NodeSort::state:
      return in_order(place_of_state(a), place_of_state(b));
    case NodeSort::free:
      return in_order(-a.gpus_free(), -b.gpus_free());
  }
  return false;
}

bool contains(std::string_view text, std::string_view part) {
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

template <typename Texts>
bool any_contains(const Texts& texts, std::string_view part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return contains(text, part); });
}

bool matches(const v1::Job& job, const std::string& filter) {
  return filter.empty() || contains(job.name(), filter) || contains(job.user(), filter) ||
         contains(job.state(), filter) || contains(job.priority(), filter) ||
         contains(std::to_string(job.id()), filter) || any_contains(job.tags(), filter) ||
         any_contains(job.nodes(), filter);
}

bool matches(const v1::Node& node, const std::string& filter) {
  return filter.empty() || contains(node.name(), filter) || contains(node.leaf(), filter) ||
         contains(node.zone(), filter) || contains(node.liveness(), filter) ||
         contains(node.scheduling(), filter) || contains(node.health(), filter) ||
         contains(node.reason(), filter);
}

}  // namespace

std::string_view to_string(JobSort sort) {
  switch (sort) {
    case JobSort::state:
      return "state";
    case JobSort::id:
      return "id";
    case JobSort::name:
      return "name";
    case JobSort::user:
      return "user";
    case JobSort::priority:
      return "priority";
    case JobSort::nodes:
      return "nodes";
    case JobSort::time:
      return "time";
  }
  return "";
}

std::string_view to_string(NodeSort sort) {
  switch (sort) {
    case NodeSort::name:
      return "name";
    case NodeSort::state:
      return "state";
    case NodeSort::free:
      return "free";
  }
  return "";
}

std::vector<const v1::Job*> shown_jobs(const Data& data, const View& view) {
  std::vector<Ranked> rows;
  for (const auto& [id, job] : data.jobs) {
    if (view.is_mine && job.user() != data.user) continue;
    if (!view.group.empty() && job.group() != view.group) continue;
    if (!matches(job, view.filter)) continue;
    rows.push_back({&job, place_of_state(job), number_of(job.priority())});
  }
  std::sort(rows.begin(), rows.end(), [&](const Ranked& a, const Ranked& b) {
    return view.is_reversed ? is_less(b, a, view.job_sort) : is_less(a, b, view.job_sort);
  });
  std::vector<const v1::Job*> jobs;
  jobs.reserve(rows.size());
  for (const Ranked& row : rows) jobs.push_back(row.job);
  return jobs;
}

std::vector<const v1::Node*> shown_nodes(const Data& data, const View& view) {
  std::vector<const v1::Node*> nodes;
  for (const auto& [name, node] : data.nodes) {
    if (!view.group.empty() && node.group() != view.group) continue;
    if (matches(node, view.filter)) nodes.push_back(&node);
  }
  std::sort(nodes.begin(), nodes.end(), [&](const v1::Node* a, const v1::Node* b) {
    return view.is_reversed ? is_less(*b, *a, view.node_sort) : is_less(*a, *b, view.node_sort);
  });
  return nodes;
}

}  // namespace hai::cli::top
