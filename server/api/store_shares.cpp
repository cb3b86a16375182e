#include "server/api/store_shares.h"

#include <algorithm>

#include "common/array_range.h"
#include "server/control/verbs/decide.h"

namespace hai {
namespace {

constexpr int64_t kOfAnyChange = 512;
constexpr int64_t kOfMovedJob = 192;  // an event, and the job's row anew

template <typename Body>
int64_t long_bytes(const Body& body) {
  if constexpr (requires { body.spec; }) {
    return long_parts_bytes(body.spec);
  } else if constexpr (requires { body.reason; }) {
    return static_cast<int64_t>(body.reason.size());
  } else {
    return 0;
  }
}
int64_t long_bytes(const RerunJob& rerun) {
  return rerun.old == nullptr ? 0 : long_parts_bytes(*rerun.old->spec);
}
int64_t long_bytes(const SetSecret& set) { return static_cast<int64_t>(set.secret.sealed.size()); }
int64_t long_bytes(const AddToken& add) { return static_cast<int64_t>(add.token.label.size()); }
int64_t long_bytes(const EditJob& edit) {
  int64_t bytes = 0;
  if (!edit.tags) return bytes;
  for (const std::string& tag : *edit.tags) bytes += static_cast<int64_t>(tag.size());
  return bytes;
}

// Of a command that makes a job; else null.
const JobSpec* spec_of(const Command& command) {
  if (const auto* submit = std::get_if<SubmitJob>(&command)) return &submit->spec;
  const auto* rerun = std::get_if<RerunJob>(&command);
  return rerun == nullptr || rerun->old == nullptr ? nullptr : rerun->old->spec.get();
}

int64_t tasks_of(const JobSpec& spec) {
  const Result<ArrayRange> range = ArrayRange::parse(spec.array);
  return !spec.array.empty() && range.is_ok() ? range.value().count() : 1;
}

bool is_repeated(const ClusterState& state, const std::string& user, const Command& command) {
  const auto is_known = [&](const std::string& request) {
    return !request.empty() && state.find_request(user, request).has_value();
  };
  if (const auto* submit = std::get_if<SubmitJob>(&command)) return is_known(submit->request_id);
  const auto* rerun = std::get_if<RerunJob>(&command);
  return rerun != nullptr && is_known(rerun->request_id);
}

// Decided against, so that nothing was stored. Of other errors that is not known.
bool is_refusal(const Status& status) {
  return !status.is_ok() && status.code() != Code::unavailable && status.code() != Code::internal;
}

}  // namespace

int64_t long_parts_bytes(const JobSpec& spec) {
  size_t bytes = spec.workspace.size() + spec.entrypoint.size() + spec.parameters.size();
  for (const auto& [name, value] : spec.environments) bytes += name.size() + value.size();
  for (const auto& [name, secret] : spec.secrets) bytes += name.size() + secret.size();
  for (const std::string& tag : spec.tags) bytes += tag.size();
  for (const std::string& job : spec.depends_on) bytes += job.size();
  return static_cast<int64_t>(bytes);
}

int64_t stored_bytes(const Command& command) {
  return kOfAnyChange + std::visit([](const auto& body) { return long_bytes(body); }, command);
}

Status StoreShares::take(const std::string& user, Amount amount, UnixTime now) {
  if (const std::optional<Duration> wait = large_specs_.take(user, amount.large, now)) {
    return resource_exhausted(
        "{} has submitted {} MiB of large job specs within the hour (what environments, parameters "
        "and the like have beyond {} KiB of each job counts); put data into files of the "
        "workspace, or go on in {}",
        user, kLargeSpecsMax >> 20, kFreeBytes >> 10, format_duration(*wait));
  }
  if (const std::optional<Duration> wait = changes_.take(user, amount.all, now)) {
    large_specs_.give_back(user, amount.large, now);
    return resource_exhausted(
        "{} has had {} MiB stored within the hour (each job, change and reason counts); go on in "
        "{}",
        user, kChangesMax >> 20, format_duration(*wait));
  }
  return ok();
}

void StoreShares::give_back(const std::string& user, Amount amount) {
  const UnixTime now = controller_.soft_facts().now;
  large_specs_.give_back(user, amount.large, now);
  changes_.give_back(user, amount.all, now);
}

Result<Done<CommandReply>> StoreShares::count(const Caller& caller, const Command& command,
                                              Done<CommandReply> done) {
  const ClusterState& state = controller_.state();
  const UnixTime now = controller_.soft_facts().now;
  const Result<Actor> actor = authenticate(state, caller, now);
  if (!actor.is_ok()) return done;  // the controller says so, or that it does not lead
  const std::string user = actor.value().user;
  if (is_repeated(state, user, command)) return done;
  Amount amount{.all = stored_bytes(command)};
  if (const JobSpec* spec = spec_of(command)) {
    amount.large = std::max<int64_t>(0, amount.all - kFreeBytes);
    // Each task has its own copy when it is made. An array that asks for more than a quarter of a
    // share costs that: it makes its tasks as they start, and is not refused for its size.
    const int64_t tasks = tasks_of(*spec);
    amount.large = std::min(amount.large * tasks, std::max(amount.large, kLargeSpecsMax / 4));
    amount.all = std::min(amount.all * tasks, std::max(amount.all, kChangesMax / 4));
  }
  // A move changes the place of each job between the old and the new one: how many, its answer
  // says.
  const int64_t moved_max =
      std::holds_alternative<MoveJob>(command) ? state.unfinished_count(user) : 0;
  amount.all += moved_max * kOfMovedJob;
  if (actor.value().is_operator()) amount.all = 0;
  RETURN_IF_ERROR(take(user, amount, now));
  return Done<CommandReply>([this, user, amount, moved_max, done](Result<CommandReply> reply) {
    if (is_refusal(reply.status())) give_back(user, amount);
    if (reply.is_ok() && amount.all > 0 && reply.value().rows < moved_max)
      give_back(user, {.all = (moved_max - reply.value().rows) * kOfMovedJob});
    done(std::move(reply));
  });
}

}  // namespace hai
