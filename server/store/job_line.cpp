#include "server/store/job_line.h"

#include "common/json/json_text.h"
#include "server/store/json_codec.h"

namespace hai {

std::string job_line(const ArchivedJob& archived) {
  std::string line = "{\"job\":" + whole_job_to_json(archived.job) + ",\"earlier\":[";
  for (const Attempt& attempt : archived.earlier) {
    if (line.back() != '[') line += ',';
    line += to_json(attempt);
  }
  line += "]}";
  return line;
}

namespace {

// Archives of versions that did not count it: what the job's attempts ran.
void count_run_seconds(std::string_view job_json, ArchivedJob& archived) {
  if (job_json.find("\"run_seconds\":") != std::string_view::npos) return;
  int64_t& ran = archived.job.counters.run_seconds;
  if (archived.job.attempt) ran += archived.job.attempt->ran_seconds();
  for (const Attempt& attempt : archived.earlier) ran += attempt.ran_seconds();
}

}  // namespace

Result<ArchivedJob> job_from_line(std::string_view line) {
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
  count_run_seconds(job_json, archived);
  if (!archived.job.id || archived.job.spec == nullptr) return invalid_argument("no job: no id");
  return archived;
}

}  // namespace hai
