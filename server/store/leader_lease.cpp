#include "server/store/leader_lease.h"

#include <random>
#include <utility>

#include "server/store/migrations.h"
#include "server/store/process_identity.h"

namespace hai {
namespace {

// $4: the process of a holder who need not be waited for, '' = wait for everybody; $9: the end that
// its lease must still have, '' = any. A database that another version has migrated since this
// session began is not ours to lead.
constexpr PgStatement kAcquire{
    "lease_acquire",
    "UPDATE cluster_epoch SET epoch = greatest(epoch, $7::bigint) + 1, holder = $1, holder_process "
    "= $2,"
    " holder_grpc = $5, holder_http = $6,"
    " expires_at = clock_timestamp() + $3::bigint * interval '1 microsecond'"
    " WHERE (expires_at < clock_timestamp() OR holder = '' OR holder_process = $2"
    " OR ($4 <> '' AND holder_process = $4 AND ($9 = '' OR expires_at = $9::timestamptz)))"
    " AND $8::bigint = (SELECT max(version) FROM schema_migration)"
    " RETURNING epoch, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"};

const PgStatement& renew_statement() {
  static const std::string sql = fmt::format(
      "UPDATE cluster_epoch SET expires_at = {} WHERE epoch = $1::bigint AND holder_process = $3"
      " RETURNING (extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
      extended_end_sql(2));
  static const PgStatement statement{"lease_renew", sql.c_str()};
  return statement;
}

constexpr PgStatement kRelease{
    "lease_release",
    "UPDATE cluster_epoch SET holder = '', holder_process = '', holder_grpc = '',"
    " holder_http = '', expires_at = '-infinity'"
    " WHERE epoch = $1::bigint AND holder_process = $2"};

constexpr PgStatement kRead{
    "lease_read",
    "SELECT epoch, holder, holder_process, CASE WHEN expires_at < clock_timestamp() THEN 0 ELSE"
    " ceil(extract(epoch FROM expires_at - clock_timestamp()) * 1000)::bigint END,"
    " holder_grpc, holder_http, last_seq,"
    " (SELECT coalesce(max(version), 0) FROM schema_migration), expires_at::text"
    " FROM cluster_epoch"};

}  // namespace

std::string extended_end_sql(int number) {
  return fmt::format(
      "CASE WHEN expires_at > clock_timestamp() + interval '{0} seconds'"
      " THEN clock_timestamp() + ${1}::bigint * interval '1 microsecond'"
      " ELSE greatest(expires_at, clock_timestamp() + ${1}::bigint * interval '1 microsecond') END",
      kLeaseSilence / 1s, number);
}

LeaderLease::LeaderLease(ServerAddresses own, Duration silence)
    : own_(std::move(own)), silence_(silence) {
  ProcessIdentity self = this_process();
  holder_ = std::move(self.holder);
  // Two stores of one process are two contenders.
  std::random_device random;
  process_ = fmt::format("{}/{:08x}{:08x}", self.process, random(), random());
}

bool LeaderLease::try_acquire(PgSession& session, const Gone& gone, Epoch floor, Epoch& epoch) {
  PgResult result =
      session.call(kAcquire, {holder_, process_, std::to_string(length_.count()), gone.process,
                              own_.grpc, own_.http, std::to_string(floor.value),
                              std::to_string(latest_schema_version()), gone.end});
  if (result.size() == 0) return false;
  epoch.value = result.integer(0, 0);
  store_time_ = UnixTime(result.integer(0, 1) * 1us);
  return true;
}

// Since it was first seen as it is: who holds it lives longer only if it has been extended.
bool LeaderLease::is_silent(const std::string& lease) {
  const auto now = std::chrono::steady_clock::now();
  if (lease != std::exchange(seen_lease_, lease)) seen_since_ = now;
  return now - seen_since_ > silence_;
}

Result<Epoch> LeaderLease::acquire(PgSession& session, Duration lease, Epoch floor) {
  length_ = lease;
  Epoch epoch;
  if (try_acquire(session, {}, floor, epoch)) return epoch;
  PgResult row = session.call(kRead);
  if (row.size() == 0) return unavailable("table cluster_epoch is empty: the schema is damaged");
  const std::string process(row.text(0, 2));
  lease_left_ = row.integer(0, 3) * 1ms;
  leader_position_ = {Epoch{row.integer(0, 0)}, row.integer(0, 6)};
  leader_ = {.grpc = std::string(row.text(0, 4)), .http = std::string(row.text(0, 5))};
  const std::string end(row.text(0, 8));
  const bool is_dead = is_surely_dead(process);
  const bool silent = is_silent(fmt::format("{} {}", row.text(0, 0), end));
  if (is_dead && try_acquire(session, {process, ""}, floor, epoch)) return epoch;
  if (silent && try_acquire(session, {process, end}, floor, epoch)) return epoch;
  const std::string mismatch = schema_mismatch(row.integer(0, 7));
  const bool is_free = row.text(0, 1).empty() || row.integer(0, 3) <= 0 || is_dead || silent;
  if (!mismatch.empty() && is_free) throw PgError(mismatch);
  return failed_precondition("{} leads with epoch {}, its lease ends in {} ms{}{}", row.text(0, 1),
                             row.integer(0, 0), row.integer(0, 3), mismatch.empty() ? "" : "; ",
                             mismatch);
}

Status LeaderLease::renew(PgSession& session, Epoch epoch, Duration lease) {
  length_ = lease;
  PgResult result = session.call(
      renew_statement(), {std::to_string(epoch.value), std::to_string(lease.count()), process_});
  if (result.size() == 0) return lost_lease(session, epoch);
  store_time_ = UnixTime(result.integer(0, 0) * 1us);
  return ok();
}

void LeaderLease::release(PgSession& session, Epoch epoch) {
  session.call(kRelease, {std::to_string(epoch.value), process_});
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
