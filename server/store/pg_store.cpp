#include "server/store/pg_store.h"

#include "server/store/leader_lease.h"
#include "server/store/pg_append.h"
#include "server/store/pg_load.h"
#include "server/store/pg_worker.h"

namespace hai {
namespace {

// The controller has an append, a renewal and perhaps a load at once.
constexpr size_t kQueueMax = 64;
// A load reads many pages, each of which has its own limit.
constexpr Duration kLoadLimit = 2min;

}  // namespace

struct PgStore::Impl {
  Loop& loop;
  Duration limit;  // of one request: connect, execute, and something over
  ServerAddresses leader;
  std::optional<Duration> lease_left;
  LogPosition leader_position;
  // Used on the worker's thread only; before `worker`, so that they outlive it.
  LeaderLease lease;
  PgAppender appender;
  PgWorker worker;

  Impl(Loop& on, const PgStoreOptions& options)
      : loop(on),
        limit(options.connect_timeout + 2 * options.statement_timeout),
        lease(options.advertise, options.lease_silence),
        worker(on,
               {.conninfo = options.conninfo,
                .connect_timeout = options.connect_timeout,
                .statement_timeout = options.statement_timeout,
                .cluster_id = options.cluster_id},
               kQueueMax) {}
};

PgStore::PgStore(Loop& loop, PgStoreOptions options)
    : impl_(std::make_unique<Impl>(loop, options)) {}

PgStore::~PgStore() = default;

void PgStore::acquire(Duration lease, Epoch floor, std::function<void(Result<Term>)> done) {
  // Counted from before it is sent, see Term.
  auto term = std::make_shared<Term>();
  struct Other {
    ServerAddresses leader;
    Duration lease_left{0};
    LogPosition position;
  };
  auto other = std::make_shared<Other>();
  term->valid_until = impl_->loop.now() + lease;
  impl_->worker.submit(
      [impl = impl_.get(), term, other, lease, floor](PgSession& session) -> Status {
        impl->appender.forget_written();
        Result<Epoch> epoch = impl->lease.acquire(session, lease, floor);
        *other = {impl->lease.leader(), impl->lease.lease_left(), impl->lease.leader_position()};
        if (!epoch.is_ok()) return epoch.status();
        term->epoch = epoch.value();
        term->store_time = impl->lease.store_time();
        return ok();
      },
      [impl = impl_.get(), term, other, done = std::move(done)](Status status) {
        impl->leader = other->leader;
        impl->lease_left = other->lease_left;
        impl->leader_position = other->position;
        done(status.is_ok() ? Result<Term>(*term) : Result<Term>(std::move(status)));
      },
      impl_->limit);
}

ServerAddresses PgStore::leader() const { return impl_->leader; }
LogPosition PgStore::leader_position() const { return impl_->leader_position; }
std::optional<Duration> PgStore::lease_left() const { return impl_->lease_left; }

void PgStore::renew(Epoch epoch, Duration lease, std::function<void(Result<Term>)> done) {
  auto term = std::make_shared<Term>();
  term->epoch = epoch;
  term->valid_until = impl_->loop.now() + lease;
  impl_->worker.submit(
      [impl = impl_.get(), term, lease](PgSession& session) {
        const Status renewed = impl->lease.renew(session, term->epoch, lease);
        term->store_time = impl->lease.store_time();
        return renewed;
      },
      [term, done = std::move(done)](Status status) {
        done(status.is_ok() ? Result<Term>(*term) : Result<Term>(std::move(status)));
      },
      impl_->limit);
}

void PgStore::release(Epoch epoch, std::function<void()> done) {
  impl_->worker.submit(
      [impl = impl_.get(), epoch](PgSession& session) -> Status {
        impl->lease.release(session, epoch);
        return ok();
      },
      [done = std::move(done)](const Status&) { done(); }, impl_->limit);
}

void PgStore::load(std::function<void(Result<StoredState>)> done) {
  auto state = std::make_shared<StoredState>();
  impl_->worker.submit(
      [state](PgSession& session) -> Status {
        *state = load_state(session);
        return ok();
      },
      [state, done = std::move(done)](Status status) {
        done(status.is_ok() ? Result<StoredState>(std::move(*state))
                            : Result<StoredState>(std::move(status)));
      },
      kLoadLimit);
}

void PgStore::append(AppendBatch batch, std::function<void(Status)> done) {
  auto shared = std::make_shared<const AppendBatch>(std::move(batch));
  impl_->worker.submit(
      [impl = impl_.get(), shared](PgSession& session) {
        return impl->appender.append(session, *shared, impl->lease);
      },
      std::move(done), impl_->limit);
}

}  // namespace hai
