#pragma once
// How a person looks at the cluster: which table, sorted and filtered how, which row is selected,
// which question is open. Pure: keys change it, lines are made of it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/top/data.h"
#include "cli/top/keys.h"

namespace hai::cli::top {

enum class Page { jobs, nodes, detail, help };
enum class JobSort { state, id, name, user, priority, nodes, time };
enum class NodeSort { name, state, free };

inline constexpr JobSort kJobSorts[] = {JobSort::state, JobSort::id,       JobSort::name,
                                        JobSort::user,  JobSort::priority, JobSort::nodes,
                                        JobSort::time};
inline constexpr NodeSort kNodeSorts[] = {NodeSort::name, NodeSort::state, NodeSort::free};

std::string_view to_string(JobSort sort);
std::string_view to_string(NodeSort sort);

// What is asked of a job before it is done.
struct Question {
  v1::JobAction action = v1::JOB_ACTION_UNSPECIFIED;
  int64_t job = 0;
  std::string text;
};

struct View {
  Page page = Page::jobs;
  Page page_before = Page::jobs;  // of help and detail
  JobSort job_sort = JobSort::state;
  NodeSort node_sort = NodeSort::name;
  bool is_reversed = false;
  bool is_mine = false;
  std::string group;   // "" = every one
  std::string filter;  // "" = none
  bool is_typing = false;
  // The selected row; kept by name, so that it stays the same when others come and go.
  int64_t job = 0;
  std::string node;
  size_t first_row = 0;  // shown on top
  size_t rows = 10;      // that fit, as of the last frame
  size_t scroll = 0;     // of detail and help
  int rank = 0;          // whose log is looked at
  std::optional<Question> question;
  std::string message;  // the answer to the last thing done
  bool wants_quit = false;
};

// What a key asks of the rest of the program.
struct Errand {
  enum class Kind { none, look_at_job, look_at_node, look_away, control };
  Kind kind = Kind::none;
  int64_t job = 0;
  std::string node;
  int rank = 0;
  v1::JobAction action = v1::JOB_ACTION_UNSPECIFIED;
};

// In the order in which they are shown.
std::vector<const v1::Job*> shown_jobs(const Data& data, const View& view);
std::vector<const v1::Node*> shown_nodes(const Data& data, const View& view);

Errand press(View& view, const Data& data, const Key& key);

}  // namespace hai::cli::top
