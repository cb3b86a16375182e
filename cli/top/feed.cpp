#include "cli/top/feed.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cli/client.h"
#include "cli/node_list.h"
#include "cli/patience.h"

namespace hai::cli::top {
namespace {

constexpr int kPageSize = 1000;
constexpr size_t kPagesMax = 100;  // nobody reads more jobs than these hold
constexpr size_t kJobsOneByOne = 32;
constexpr size_t kNodesOneByOne = 8;
// Changes are gathered for so long; and for longer where asking costs much, so that a busy cluster
// of ten thousand jobs takes a small part of a core here and at the server.
constexpr Duration kGather = 200ms;
constexpr int kGatherPerCost = 12;
constexpr Duration kGatherMax = 10s;
constexpr Duration kReasonsPause = 2s;
constexpr Duration kPauseAfterTrouble = 1s;

Status add_all_jobs(Client& client, News& news) {
  v1::ListJobsRequest request;
  request.set_all_users(true);
  request.set_page_size(kPageSize);
  for (size_t page = 0; page < kPagesMax; ++page) {
    Result<v1::ListJobsReply> reply = client.list_jobs(request);
    RETURN_IF_ERROR(reply.status());
    for (v1::Job& job : *reply.value().mutable_jobs()) news.jobs.push_back(std::move(job));
    if (reply.value().next_cursor().empty()) break;
    request.set_cursor(reply.value().next_cursor());
  }
  news.has_all_jobs = true;
  return ok();
}

Status add_all_nodes(Client& client, News& news) {
  Result<std::vector<v1::Node>> nodes = all_nodes(client);
  RETURN_IF_ERROR(nodes.status());
  news.nodes = std::move(nodes).value();
  news.has_all_nodes = true;
  return ok();
}

Status add_cluster(Client& client, News& news) {
  Result<v1::Cluster> cluster = client.get_cluster({});
  RETURN_IF_ERROR(cluster.status());
  news.cluster = std::move(cluster).value();
  return ok();
}

// An attempt takes many nodes with one event.
bool changes_places(std::string_view kind) {
  constexpr std::string_view kKinds[] = {"attempt_placed", "attempt_ended", "rank_ended",
                                         "nodes_reserved", "reservation_dropped"};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

}  // namespace

Result<News> load_all(Client& client) {
  News news;
  // First: what happens while the lists are read is then told again, never missed.
  RETURN_IF_ERROR(add_cluster(client, news));
  RETURN_IF_ERROR(add_all_jobs(client, news));
  RETURN_IF_ERROR(add_all_nodes(client, news));
  return news;
}

Feed::Feed(const Client& client, int64_t after_seq, Post post)
    : events_(client.clone()), asking_(client.clone()), post_(std::move(post)) {
  const auto tell = [this](const std::string& line) { post_({.trouble = line}); };
  events_->set_notice(tell);
  asking_->set_notice(tell);
  reader_ = std::thread([this, after_seq] { read_events(after_seq); });
  asker_ = std::thread([this] { ask(); });
}

Feed::~Feed() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wakes_.notify_all();
  events_->stop();
  asking_->stop();
  reader_.join();
  asker_.join();
}

void Feed::set_waiting_shown(std::vector<int64_t> jobs) {
  const std::lock_guard lock(mutex_);
  waiting_shown_ = std::move(jobs);
}

void Feed::note(const Changed& changed) {
  {
    const std::lock_guard lock(mutex_);
    changed_.jobs.insert(changed.jobs.begin(), changed.jobs.end());
    changed_.nodes.insert(changed.nodes.begin(), changed.nodes.end());
    changed_.any = true;
    changed_.places |= changed.places;
    changed_.everything |= changed.everything;
  }
  wakes_.notify_all();
}

bool Feed::rest(Duration time) {
  std::unique_lock lock(mutex_);
  return !wakes_.wait_for(lock, time, [this] { return is_over_; });
}

void Feed::read_events(int64_t after_seq) {
  v1::WatchEventsRequest request;
  request.set_after_seq(after_seq);
  do {
    const Status status = events_->watch_events(request, [&](const v1::Event& event) {
      request.set_after_seq(event.seq());
      Changed changed;
      if (event.job_id() != 0) changed.jobs.insert(event.job_id());
      if (!event.node().empty()) changed.nodes.insert(event.node());
      changed.places = changes_places(event.kind());
      note(changed);
      return true;
    });
    // Whether the stream goes on where it stopped or not: what was missed is read in one go.
    const bool may_resume = status.is_ok() || status.code() == Code::unavailable ||
                            status.code() == Code::resource_exhausted;
    if (!may_resume) request.set_after_seq(-1);
    post_(
        {.trouble = status.is_ok() ? "the server ended the watch" : std::string(status.message())});
    note({.everything = true});
  } while (rest(kPauseAfterTrouble));
}

bool Feed::wait_for_change(Duration pause, Changed& changed) {
  if (!rest(pause)) return false;
  std::unique_lock lock(mutex_);
  wakes_.wait(lock, [this] { return is_over_ || changed_.any; });
  changed = std::exchange(changed_, {});
  return !is_over_;
}

Result<News> Feed::news_of(const Changed& changed) {
  News news;
  RETURN_IF_ERROR(add_cluster(*asking_, news));
  if (changed.everything || changed.jobs.size() > kJobsOneByOne) {
    RETURN_IF_ERROR(add_all_jobs(*asking_, news));
  } else {
    for (const int64_t id : changed.jobs) {
      v1::GetJobRequest request;
      request.set_job(std::to_string(id));
      Result<v1::Job> job = asking_->get_job(request);
      if (job.status().code() == Code::not_found) continue;
      RETURN_IF_ERROR(job.status());
      news.jobs.push_back(std::move(job).value());
    }
  }
  if (changed.everything || changed.places || changed.nodes.size() > kNodesOneByOne) {
    RETURN_IF_ERROR(add_all_nodes(*asking_, news));
  } else {
    for (const std::string& name : changed.nodes) {
      v1::GetNodeRequest request;
      request.set_name(name);
      Result<v1::Node> node = asking_->get_node(request);
      RETURN_IF_ERROR(node.status());
      news.nodes.push_back(std::move(node).value());
    }
  }
  news.trouble = "";
  return news;
}

void Feed::ask() {
  Duration pause = kGather;
  MonoTime reasons_asked{};
  Changed changed;
  while (wait_for_change(pause, changed)) {
    const MonoTime began = mono_now();
    if (began - reasons_asked > kReasonsPause && changed.jobs.size() < kJobsOneByOne) {
      const std::lock_guard lock(mutex_);
      for (const int64_t job : waiting_shown_) {
        if (changed.jobs.size() < kJobsOneByOne) changed.jobs.insert(job);
      }
      reasons_asked = began;
    }
    Result<News> news = news_of(changed);
    if (!news.is_ok()) {
      post_({.trouble = std::string(news.status().message())});
      note({.everything = true});
      pause = kPauseAfterTrouble;
      continue;
    }
    post_(std::move(news).value());
    pause = std::clamp<Duration>(kGatherPerCost * (mono_now() - began), kGather, kGatherMax);
  }
}

}  // namespace hai::cli::top
