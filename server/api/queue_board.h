#pragma once
// The queue as people see it: order, who is ahead and why, who is on the nodes until when, and when
// each job is expected to start. Looked at on a thread of its own, on a copy of the state, once for
// all who ask; an answer takes what was found last, so that nobody waits for the look ahead, which
// takes seconds and has a thread apart. On the loop's thread.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/loop_scope.h"
#include "server/api/queries.h"
#include "server/api/question_worker.h"
#include "server/api/start_estimates.h"
#include "server/plan/forecast.h"
#include "server/plan/queue_place.h"

namespace hai {

inline constexpr size_t kQueueBlocksMax = 300;

struct QueueRequest {
  std::string user;                  // "" = anybody
  std::string team;                  // a user group; "" = any
  std::string group;                 // of nodes; "" = any
  std::vector<Priority> priorities;  // empty = any
  int64_t from = 0;                  // entries of the pages before
  int limit = kPageDefault;          // 1 .. kPageMax
};

struct QueueEntryView {
  JobView job;
  std::string group;  // of nodes, without its zone
  UnixTime waiting_since{};
  QueuePlace place;
  std::optional<UnixTime> start_p50, start_p90;
  int nodes_held = 0;
};

// Nodes that are not free, and until when.
struct QueueBlock {
  enum class Kind { running, leaving, held, closed } kind = Kind::running;
  std::string group;
  double nodes = 0;
  JobId job;  // none = closed nodes, or several jobs
  std::string name, user;
  int jobs = 0;
  std::optional<UnixTime> end_p50, end_p90;
  std::optional<UnixTime> from;  // of nodes that will be drained: when
};
std::string_view to_string(QueueBlock::Kind kind);

struct QueueGroupView {
  std::string group;
  int nodes = 0;
};

struct QueueView {
  std::vector<QueueEntryView> entries;
  int64_t total = 0;
  std::optional<int64_t> next;  // `from` of the next page
  std::vector<QueueBlock> blocks;
  std::vector<QueueGroupView> groups;
  UnixTime at{};
  std::optional<UnixTime> estimated_at;
  std::string estimate_note;
};

class QueueBoard {
 public:
  static constexpr size_t kOrderedMax = 5'000;  // waiting jobs that are put in order
  static constexpr Duration kOrderAgeMax = 2s;
  static constexpr Duration kEstimateAgeMax = 15s;
  static constexpr Duration kEstimateTimeMax = 3s;
  static constexpr Duration kForeseenAgeMax = 30s;  // of what is told of a job by itself

  QueueBoard(Loop& loop, Controller& controller, Queries& queries, const StartEstimates& estimates)
      : loop_(loop), controller_(controller), queries_(queries), estimates_(estimates) {}

  void ask(const Caller& caller, const QueueRequest& request, Done<QueueView> done);

  // When the job starts, as the last look ahead has it; nullopt if that is old, the job is not the
  // one that it looked at any more, or it did not see it start.
  struct Foreseen {
    UnixTime at{};
    StartForecast forecast;  // from then
  };
  std::optional<Foreseen> foreseen(const Job& job) const;

 private:
  struct Look;   // what one look at the state found
  struct Ahead;  // what a look ahead found

  bool is_fresh(const ClusterState& state) const;
  void begin_look(const ClusterState& state);
  void begin_ahead();
  Result<QueueView> view_for(const QueueRequest& request, const Controller::ReadContext& context,
                             const Actor& actor) const;
  void add_estimate(QueueEntryView& entry) const;

  Loop& loop_;
  Controller& controller_;
  Queries& queries_;
  const StartEstimates& estimates_;
  std::shared_ptr<const Look> look_;
  MonoTime look_again_at_{};
  bool is_looking_ = false;
  std::shared_ptr<const Ahead> ahead_;
  MonoTime ahead_again_at_{};
  bool is_foreseeing_ = false;
  std::vector<std::function<void(Status)>> waiting_;
  LoopScope scope_;
  QuestionWorker look_worker_;  // last two: their threads use what others own
  QuestionWorker ahead_worker_;
};

// The largest blocks by themselves, the rest and those of jobs that are not seen summed up by when
// they end. `group` "" = of all node groups.
std::vector<QueueBlock> bounded_blocks(const std::vector<QueueBlock>& blocks, const Sight& sight,
                                       const std::string& group, UnixTime now);

}  // namespace hai
