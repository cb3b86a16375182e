#include "server/store/mem_store.h"

#include <deque>
#include <utility>

#include "common/check.h"

namespace hai {

// `run` does the work at the database; `answer` hands the result, or the failure, to the caller.
struct MemStore::Request {
  std::function<Status()> run;
  std::function<void(Status)> answer;
};

// Shared with the timers under way, so that they find out when the store is gone.
struct MemStore::Core {
  Loop& loop;
  MemDatabase& database;
  std::string holder;
  std::deque<Request> waiting;
  std::optional<Request> under_way;
  bool executed = false;
  bool alive = true;
  bool append_under_way = false;
  LogPosition leader_position = {};
};

namespace {
// The controller has few requests at once: an append, a renewal, a load.
constexpr size_t kWaitingMax = 64;
}  // namespace

MemStore::MemStore(Loop& loop, MemDatabase& database, std::string holder)
    : core_(std::make_shared<Core>(Core{.loop = loop,
                                        .database = database,
                                        .holder = std::move(holder),
                                        .waiting = {},
                                        .under_way = {}})) {
  CHECK(!core_->holder.empty());
}

MemStore::~MemStore() { crash(); }

void MemStore::crash() {
  if (!core_->alive) return;
  core_->alive = false;
  core_->waiting.clear();
  if (!core_->under_way || core_->executed) {
    core_->under_way.reset();
    return;
  }
  const auto& lands = core_->database.hooks.lands_on_crash;
  if (lands && !lands()) core_->under_way.reset();
}

void MemStore::submit(Request request) {
  CHECK(core_->alive);
  CHECK(core_->waiting.size() < kWaitingMax);
  core_->waiting.push_back(std::move(request));
  if (!core_->under_way) start_next(core_);
}

void MemStore::start_next(const std::shared_ptr<Core>& core) {
  if (core->waiting.empty()) return;
  core->under_way = std::move(core->waiting.front());
  core->waiting.pop_front();
  core->executed = false;
  const auto& latency = core->database.hooks.latency;
  const Duration whole = latency ? latency() : Duration{0};
  const auto& share = core->database.hooks.way_there;
  const Duration way_there = share ? share(whole) : whole / 2;
  const Duration way_back = whole - way_there;
  // On the database's clock: what was sent arrives even if the sender is gone by then.
  core->database.clock_.call_after(way_there, [core, way_back] { execute(core, way_back); });
}

void MemStore::execute(const std::shared_ptr<Core>& core, Duration way_back) {
  if (!core->under_way) return;
  const auto& hook = core->database.hooks.fault;
  const MemFault fault = hook ? hook() : MemFault::ok;
  Status result;
  if (fault == MemFault::fail_before) {
    result = unavailable("database: connection lost before the request");
  } else if (fault == MemFault::abort) {
    result = aborted("database: another server leads");
  } else {
    result = core->under_way->run();
    if (fault == MemFault::fail_after) result = unavailable("database: connection lost");
  }
  core->executed = true;
  if (!core->alive) {
    core->under_way.reset();
    return;
  }
  const int64_t session = core->database.sessions_broken_;
  core->loop.call_after(way_back, [core, session, result = std::move(result)]() mutable {
    if (!core->alive) return;
    if (session != core->database.sessions_broken_)
      result = unavailable("database: connection lost");
    Request request = std::move(*core->under_way);
    core->under_way.reset();
    start_next(core);
    request.answer(result);
  });
}

void MemStore::acquire(Duration lease, Epoch floor, std::function<void(Result<Term>)> done) {
  auto term = std::make_shared<Term>();
  term->valid_until = core_->loop.now() + lease;
  submit({.run = [core = core_.get(), term, lease, floor]() -> Status {
            Result<Epoch> epoch = core->database.acquire(core->holder, lease, floor);
            core->leader_position = {core->database.epoch(), core->database.last_seq()};
            if (!epoch.is_ok()) return epoch.status();
            term->epoch = epoch.value();
            term->store_time = core->database.wall_now();
            return ok();
          },
          .answer =
              [term, done = std::move(done)](Status status) {
                done(status.is_ok() ? Result<Term>(*term) : Result<Term>(status));
              }});
}

LogPosition MemStore::leader_position() const { return core_->leader_position; }

void MemStore::renew(Epoch epoch, Duration lease, std::function<void(Result<Term>)> done) {
  auto term = std::make_shared<Term>();
  term->epoch = epoch;
  term->valid_until = core_->loop.now() + lease;
  submit({.run =
              [core = core_.get(), term, lease] {
                term->store_time = core->database.wall_now();
                return core->database.renew(core->holder, term->epoch, lease);
              },
          .answer =
              [term, done = std::move(done)](Status status) {
                done(status.is_ok() ? Result<Term>(*term) : Result<Term>(status));
              }});
}

void MemStore::release(Epoch epoch, std::function<void()> done) {
  submit({.run = [core = core_.get(), epoch]() -> Status {
            core->database.release(core->holder, epoch);
            return ok();
          },
          .answer = [done = std::move(done)](const Status&) { done(); }});
}

void MemStore::load(std::function<void(Result<StoredState>)> done) {
  auto state = std::make_shared<StoredState>();
  submit({.run = [core = core_.get(), state]() -> Status {
            *state = core->database.stored_state();
            return ok();
          },
          .answer =
              [state, done = std::move(done)](Status status) {
                done(status.is_ok() ? Result<StoredState>(std::move(*state))
                                    : Result<StoredState>(status));
              }});
}

void MemStore::append(AppendBatch batch, std::function<void(Status)> done) {
  CHECK(!core_->append_under_way);
  core_->append_under_way = true;
  auto shared = std::make_shared<AppendBatch>(std::move(batch));
  submit(
      {.run = [core = core_.get(), shared] { return core->database.append(core->holder, *shared); },
       .answer =
           [core = core_.get(), done = std::move(done)](Status status) {
             core->append_under_way = false;
             done(std::move(status));
           }});
}

}  // namespace hai
