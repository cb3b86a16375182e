#include "server/http/event_hub.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hai {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kAlive = ": alive\n\n";

size_t bytes_of(const EventHub::Frame& frame) {
  return sizeof(frame) + frame.text.size() + frame.row.size() +
         static_cast<size_t>(text_bytes(frame.event.body));
}

}  // namespace

std::string end_frame(int64_t after, const std::string& reason) {
  const nlohmann::ordered_json body = {{"resume_after", after}, {"detail", reason}};
  return fmt::format("event: end\ndata: {}\n\n",
                     body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

EventHub::EventHub(EventHubLimits limits) : limits_(limits), thread_([this] { run(); }) {}

EventHub::~EventHub() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void EventHub::begin(int64_t seq) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_begun_, true)) return;
  before_first_ = last_seq_ = seq;
}

bool EventHub::is_wanted() const {
  const std::lock_guard lock(mutex_);
  return is_begun_;
}

void EventHub::push(std::vector<Frame> frames) {
  if (frames.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (!is_begun_) return;
    if (watchers_.empty()) {  // nobody is left: whoever comes next begins anew
      is_begun_ = false;
      ring_.clear();
      ring_bytes_ = 0;
      return;
    }
    for (Frame& frame : frames) {
      if (frame.event.seq != last_seq_ + 1) {
        for (auto& [id, watcher] : watchers_) cut(watcher, "the server's term has changed");
        ring_.clear();
        ring_bytes_ = 0;
        before_first_ = frame.event.seq - 1;
      }
      last_seq_ = frame.event.seq;
      ring_bytes_ += bytes_of(frame);
      ring_.push_back(std::make_shared<const Frame>(std::move(frame)));
    }
    while (ring_.size() > limits_.frames || ring_bytes_ > limits_.bytes) {
      before_first_ = ring_.front()->event.seq;
      ring_bytes_ -= bytes_of(*ring_.front());
      ring_.pop_front();
    }
    is_news_ = true;
  }
  changed_.notify_all();
}

void EventHub::cut_all(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, watcher] : watchers_) cut(watcher, reason);
    is_news_ = true;
  }
  changed_.notify_all();
}

void EventHub::end(WatcherId id, const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = watchers_.find(id);
    if (found == watchers_.end()) return;
    Watcher& watcher = found->second;
    if (!watcher.has_ended && watcher.end.empty()) watcher.end = end_frame(watcher.after, reason);
    is_news_ = true;
  }
  changed_.notify_all();
}

void EventHub::cut(Watcher& watcher, const std::string& reason) {
  if (watcher.has_ended || !watcher.end.empty()) return;
  watcher.end = end_frame(watcher.after, reason);
  ++cut_count_;
}

EventHub::WatcherId EventHub::add(EventFilter filter, int64_t after) {
  const std::lock_guard lock(mutex_);
  const WatcherId id = ++last_id_;
  watchers_[id] = {.filter = std::move(filter), .after = after};
  return id;
}

void EventHub::remove(WatcherId id) {
  HttpChunkDone dropped;  // destroyed without the lock: it may hold the last hand on a connection
  const std::lock_guard lock(mutex_);
  const auto found = watchers_.find(id);
  if (found == watchers_.end()) return;
  dropped = std::move(found->second.waiting);
  watchers_.erase(found);
}

void EventHub::next(WatcherId id, HttpChunkDone done) {
  std::optional<Answer> answer;
  {
    const std::lock_guard lock(mutex_);
    const auto found = watchers_.find(id);
    if (found == watchers_.end()) {
      answer = Answer{std::move(done), std::nullopt};
    } else {
      Watcher& watcher = found->second;
      const bool has_more = watcher.after < last_seq_ || !watcher.end.empty() || watcher.has_ended;
      watcher.waiting = std::move(done);
      watcher.idle_at = Clock::now() + limits_.idle;
      // Sent with the next round and not at once: a busy cluster makes fewer, larger pieces.
      if (has_more) is_news_ = true;
    }
  }
  if (answer) return answer->done(std::move(answer->chunk));
  changed_.notify_all();
}

int64_t EventHub::position(WatcherId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = watchers_.find(id);
  return found == watchers_.end() ? 0 : found->second.after;
}

size_t EventHub::watcher_count() const {
  const std::lock_guard lock(mutex_);
  return watchers_.size();
}

int64_t EventHub::cut_count() const {
  const std::lock_guard lock(mutex_);
  return cut_count_;
}

