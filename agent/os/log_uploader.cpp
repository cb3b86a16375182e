#include "agent/os/log_uploader.h"

#include <algorithm>

#include "agent/os/upload_record.h"
#include "common/boot_clock.h"
#include "common/log.h"
#include "common/log_messages.h"

namespace hai {

namespace {

constexpr Duration kLookPeriod = 1s;
constexpr Duration kRetryPause = 10s;
constexpr Duration kPatience = 30s;  // with storage that does not answer
constexpr Duration kBurst = 5s;      // so much of the rate may be saved up

}  // namespace

void LogStoreBoard::set(Status status) {
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
}

Status LogStoreBoard::get() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

Result<std::unique_ptr<LogUploader>> LogUploader::open(Loop& loop, Options options) {
  RETURN_IF_ERROR(make_upload_records(options.upload.data_dir));
  return std::unique_ptr<LogUploader>(new LogUploader(loop, std::move(options)));
}

LogUploader::LogUploader(Loop& loop, Options options)
    : loop_(loop),
      options_(std::move(options)),
      upload_(std::make_shared<LogUpload>(options_.upload)),
      board_(std::make_shared<LogStoreBoard>()),
      users_(list_upload_records(options_.upload.data_dir)),
      timer_(loop),
      thread_(loop, 1) {}

void LogUploader::begin(const RankKey& key, const std::string& user) {
  if (user.empty()) return;  // Nobody could be shown it.
  if (key.rank == 0) begin(step_record_of(key), user);
  const Status kept = keep_upload_record(options_.upload.data_dir, key, user);
  if (!kept.is_ok()) log_warning("upload_record_not_kept", {{"rank", key}, {"reason", kept}});
  users_[key] = user;
}

void LogUploader::start() { look(); }

void LogUploader::look() {
  timer_.arm(kLookPeriod, [this] { look(); });
  const MonoTime now = loop_.now();
  if (is_busy_) {
    if (now - busy_since_ > kPatience) {
      tell(deadline_exceeded("log store {}: does not answer", options_.upload.store));
    }
    return;
  }
  if (now < next_pass_) return;
  std::vector<RankToUpload> ranks;
  for (const auto& [key, user] : users_) ranks.push_back({key, user, options_.is_live(key)});
  const Duration since = std::clamp(now - last_pass_, kLookPeriod, kBurst);
  const int64_t bytes_max = options_.rate_bytes * since.count() / Duration(1s).count();
  is_busy_ = thread_.post([upload = upload_, ranks = std::move(ranks), bytes_max, now,
                           bound = scope_.bind([this](UploadResult result) {
                             passed(std::move(result));
                           })]() -> SideThread::Answer {
    const UploadResult result = upload->pass(ranks, bytes_max, now, system_now());
    return [bound, result] { bound(result); };
  });
  busy_since_ = last_pass_ = now;
}

void LogUploader::passed(UploadResult result) {
  is_busy_ = false;
  for (const RankKey& key : result.done) {
    drop_upload_record(options_.upload.data_dir, key);
    users_.erase(key);
  }
  if (!result.has_looked) return;
  const bool is_failing = !result.status.is_ok() && result.status.code() != Code::aborted;
  next_pass_ = loop_.now() + (is_failing ? kRetryPause : Duration(0));
  tell(is_failing ? std::move(result.status) : ok());
}

// Once when it changes, not with each pass.
void LogUploader::tell(Status status) {
  if (status == told_) return;
  told_ = status;
  board_->set(status);
  if (status.is_ok()) {
    log_info("log_store_takes_logs_again", {{"store", options_.upload.store}});
  } else {
    log_warning("log_store_fails", {{"reason", status}, {"ranks_waiting", users_.size()}});
  }
}

}  // namespace hai
