#include "server/store/job_line.h"

#include <fmt/core.h>

#include <iterator>
#include <utility>

#include "common/json/json_text.h"
#include "server/store/json_codec.h"

namespace hai {

std::vector<std::string> job_lines(const ArchivedJob& archived, size_t bytes) {
  std::vector<std::string> lines;
  std::string attempts;
  for (const Attempt& attempt : archived.earlier) {
    if (!attempts.empty()) attempts += ',';
    attempts += to_json(attempt);
    if (attempts.size() < bytes) continue;
    lines.push_back(fmt::format("{{\"of\":{},\"earlier\":[{}]}}", archived.job.id.value, attempts));
    attempts.clear();
  }
  lines.push_back("{\"job\":" + whole_job_to_json(archived.job) + ",\"earlier\":[" + attempts +
                  "]}");
  return lines;
}

std::string job_line(const ArchivedJob& archived) {
  return std::move(job_lines(archived, std::string::npos).back());
}

namespace {

// Archives of versions that did not count it: what the job's attempts ran.
void count_run_seconds(std::string_view job_json, ArchivedJob& archived) {
  if (job_json.find("\"run_seconds\":") != std::string_view::npos) return;
  int64_t& ran = archived.job.counters.run_seconds;
  if (archived.job.attempt) ran += archived.job.attempt->ran_seconds();
  for (const Attempt& attempt : archived.earlier) ran += attempt.ran_seconds();
}

// What a line says: of a job's attempts only, the job has an id and no spec.
Result<ArchivedJob> read_job_line(std::string_view line) {
  Result<JsonView> json = JsonView::parse(line);
  if (!json.is_ok()) return json.status();
  JsonView::Members members;
  if (!json.value().members(members)) return invalid_argument("no job: expected an object");
  ArchivedJob archived;
  std::string_view job_json;
  for (const auto& [key, value] : members) {
    if (key == "job") {
      Result<Job> job = whole_job_from_json(value.text());
      if (!job.is_ok()) return job.status();
      archived.job = std::move(job).value();
      job_json = value.text();
    } else if (key == "of") {
      archived.job.id = JobId{value.as_int().value_or(0)};
    } else if (key == "earlier") {
      std::vector<JsonView> elements;
      if (!value.elements(elements)) return invalid_argument("earlier: expected a list");
      for (const JsonView& element : elements) {
        Result<Attempt> attempt = attempt_from_json(element.text());
        if (!attempt.is_ok()) return attempt.status();
        archived.earlier.push_back(std::move(attempt).value());
      }
    }
  }
  if (!archived.job.id) return invalid_argument("no job: no id");
  if (archived.job.spec != nullptr) count_run_seconds(job_json, archived);
  return archived;
}

}  // namespace

Result<ArchivedJob> job_from_line(std::string_view line) {
  Result<ArchivedJob> archived = read_job_line(line);
  if (archived.is_ok() && archived.value().job.spec == nullptr) {
    return invalid_argument("no job: no spec");
  }
  return archived;
}

Result<std::optional<ArchivedJob>> JobJoiner::add(std::string_view line) {
  Result<ArchivedJob> read = read_job_line(line);
  if (!read.is_ok()) return read.status();
  ArchivedJob& archived = read.value();
  if (of_ && archived.job.id != of_) return finish();
  std::vector<Attempt>& came = archived.earlier;
  earlier_.insert(earlier_.end(), std::move_iterator(came.begin()), std::move_iterator(came.end()));
  of_ = archived.job.id;
  if (archived.job.spec == nullptr) return std::optional<ArchivedJob>();
  archived.earlier = std::exchange(earlier_, {});
  of_ = JobId{};
  return std::optional(std::move(archived));
}

Status JobJoiner::finish() const {
  if (!of_) return ok();
  return invalid_argument("attempts of job {} are there without the job", of_.value);
}

}  // namespace hai
