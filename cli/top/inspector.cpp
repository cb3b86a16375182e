#include "cli/top/inspector.h"

#include <sstream>

#include "cli/client.h"
#include "cli/format.h"
#include "cli/job_view.h"
#include "cli/node_view.h"
#include "cli/why_view.h"

namespace hai::cli::top {
namespace {

constexpr int kAttemptsShown = 5;
constexpr size_t kLogLines = 200;
constexpr int64_t kLogBytes = 32 * 1024;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Terminal paper(int width) { return {.is_tty = true, .colour = false, .width = width}; }

// The attempts of a job at its card; the ranks of the latest one below.
std::vector<std::string> card_of(Client& client, const v1::Job& job, int width) {
  v1::ListAttemptsRequest request;
  request.set_job(std::to_string(job.id()));
  request.set_page_size(kAttemptsShown);
  std::vector<v1::Attempt> attempts;
  if (const Result<v1::ListAttemptsReply> reply = client.list_attempts(request); reply.is_ok()) {
    attempts.assign(reply.value().attempts().begin(), reply.value().attempts().end());
  }
  std::vector<std::string> lines = lines_of(job_card(job, attempts, wall_now(), paper(width)));
  if (!attempts.empty()) {
    lines.emplace_back();
    for (std::string& line : lines_of(ranks_table(attempts.front(), paper(width)))) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

// Follows the log of its latest attempt; ends with the client.
void follow_log(Client& client, Detail detail, const Inspector::PostDetail& post) {
  v1::ReadLogRequest request;
  request.set_job(std::to_string(detail.job));
  request.set_rank(detail.rank);
  request.set_tail_bytes(kLogBytes);
  request.set_follow(true);
  std::string tail;
  const Status status = client.read_log(request, [&](const v1::ReadLogReply& chunk) {
    tail += chunk.data();
    if (tail.size() > 2 * kLogBytes) tail.erase(0, tail.find('\n', tail.size() - kLogBytes) + 1);
    detail.log = lines_of(tail);
    if (detail.log.size() > kLogLines) {
      detail.log.erase(detail.log.begin(), detail.log.end() - static_cast<ptrdiff_t>(kLogLines));
    }
    post(detail);
    return !chunk.end();
  });
  if (status.is_ok() || status.code() == Code::cancelled || status.code() == Code::not_found)
    return;
  detail.trouble = "its log: " + status.message();
  post(detail);
}

void look_at(Client& client, Detail detail, int width, const Inspector::PostDetail& post) {
  v1::GetJobRequest request;
  request.set_job(std::to_string(detail.job));
  const Result<v1::Job> job = client.get_job(request);
  if (!job.is_ok()) {
    detail.trouble = job.status().message();
    return post(detail);
  }
  detail.card = card_of(client, job.value(), width);
  post(detail);
  const bool waits = job.value().has_pending_reason();
  if (waits) {
    v1::WhyJobRequest why;
    why.set_job(request.job());
    why.set_with_estimate(true);
    if (const Result<v1::WhyJobReply> reply = client.why_job(why); reply.is_ok()) {
      detail.why = lines_of(why_text(reply.value(), paper(width)));
      post(detail);
    }
  }
  if (job.value().attempt() > 0) follow_log(client, detail, post);
}

}  // namespace

Inspector::Task::~Task() {
  if (!must_finish) client->stop();
  thread.join();
}

Inspector::Inspector(const Client& client, PostDetail post_detail, PostAnswer post_answer)
    : origin_(client.clone()),
      post_detail_(std::move(post_detail)),
      post_answer_(std::move(post_answer)) {}

Inspector::~Inspector() = default;

std::unique_ptr<Inspector::Task> Inspector::start(std::function<void(Client&)> run) const {
  auto task = std::make_unique<Task>();
  task->client = origin_->clone();
  task->client->set_notice([](const std::string&) {});  // notices are shown by the feed's client
  task->thread = std::thread([&client = *task->client, run = std::move(run)] { run(client); });
  return task;
}

void Inspector::look_at_job(int64_t job, int rank, int width) {
  looking_.reset();
  looking_ = start([=, post = post_detail_](Client& client) {
    look_at(client, {.job = job, .rank = rank}, width, post);
  });
}

void Inspector::look_at_node(const std::string& node, int width) {
  looking_.reset();
  looking_ = start([=, post = post_detail_](Client& client) {
    v1::GetNodeRequest request;
    request.set_name(node);
    const Result<v1::Node> found = client.get_node(request);
    Detail detail{.node = node};
    if (found.is_ok()) {
      detail.card = lines_of(node_card(found.value(), true, paper(width)));
    } else {
      detail.trouble = found.status().message();
    }
    post(std::move(detail));
  });
}

void Inspector::look_away() { looking_.reset(); }

void Inspector::control(int64_t job, v1::JobAction action) {
  controlling_.push_back(start([=, post = post_answer_](Client& client) {
    v1::ControlJobRequest request;
    request.add_jobs(std::to_string(job));
    request.set_action(action);
    const Result<v1::ControlJobReply> reply = client.control_job(request);
    if (!reply.is_ok()) return post(reply.status().message());
    for (const v1::ControlResult& result : reply.value().results()) {
      post(fmt::format("job {}: {}", job, result.message()));
    }
  }));
  controlling_.back()->must_finish = true;
}

}  // namespace hai::cli::top
