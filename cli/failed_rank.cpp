#include "cli/failed_rank.h"

#include "cli/client.h"
#include "cli/follow.h"
#include "cli/session.h"

namespace hai::cli {

namespace {

constexpr int64_t kLinesShown = 20;

}  // namespace

std::optional<int> failed_rank(const v1::Attempt& attempt) {
  for (const v1::RankInfo& rank : attempt.ranks()) {
    if (rank.cause() == "program" && rank.exit_code() != 0) return rank.rank();
  }
  return std::nullopt;
}

void tell_failed_rank(Client& client, const v1::Job& job, int followed) {
  if (job.state() != "failed") return;
  const std::string id = std::to_string(job.id());
  v1::ListAttemptsRequest request;
  request.set_job(id);
  request.set_page_size(1);
  const Result<v1::ListAttemptsReply> reply = client.list_attempts(request);
  if (!reply.is_ok() || reply.value().attempts().empty()) return;
  const v1::Attempt& attempt = reply.value().attempts(0);
  const std::optional<int> rank = failed_rank(attempt);
  if (!rank || *rank == followed) return;
  say(fmt::format("the last lines of rank {}, which failed (hai logs {} -r {} has the rest):",
                  *rank, id, *rank));
  const Status read = print_log(
      client, {.job = id, .rank = *rank, .attempt = attempt.number(), .tail_lines = kLinesShown});
  if (!read.is_ok()) say(std::string(read.message()));
}

}  // namespace hai::cli
