#include "server/store/leader_lease.h"

#include <random>

#include "server/store/migrations.h"
#include "server/store/process_identity.h"

namespace hai {
namespace {

// `process` of a holder who is surely dead need not be waited for; '' = wait for everybody. A
// database that another version has migrated since this session began is not ours to lead.
constexpr PgStatement kAcquire{
    "lease_acquire",
    "UPDATE cluster_epoch SET epoch = greatest(epoch, $7::bigint) + 1, holder = $1, holder_process "
    "= $2,"
    " holder_grpc = $5, holder_http = $6,"
    " expires_at = clock_timestamp() + $3::bigint * interval '1 microsecond'"
    " WHERE (expires_at < clock_timestamp() OR holder = '' OR holder_process = $2"
    " OR ($4 <> '' AND holder_process = $4))"
    " AND $8::bigint = (SELECT max(version) FROM schema_migration)"
    " RETURNING epoch"};

constexpr PgStatement kRenew{
    "lease_renew",
    "UPDATE cluster_epoch SET expires_at ="
    " greatest(expires_at, clock_timestamp() + $2::bigint * interval '1 microsecond')"
    " WHERE epoch = $1::bigint AND holder <> ''"};

constexpr PgStatement kRelease{
    "lease_release",
    "UPDATE cluster_epoch SET holder = '', holder_process = '', holder_grpc = '',"
    " holder_http = '', expires_at = '-infinity'"
    " WHERE epoch = $1::bigint"};

constexpr PgStatement kRead{
    "lease_read",
    "SELECT epoch, holder, holder_process, CASE WHEN expires_at < clock_timestamp() THEN 0 ELSE"
    " ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000)::bigint END,"
    " holder_grpc, holder_http, last_seq,"
    " (SELECT coalesce(max(version), 0) FROM schema_migration)"
    " FROM cluster_epoch"};

}  // namespace

LeaderLease::LeaderLease(ServerAddresses own) : own_(std::move(own)) {
  ProcessIdentity self = this_process();
  holder_ = std::move(self.holder);
  // Two stores of one process are two contenders.
  std::random_device random;
  process_ = fmt::format("{}/{:08x}{:08x}", self.process, random(), random());
}

bool LeaderLease::try_acquire(PgSession& session, const std::string& dead_process, Epoch floor,
                              Epoch& epoch) {
  PgResult result = session.call(
      kAcquire, {holder_, process_, std::to_string(length_.count()), dead_process, own_.grpc,
                 own_.http, std::to_string(floor.value), std::to_string(latest_schema_version())});
  if (result.size() == 0) return false;
  epoch.value = result.integer(0, 0);
  return true;
}

Result<Epoch> LeaderLease::acquire(PgSession& session, Duration lease, Epoch floor) {
  length_ = lease;
  Epoch epoch;
  if (try_acquire(session, "", floor, epoch)) return epoch;
  PgResult row = session.call(kRead);
  if (row.size() == 0) return unavailable("table cluster_epoch is empty: the schema is damaged");
  const std::string process(row.text(0, 2));
  lease_left_ = row.integer(0, 3) * 1ms;
  leader_position_ = {Epoch{row.integer(0, 0)}, row.integer(0, 6)};
  leader_ = {.grpc = std::string(row.text(0, 4)), .http = std::string(row.text(0, 5))};
  if (is_surely_dead(process) && try_acquire(session, process, floor, epoch)) return epoch;
  const std::string mismatch = schema_mismatch(row.integer(0, 7));
  const bool is_free = row.text(0, 1).empty() || row.integer(0, 3) <= 0 || is_surely_dead(process);
  if (!mismatch.empty() && is_free) throw PgError(mismatch);
  return failed_precondition("{} leads with epoch {}, its lease ends in {} ms{}{}", row.text(0, 1),
                             row.integer(0, 0), row.integer(0, 3), mismatch.empty() ? "" : "; ",
                             mismatch);
}

Status LeaderLease::renew(PgSession& session, Epoch epoch, Duration lease) {
  length_ = lease;
  PgResult result =
      session.call(kRenew, {std::to_string(epoch.value), std::to_string(lease.count())});
  return result.affected() == 1 ? ok() : lost_lease(session, epoch);
}

void LeaderLease::release(PgSession& session, Epoch epoch) {
  session.call(kRelease, {std::to_string(epoch.value)});
}

Status lost_lease(PgSession& session, Epoch epoch) {
  PgResult row = session.call(kRead);
  if (row.size() == 0) return aborted("table cluster_epoch is empty: the schema is damaged");
  if (row.text(0, 1).empty())
    return aborted("epoch {} is over: its lease was given up", epoch.value);
  return aborted("epoch {} is over: {} leads with epoch {}", epoch.value, row.text(0, 1),
                 row.integer(0, 0));
}

}  // namespace hai
