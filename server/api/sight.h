#pragma once
// What of a job somebody sees (`visibility` of the server's config): the one place where that is
// decided. Of a job that he does not see he learns totals only: lists leave it out, by number it
// does not exist, and sentences about his own jobs do not name it. Of a row he learns who, how
// large, in what state, where, and why it waits, but not what it runs nor what its program said.

#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/job_spec.h"
#include "server/api/visibility.h"
#include "server/model/cluster_state.h"

namespace hai {

// Each with what the one before has.
enum class Seen {
  nothing,
  row,      // what explains the queue
  program,  // what it runs, and what became of that
  logs,     // what it writes
  all,      // its environments and secrets' names, too
};

// Those who share a group with somebody, himself among them. Groups that nobody has changed
// meanwhile are the same objects in all teams.
class Team {
 public:
  using Names = std::unordered_set<std::string>;

  Team() = default;
  Team(std::initializer_list<std::string> names) { add(std::make_shared<const Names>(names)); }
  void add(std::shared_ptr<const Names> group) { groups_.push_back(std::move(group)); }

  bool empty() const { return groups_.empty(); }
  bool contains(const std::string& user) const;
  bool operator==(const Team& other) const;  // the same people

 private:
  std::set<std::string_view> names() const;

  std::vector<std::shared_ptr<const Names>> groups_;
};

// As of one moment, as Sights gives it; a value for any thread.
struct Sight {
  Seen of_others = Seen::all;  // of the jobs of whoever is named below neither as `self` nor `team`
  std::string self = {};
  Team team = {};

  // What he sees of any job of this user; "" = it is not known whose it is.
  Seen of(const std::string& user) const;
  // Of this one, which may be shared with its owner's user groups.
  Seen of(const std::string& user, const JobSpec& spec) const;
  bool sees(const std::string& user) const { return of(user) != Seen::nothing; }
  // Whether something that others may see is hidden from him; whether jobs are.
  bool is_limited() const { return of_others < Seen::program; }
  bool misses_jobs() const { return of_others == Seen::nothing; }
  // not_found for the first of these jobs that is not seen; what is no number is one's own.
  Status check(const ClusterState& state, const std::vector<std::string>& jobs) const;
  // The sentence without the names of jobs that are not to be seen: "job 17 (train) of ann", as
  // planner and controller write it. Of JSON too.
  std::string clean(std::string text) const;

  bool operator==(const Sight&) const = default;
};

// The job that an incident is about, by its subject ("job/17"): a hang. None for another subject.
JobId job_of_incident(std::string_view subject);
// Of such an incident's summary what who sees a row of its job is told: "job 17 (train) hangs".
std::string row_of_hang(std::string_view summary);

// failed_precondition if it is shared with people who, by the site's word, see nothing of it.
Status check_sharing(Visibility visibility, const JobSpec& spec);

// Of a spec what is seen of its job; the same one where that is all of it.
std::shared_ptr<const JobSpec> shown_spec(std::shared_ptr<const JobSpec> spec, Seen seen);

}  // namespace hai
