#include "server/api/audit_trail.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "common/host_port.h"
#include "common/log.h"
#include "common/text_check.h"
#include "proto/json/call_options.h"
#include "server/api/caller_board.h"

namespace hai {
namespace {

constexpr std::string_view kMany = "*";
constexpr std::string_view kStranger = "stranger\n";  // how the keys of their windows begin
constexpr size_t kCallBytesMax = 64;                  // a stranger may ask for what there is not

UnixTime system_time() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return UnixTime(std::chrono::duration_cast<Duration>(now));
}

// Cut where a character begins.
std::string short_text(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return printable(text);
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80) --bytes_max;
  return printable(text.substr(0, bytes_max)) + "…";
}

// Whom a stranger's address counts for: `address` may name several machines (FROM of gRPC), and an
// IPv6 network of one owner is one, so that he fills no more than anybody else.
std::string machines_of(std::string_view address) {
  constexpr std::string_view kOr = " or ";
  std::string machines;
  while (true) {
    const size_t end = std::min(address.find(kOr), address.size());
    machines += machine_of(address.substr(0, end));
    if (end == address.size()) return machines;
    machines += kOr;
    address.remove_prefix(end + kOr.size());
  }
}

std::string joined(std::string_view first, std::string_view second, std::string_view between) {
  return fmt::format("{}{}{}", first, first.empty() || second.empty() ? "" : between, second);
}

}  // namespace

std::string_view audited_name(std::string_view method) {
  const auto* api = v1::GetJobRequest::descriptor()->file()->FindServiceByName("Api");
  const size_t slash = method.rfind('/');
  if (slash == std::string_view::npos || !method.starts_with('/')) return kUnknownCall;
  const std::string_view service = method.substr(1, slash - 1);
  const std::string_view call = method.substr(slash + 1);
  if (service == "hai.v1.Shells") return kShellCall;
  const bool is_call =
      service == api->full_name() && api->FindMethodByName(std::string(call)) != nullptr;
  return is_call ? call : kUnknownCall;
}

AuditTrail::AuditTrail(Loop& loop, const CallerBoard& callers, AuditLog* log,
                       std::function<UnixTime()> wall_clock)
    : loop_(loop),
      callers_(callers),
      log_(log),
      wall_clock_(wall_clock ? std::move(wall_clock) : system_time) {}

AuditTrail::~AuditTrail() {
  *alive_ = false;
  loop_.cancel(timer_);
}

bool AuditTrail::wants(std::string_view call, Code result) const {
  const bool is_beside_api = call == kAgentCall || call == kShellCall || call == kUnixGroupsCall ||
                             call == kAccountOfSignInCall;
  return log_ != nullptr && (is_beside_api || is_audited(call, result));
}

void AuditTrail::note(const AuditedCall& call, const Status& status) {
  if (status.is_ok() && !call.facts.outcomes.empty()) {
    for (const AuditOutcome& outcome : call.facts.outcomes) take(call, outcome);
  } else {
    take(call, {.status = status, .target = call.facts.target, .job = {}});
  }
}

void AuditTrail::take(const AuditedCall& call, const AuditOutcome& outcome) {
  if (!wants(call.name, outcome.status.code())) return;
  const CallerName who = callers_.name_of(call.caller);
  const std::string why = joined(outcome.detail, outcome.status.message(), "; ");
  AuditEntry entry{.at = wall_clock_(),
                   .user = who.user.empty() ? call.facts.user : who.user,
                   .token = who.token,
                   .address = short_text(call.address, kDetailBytesMax),
                   .call = short_text(call.name, kCallBytesMax),
                   .target = short_text(outcome.target, kAuditTargetBytesMax + 100),
                   .result = std::string(to_string(outcome.status.code())),
                   .detail = short_text(joined(call.facts.detail, why, "; "), kDetailBytesMax)};
  const std::lock_guard lock(mutex_);
  const size_t waiting = queue_.size();
  const bool is_stranger = entry.user.empty() && !call.caller.is_server;
  const Rule rule = rule_of(entry, is_stranger, outcome.job.has_value());
  if (rule.key.empty()) {
    push(std::move(entry));
  } else {
    merge(rule, std::move(entry), outcome.job);
  }
  if (queue_.size() > waiting || !is_timed_) wake();
}

