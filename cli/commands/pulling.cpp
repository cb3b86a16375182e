#include "cli/commands/pulling.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "cli/client.h"
#include "cli/format.h"
#include "common/count_of.h"

namespace hai::cli {
namespace {

constexpr size_t kNodesShown = 4;
constexpr int kLinesAsked = 1'000;

struct Pull {
  std::string image;
  std::string doing;     // "" = nothing is known of it
  std::string progress;  // "1.2 of 4.7 GB"
  std::optional<int64_t> began_at_us;
};

// What follows `start`, if the text begins so.
std::optional<std::string_view> after(std::string_view text, std::string_view start) {
  if (!text.starts_with(start)) return std::nullopt;
  return text.substr(start.size());
}

// The lines of agent/image/image_pull.cpp.
void take_line(const v1::LogLine& line, Pull& pull) {
  const std::string_view text = line.text();
  const auto begin = [&](std::string_view image, const char* doing) {
    if (pull.doing.empty() && line.has_at_us()) pull.began_at_us = line.at_us();
    pull.image = image;
    pull.doing = doing;
    pull.progress.clear();
  };
  if (const auto gets = after(text, "hai: gets image ")) return begin(*gets, "pulling");
  if (const auto unpacks = after(text, "hai: unpacks image ")) return begin(*unpacks, "unpacking");
  if (const auto waits = after(text, "hai: waits for image "))
    return begin(waits->substr(0, waits->find(',')), "waiting for another rank that pulls");
  if (after(text, "hai: has image ")) pull = {};
  const auto progress = after(text, fmt::format("hai: image {}: ", pull.image));
  if (progress && pull.doing == "pulling") pull.progress = *progress;
}

std::string line_of(const Pull& pull, const std::string& node, UnixTime now) {
  std::string text = fmt::format("{} {} on {}", pull.doing, pull.image, node);
  if (!pull.progress.empty()) text += ": " + pull.progress;
  if (pull.began_at_us) {
    const Duration lasts = now - unix_micros(*pull.began_at_us);
    text += fmt::format("{} since {}", pull.progress.empty() ? "" : ",",
                        short_duration(std::max(lasts, Duration(0))));
  }
  return text + "\n";
}

}  // namespace

std::string pulling_text(const std::vector<v1::LogLine>& lines, const v1::Attempt& attempt,
                         UnixTime now) {
  std::map<int, Pull> pulls;  // by rank
  for (const v1::LogLine& line : lines) {
    if (line.attempt() == attempt.number()) take_line(line, pulls[line.rank()]);
  }
  std::string text;
  size_t shown = 0;
  size_t more = 0;
  for (const v1::RankInfo& rank : attempt.ranks()) {
    const auto pull = pulls.find(rank.rank());
    const bool is_getting =
        pull != pulls.end() && !pull->second.doing.empty() && rank.phase() == "pending";
    if (!is_getting) continue;
    if (++shown > kNodesShown) {
      ++more;
      continue;
    }
    text += line_of(pull->second, rank.node(), now);
  }
  if (more > 0) text += fmt::format("and {} more\n", count_of(static_cast<int64_t>(more), "node"));
  return text;
}

std::string pulling_of(Client& client, const v1::Job& job, const std::vector<v1::Attempt>& attempts,
                       UnixTime now) {
  const bool starts = job.attempt_state() == "placed" || job.attempt_state() == "starting";
  if (!starts || attempts.empty() || job.spec().image().empty()) return "";
  v1::SearchLogRequest request;
  request.set_job(std::to_string(job.id()));
  request.set_text("hai: ");
  request.set_match_case(true);
  request.set_attempt(0);
  request.set_page_size(kLinesAsked);
  const Result<v1::SearchLogReply> reply = client.search_log(request);
  if (!reply.is_ok()) return "";
  return pulling_text({reply.value().lines().begin(), reply.value().lines().end()},
                      attempts.front(), now);
}

}  // namespace hai::cli
