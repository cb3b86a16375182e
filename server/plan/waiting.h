#pragma once
// Waiting jobs that may run, in buckets of jobs that differ in nothing but their place in their
// user's order: a pass looks at one job per bucket, and at the next one only if that starts. What a
// full cluster costs is then the number of buckets, not of jobs.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/knobs.h"
#include "server/plan/ledger.h"
#include "server/plan/placement.h"

namespace hai {

// What jobs ask of placement, without the nodes they avoid.
struct Shape {
  int index = 0;
  int size = 0;  // which size of ranks; 0 = a common one
  Demand demand;
  int64_t units = 0;  // of quota
};

struct Bucket {
  const Shape* shape = nullptr;
  Room* room = nullptr;
  int person = 0;
  Priority asked = Priority::low;  // `auto` until a pass knows where quota is free
  int feedback_class = 0;
  std::set<std::pair<int64_t, JobId>> jobs;  // custom rank, id
};

class WaitingIndex {
 public:
  void rebuild();
  // A job has changed: files it anew, or forgets it if it does not wait, holds nodes, or may not
  // run.
  void update(const ClusterState& state, const Capacity& capacity, Ledger& ledger,
              const Knobs& knobs, UnixTime now, JobId job);
  // Jobs whose time has come: begin_at reached, a class higher, tight_wait over.
  void advance(const ClusterState& state, const Capacity& capacity, Ledger& ledger,
               const Knobs& knobs, UnixTime now);
  // Files a job that holds nodes as if it did not.
  void add(const ClusterState& state, const Capacity& capacity, Ledger& ledger, const Knobs& knobs,
           UnixTime now, const Job& job);
  void remove(JobId job);

  const std::vector<std::unique_ptr<Bucket>>& buckets() const { return buckets_; }  // some empty
  const Bucket* find(JobId job) const;  // null if it is not among those that may run
  size_t shapes() const { return shapes_.size(); }
  // What is not looked at in a pass at this time. To count the nodes for a size of ranks that
  // nobody else asks for costs time, and a user can ask for thousands: of more than kSizesOfPass
  // each user gets an equal share, at least one, and his take turns, one turn a period.
  std::set<const Bucket*> left_out(UnixTime now, Duration period) const;
  static constexpr size_t kSizesOfPass = 32;

 private:
  struct Hash {
    size_t operator()(JobId id) const { return static_cast<size_t>(id.value * 0x9e3779b97f4a7c15); }
  };
  struct Entry {
    Bucket* bucket = nullptr;
    int64_t custom_rank = 0;
    UnixTime next_change{};
  };
  using ShapeKey = std::tuple<std::string, std::string, int, RankSize, bool, int>;
  // Buckets that have been empty for long are many after a while: users, shapes and classes change.
  void forget_empty();
  void forget_unused_shapes();
  const Shape& shape_of(const ClusterState& state, Demand demand, const JobSpec& spec);

  std::vector<std::unique_ptr<Bucket>> buckets_;
  size_t forgotten_at_ = 0;  // how many there were after the last forget_empty()
  std::map<std::tuple<int, int, int, int>, Bucket*> index_;  // priority, class, person, shape
  std::map<ShapeKey, std::unique_ptr<Shape>> shapes_;
  std::map<RankSize, int> sizes_;  // of shapes, but for the common ones
  int last_size_ = 0;
  std::unordered_map<JobId, Entry, Hash> entries_;
  std::set<std::pair<UnixTime, JobId>> changes_;
};

// The class in which a job waits: that of its GPU time, lifted by one for each promote_after it has
// waited; `next_change` is when the next lift comes. Lifts of jobs that began to wait together are
// spread, so that no pass has to move a million of them.
int waiting_class(const Knobs& knobs, const Job& job, UnixTime now, UnixTime* next_change);

// What a job asks of placement: with the nodes it avoids, and with max_leaves while it binds.
Demand demand_of(const Capacity& capacity, const Job& job, const Knobs& knobs, UnixTime now);
Demand demand_of(const Shape& shape, const Job& job);

}  // namespace hai