// Strangers by machine and result, whatever they ask; people by what they ask.
AuditTrail::Rule AuditTrail::rule_of(AuditEntry& entry, bool is_stranger, bool is_submit) {
  const bool is_refused = entry.result != to_string(Code::ok);
  if (is_refused && is_stranger) {
    std::string key = fmt::format("{}{}\n{}", kStranger, machines_of(entry.address), entry.result);
    if (!windows_.contains(key) && strangers_ >= kStrangersMax) {
      entry.address = kMany;
      key = fmt::format("{}{}\n{}", kStranger, entry.address, entry.result);
    }
    return {.key = std::move(key)};
  }
  if (is_refused) {
    return {.key = fmt::format("refused\n{}\n{}", entry.user, entry.call),
            .one_by_one = kRefusalsPerMinute};
  }
  if (is_submit) {
    return {.key = fmt::format("submit\n{}\n{}", entry.user, entry.token), .length = kSubmitWindow};
  }
  if (only_reads(entry.call)) return rule_of_read(entry);
  return {};
}

// Whoever reads more kinds of things than his share loses his own names by it; only what very many
// people read at once takes names from what others read.
AuditTrail::Rule AuditTrail::rule_of_read(AuditEntry& entry) const {
  Rule rule{
      .key = fmt::format("read\n{}\n{}\n{}\n{}", entry.user, entry.token, entry.call, entry.target),
      .reader = entry.user};
  if (windows_.contains(rule.key)) return rule;
  const auto own = reads_of_.find(entry.user);
  const bool has_share = own == reads_of_.end() || own->second < kReadsOfOneMax;
  if (has_share && reads_ < kReadsMax) return rule;
  entry.token = entry.address = entry.target = kMany;
  return {.key = fmt::format("read\n{}\n{}", entry.user, entry.call)};
}

void AuditTrail::merge(const Rule& rule, AuditEntry entry, const std::optional<int64_t>& job) {
  auto found = windows_.find(rule.key);
  if (found == windows_.end() && windows_.size() >= kWindowsMax) {
    // More kinds at once than anybody reads: one entry for all of them.
    entry.user = entry.token = entry.address = entry.target = kMany;
    found = windows_.find("");
    if (found == windows_.end()) found = windows_.try_emplace("").first;
  } else if (found == windows_.end()) {
    found = windows_.try_emplace(rule.key).first;
    found->second.reader = rule.reader;
    count_window(found->first, found->second);
  }
  Window& window = found->second;
  if (window.length == Duration(0)) {
    window.length = rule.length;
    window.end = entry.at + rule.length;
  }
  if (window.told < rule.one_by_one) {
    ++window.told;
    return push(std::move(entry));
  }
  if (job) {
    window.first_job = window.more == 0 ? *job : std::min(window.first_job, *job);
    window.last_job = window.more == 0 ? *job : std::max(window.last_job, *job);
  }
  ++window.more;
  window.latest = std::move(entry);
}

void AuditTrail::count_window(const std::string& key, const Window& window) {
  if (key.starts_with(kStranger)) ++strangers_;
  if (window.reader.empty()) return;
  ++reads_;
  ++reads_of_[window.reader];
}

void AuditTrail::discount_window(const std::string& key, const Window& window) {
  if (key.starts_with(kStranger)) --strangers_;
  if (window.reader.empty()) return;
  --reads_;
  const auto own = reads_of_.find(window.reader);
  if (--own->second == 0) reads_of_.erase(own);
}

void AuditTrail::push(AuditEntry entry) {
  if (queue_.size() + in_flight_.size() < kQueueMax) return queue_.push_back(std::move(entry));
  if (lost_++ == lost_told_) {
    log_warning("audit_full", {{"entries", kQueueMax},
                               {"reason", "the database does not take them: later ones are lost"}});
  }
}

// Whoever goes on has one entry a window from now on; whoever has stopped is forgotten.
void AuditTrail::close_windows(bool all) {
  const UnixTime now = wall_clock_();
  for (auto it = windows_.begin(); it != windows_.end();) {
    Window& window = it->second;
    // A clock that was set back ends it, too.
    const bool is_over = all || now >= window.end || now + window.length < window.end;
    if (is_over && window.more == 0) {
      discount_window(it->first, window);
      it = windows_.erase(it);
      continue;
    }
    if (is_over) {
      push(sum_of(window));
      window.more = 0;
      window.end = now + window.length;
    }
    ++it;
  }
}

