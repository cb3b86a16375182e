#include "server/api/ended_jobs.h"

#include <algorithm>

#include "common/whole_number.h"
#include "server/control/verbs/decide.h"
#include "server/control/verbs/dependencies.h"

namespace hai {

namespace {

constexpr size_t kSearchedMax = 1'000;  // of one call, one after the other

}  // namespace

struct EndedJobs::Search {
  std::string user;
  Sight sight;
  std::vector<std::string> open;  // still to be asked for, the next one last
  std::vector<EndedJob> found;
  Done<std::vector<EndedJob>> done;
};

void EndedJobs::find(const Caller& caller, const std::vector<JobSpec>& specs,
                     Done<std::vector<EndedJob>> done) const {
  const bool any =
      std::ranges::any_of(specs, [](const JobSpec& s) { return !s.depends_on.empty(); });
  if (!any || history_ == nullptr || !controller_.is_leading())
    return done(std::vector<EndedJob>{});
  const ClusterState& state = controller_.state();
  const Result<Actor> actor = authenticate(state, caller, controller_.soft_facts().now);
  if (!actor.is_ok()) return done(std::vector<EndedJob>{});  // the controller says so
  auto search = std::make_shared<Search>();
  search->user = actor.value().user;
  search->sight = sights_.of(state, actor.value());
  for (const JobSpec& spec : specs) {
    for (std::string& job : dependencies_not_in_memory(state, search->user, spec)) {
      search->open.push_back(std::move(job));
    }
  }
  std::ranges::sort(search->open);
  search->open.erase(std::unique(search->open.begin(), search->open.end()), search->open.end());
  if (search->open.size() > kSearchedMax) {
    return done(resource_exhausted(
        "options.depends_on: {} jobs that ended long ago at once, at most {} are looked up",
        search->open.size(), kSearchedMax));
  }
  search->done = std::move(done);
  go_on(search);
}

void EndedJobs::go_on(const std::shared_ptr<Search>& search) const {
  if (search->open.empty()) return search->done(std::move(search->found));
  const std::string text = std::move(search->open.back());
  search->open.pop_back();
  const std::optional<int64_t> id = whole_number(text);
  if (id && *id < 1) return go_on(search);
  JobKey key = id ? JobKey{.job = JobId{*id}}
                  : JobKey{.user = search->user, .name = text, .task = parse_array_task(text)};
  history_->job(std::move(key), [this, search, text](Result<Job> job) {
    if (job.is_ok()) {
      const Job& old = job.value();
      if (search->sight.sees(old.user)) {
        search->found.push_back({old.id, old.user, old.spec->name, old.state, old.array_task});
      }
    } else if (job.status().code() != Code::not_found) {
      return search->done(
          unavailable("options.depends_on: what became of job {} cannot be looked "
                      "up now: {}; submit again in a while",
                      text, job.status().message()));
    }
    go_on(search);
  });
}

}  // namespace hai