void EventHub::run() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    changed_.wait_for(lock, limits_.idle / 3, [this] { return is_news_ || is_stopping_; });
    if (is_stopping_) return;
    is_news_ = false;
    round(lock);
    // What comes meanwhile is handed out together.
    changed_.wait_for(lock, limits_.pause, [this] { return is_stopping_; });
  }
}

void EventHub::round(std::unique_lock<std::mutex>& lock) {
  WatcherId after = 0;
  while (!is_stopping_ && watchers_.upper_bound(after) != watchers_.end()) {
    std::vector<Answer> answers = collect(after);
    const Duration pause = limits_.pause_per_watcher * static_cast<int64_t>(answers.size());
    lock.unlock();
    for (Answer& answer : answers) answer.done(std::move(answer.chunk));
    answers.clear();
    lock.lock();
    if (pause > Duration(0)) changed_.wait_for(lock, pause, [this] { return is_stopping_; });
  }
  shared_.clear();
}

std::vector<EventHub::Answer> EventHub::collect(WatcherId& after) {
  const Clock::time_point now = Clock::now();
  std::vector<Answer> answers;
  auto it = watchers_.upper_bound(after);
  for (size_t looked = 0; it != watchers_.end() && looked < limits_.slice; ++it, ++looked) {
    after = it->first;
    Watcher& watcher = it->second;
    if (!watcher.waiting) continue;
    if (auto answer = serve(watcher, now >= watcher.idle_at)) answers.push_back(std::move(*answer));
  }
  return answers;
}

std::optional<EventHub::Answer> EventHub::serve(Watcher& watcher, bool is_idle) {
  if (watcher.has_ended) return Answer{std::exchange(watcher.waiting, nullptr), std::nullopt};
  if (watcher.end.empty() && watcher.after < before_first_) {
    cut(watcher, fmt::format("read too slowly: events up to {} are not kept here any more; resume "
                             "after the last one you have seen",
                             before_first_));
  }
  if (!watcher.end.empty()) {
    watcher.has_ended = true;
    return Answer{std::exchange(watcher.waiting, nullptr), std::move(watcher.end)};
  }
  if (Text text = text_for(watcher)) {
    return Answer{std::exchange(watcher.waiting, nullptr), std::move(text)};
  }
  if (is_idle) return Answer{std::exchange(watcher.waiting, nullptr), kAlive};
  return std::nullopt;
}

// nullptr: nothing for it.
EventHub::Text EventHub::text_for(Watcher& watcher) {
  if (watcher.after >= last_seq_) return nullptr;
  const EventFilter& filter = watcher.filter;
  const bool is_plain =
      !filter.sight.misses_jobs() && !filter.job && filter.nodes.empty() && filter.kinds.empty();
  const bool is_limited = filter.sight.is_limited();
  Shared made;
  if (is_plain) {
    Shared& shared = shared_[{filter.sees_people, is_limited, watcher.after}];
    if (shared.up_to == 0) {
      // Those who see rows get what a stranger gets, and another text only if it is about theirs.
      EventFilter anybody = filter;
      anybody.sight = {.of_others = filter.sight.of_others};
      shared = make_text(anybody, watcher.after);
    }
    made = shared;
  }
  const bool is_of_theirs = std::ranges::any_of(made.hidden_of, [&](const std::string& owner) {
    return filter.sight.of(owner) >= Seen::program;
  });
  if (!is_plain || is_of_theirs) made = make_text(filter, watcher.after);
  watcher.after = made.up_to;
  return made.text;
}

EventHub::Shared EventHub::make_text(const EventFilter& filter, int64_t after) const {
  std::string text;
  Shared made{.up_to = after};
  auto frame = ring_.begin() + (after - before_first_);
  for (; frame != ring_.end() && text.size() < limits_.piece_bytes; ++frame) {
    made.up_to = (*frame)->event.seq;
    const Frame& each = **frame;
    const bool is_row = filter.sight.is_limited() &&
                        filter.sight.of(filter.job ? filter.owner : each.owner) == Seen::row;
    if (is_row && (!each.row.empty() || is_program_word(each.event.body))) {
      made.hidden_of.insert(each.owner);
    }
    if (!filter.passes(each.event, each.owner)) continue;
    const std::string& told = is_row && !each.row.empty() ? each.row : each.text;
    if (filter.sight.misses_jobs()) {
      text += filter.sight.clean(told);
    } else {
      text += told;
    }
  }
  if (!text.empty()) made.text = std::make_shared<const std::string>(std::move(text));
  return made;
}

}  // namespace hai