// The latest of those that were counted, which says how many others it stands for.
AuditEntry AuditTrail::sum_of(Window& window) {
  AuditEntry entry = std::move(window.latest);
  if (window.last_job != 0) {
    const bool is_one = window.first_job == window.last_job;
    entry.target = is_one ? fmt::format("job/{}", window.first_job)
                          : fmt::format("job/{}-{}", window.first_job, window.last_job);
    entry.detail = is_one ? "" : fmt::format("{} jobs", window.more);
  } else if (window.more > 1) {
    entry.detail = joined(entry.detail, fmt::format("and {} more", window.more - 1), "; ");
  }
  return entry;
}

// With the mutex.
void AuditTrail::wake() {
  if (std::exchange(is_awake_, true)) return;
  loop_.post([this, alive = alive_] {
    if (*alive) look();
  });
}

void AuditTrail::look() {
  loop_.cancel(std::exchange(timer_, 0));
  {
    const std::lock_guard lock(mutex_);
    is_awake_ = false;
    close_windows(stopped_ != nullptr);
    is_timed_ = !windows_.empty() && stopped_ == nullptr;
    if (is_timed_) {
      timer_ = loop_.call_after(kSubmitWindow, [this] {
        timer_ = 0;
        look();
      });
    }
  }
  write();
}

void AuditTrail::write() {
  std::vector<AuditEntry> batch;
  {
    const std::lock_guard lock(mutex_);
    if (!in_flight_.empty()) return;
    const size_t count = std::min(queue_.size(), kBatchMax);
    in_flight_.assign(std::make_move_iterator(queue_.begin()),
                      std::make_move_iterator(queue_.begin() + static_cast<ptrdiff_t>(count)));
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<ptrdiff_t>(count));
    batch = in_flight_;
  }
  if (!batch.empty()) return append(std::move(batch));
  if (stopped_) std::exchange(stopped_, nullptr)();
}

void AuditTrail::append(std::vector<AuditEntry> batch) {
  log_->append(std::move(batch), [this, alive = alive_](const Status& status) {
    if (*alive) written(status);
  });
}

void AuditTrail::written(const Status& status) {
  if (!status.is_ok()) return not_written(status);
  is_away_ = false;
  {
    const std::lock_guard lock(mutex_);
    in_flight_.clear();
    if (lost_ > lost_told_) {
      push({.at = wall_clock_(),
            .user = "",
            .token = "",
            .address = "",
            .call = "audit",
            .target = "",
            .result = std::string(to_string(Code::data_loss)),
            .detail = fmt::format("{} entries are lost: the database did not take them",
                                  lost_ - lost_told_)});
      lost_told_ = lost_;
    }
  }
  write();
}

// The batch is tried again whole. Where the answer was lost on the way and not the batch, it is
// there twice: better than not at all.
void AuditTrail::not_written(const Status& status) {
  size_t waiting = 0;
  std::vector<AuditEntry> batch;
  {
    const std::lock_guard lock(mutex_);
    waiting = queue_.size() + in_flight_.size();
    batch = in_flight_;
  }
  if (stopped_) return give_up(status);
  if (!std::exchange(is_away_, true)) {
    log_warning("audit_not_written", {{"waiting", waiting}, {"reason", status}});
  }
  loop_.call_after(kRetry, [this, alive = alive_, batch = std::move(batch)]() mutable {
    if (*alive) append(std::move(batch));
  });
}

void AuditTrail::stop(std::function<void()> done) {
  if (log_ == nullptr) return done();
  stopped_ = std::move(done);
  look();
  if (is_away_ && stopped_) give_up(unavailable("the server stops while the database is away"));
}

void AuditTrail::give_up(const Status& why) {
  size_t waiting = 0;
  {
    const std::lock_guard lock(mutex_);
    waiting = queue_.size() + in_flight_.size();
  }
  log_error("audit_lost", {{"entries", waiting}, {"reason", why}});
  std::exchange(stopped_, nullptr)();
}

int64_t AuditTrail::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

}  // namespace hai
