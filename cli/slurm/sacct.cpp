#include <fmt/core.h>

#include <algorithm>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/slurm/commands.h"
#include "cli/slurm/console.h"
#include "cli/slurm/job_plan.h"
#include "cli/slurm/job_query.h"
#include "cli/slurm/job_steps.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/json_views.h"
#include "cli/slurm/map_job.h"
#include "cli/slurm/sacct_fields.h"
#include "cli/slurm/slurm_time.h"
#include "cli/slurm/submit.h"
#include "cli/slurm/view_values.h"

namespace hai::cli::slurm {
namespace {

constexpr Command kSacct = Command::sacct;
// Reading those of a job is a question to its node.
constexpr size_t kJobsWithSteps = 100;

std::string sacct_format(const ParsedWords& words) {
  if (words.has("format")) return words.value_of("format");
  if (words.has("brief")) return "JobID,State,ExitCode";
  return "JobID,JobName,Partition,Account,State,ExitCode";
}

// Since midnight, unless ids or a time say otherwise.
Result<Period> period_of(const ParsedWords& words, UnixTime now) {
  Period period;
  const std::pair<const char*, int64_t*> kEnds[] = {{"starttime", &period.start_us},
                                                    {"endtime", &period.end_us}};
  for (const auto& [name, into] : kEnds) {
    const GivenOption* given = words.find(name);
    if (given == nullptr) continue;
    const Result<UnixTime> time = parse_begin_time(given->value, now);
    if (!time.is_ok()) return option_error(*given, time.status().message());
    // A clock time without a date is the last one that was, not the next one that will be.
    const bool is_next = time.value() > now && given->value.find('-') == std::string::npos &&
                         !given->value.starts_with("now");
    *into = to_micros(is_next ? time.value() - 24h : time.value());
  }
  if (!words.has("starttime") && !words.has("jobs")) {
    period.start_us = to_micros(parse_begin_time("midnight", now).value() - 24h);
  }
  return period;
}

bool asks_for(const std::vector<AccountField>& fields, std::initializer_list<const char*> titles) {
  return std::any_of(fields.begin(), fields.end(), [&](const AccountField& field) {
    return std::find(titles.begin(), titles.end(), field.title) != titles.end();
  });
}

// Whether it takes what only GetJob knows.
bool needs_specs(const ParsedWords& words, const std::vector<AccountField>& fields) {
  return !words.has("allocations") || words.has("json") ||
         asks_for(fields, {"Timelimit", "AllocTRES", "ReqTRES", "AllocCPUS", "NCPUS", "ReqCPUS",
                           "ReqMem", "CPUTime", "CPUTimeRAW"});
}

// An array's spec without the variables that no field shows: there may be many tasks.
v1::JobSpec spec_of_tasks(const v1::Job& array) {
  v1::JobSpec spec = array.spec();
  spec.clear_environments();
  const auto plan = array.spec().environments().find(kPlanVariable);
  if (plan != array.spec().environments().end()) {
    (*spec.mutable_environments())[plan->first] = plan->second;
  }
  return spec;
}

// Several ids with commas; unknown ones are left out, as Slurm does.
Result<std::vector<v1::Job>> jobs_by_id(Client& client, const ParsedWords& words,
                                        const JobFilter& filter, bool with_specs) {
  std::vector<v1::Job> jobs;
  const StepFilter named(words.value_of("jobs"));
  const Result<std::vector<std::string>> ids = parse_job_ids(named.jobs());
  RETURN_IF_ERROR(ids.status());
  for (const std::string& id : ids.value()) {
    v1::GetJobRequest request;
    request.set_job(id);
    const Result<v1::Job> job = client.get_job(request);
    if (job.status().code() == Code::not_found) continue;
    RETURN_IF_ERROR(job.status());
    Result<std::vector<v1::Job>> lines = std::vector<v1::Job>{job.value()};
    if (job.value().has_array()) lines = tasks_of(client, job.value(), true);
    RETURN_IF_ERROR(lines.status());
    const bool lends_spec = with_specs && job.value().has_array() && job.value().has_spec();
    const v1::JobSpec spec = lends_spec ? spec_of_tasks(job.value()) : v1::JobSpec{};
    for (const v1::Job& line : lines.value()) {
      if (!filter.matches(line)) continue;
      jobs.push_back(line);
      if (lends_spec && !line.has_spec()) *jobs.back().mutable_spec() = spec;
    }
  }
  return jobs;
}

struct Question {
  std::vector<AccountField> fields;
  std::vector<std::string> states;
  Period period;
};

Result<Question> understand_sacct(const ParsedWords& words) {
  Question question;
  if (!words.operands.empty()) {
    return invalid_argument("'{}': name jobs with -j", words.operands[0].substr(0, 64));
  }
  Result<std::vector<AccountField>> fields = parse_account_fields(sacct_format(words));
  RETURN_IF_ERROR(fields.status());
  question.fields = std::move(fields.value());
  if (const GivenOption* given = words.find("state")) {
    const auto states = parse_states(given->value);
    if (!states.is_ok()) return option_error(*given, states.status().message());
    question.states = states.value();
  }
  RETURN_IF_ERROR(parse_job_ids(StepFilter(words.value_of("jobs")).jobs()).status());
  const Result<Period> period = period_of(words, wall_now());
  RETURN_IF_ERROR(period.status());
  question.period = period.value();
  return question;
}

Result<std::vector<v1::Job>> find(Client& client, const ParsedWords& words,
                                  const Question& question) {
  Result<JobFilter> filter = read_filter(client, words);
  RETURN_IF_ERROR(filter.status());
  filter.value().states = question.states;
  filter.value().any_state = true;
  const bool is_mine = filter.value().users.empty() && !words.has("allusers") && !words.has("jobs");
  if (is_mine) {
    const Result<v1::WhoAmIReply> who = client.who_am_i({});
    RETURN_IF_ERROR(who.status());
    filter.value().users = {who.value().user()};
  }
  const bool with_specs = needs_specs(words, question.fields);
  Result<std::vector<v1::Job>> jobs = std::vector<v1::Job>{};
  if (words.has("jobs")) {
    jobs = jobs_by_id(client, words, filter.value(), with_specs);
  } else {
    Result<FoundJobs> found = find_jobs(client, filter.value(), with_specs, question.period);
    RETURN_IF_ERROR(found.status());
    if (!found.value().left_out.empty()) tell(kSacct, found.value().left_out);
    jobs = std::move(found.value().jobs);
  }
  RETURN_IF_ERROR(jobs.status());
  std::erase_if(jobs.value(), [&](const v1::Job& job) { return !was_there(question.period, job); });
  return jobs;
}

}  // namespace

int run_sacct(Session& session, const Words& words) {
  const Result<ParsedWords> parsed = parse_view_words(kSacct, words);
  if (!parsed.is_ok()) return usage_error(kSacct, parsed.status().message());
  const ParsedWords& options = parsed.value();
  if (is_only_asking(kSacct, options)) return kOk;
  if (options.has("helpformat")) {
    print(known_account_fields());
    return kOk;
  }
  const Result<Question> question = understand_sacct(options);
  if (!question.is_ok()) return usage_error(kSacct, question.status().message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kSacct, client.status());
  Result<std::vector<v1::Job>> jobs = find(*client.value(), options, question.value());
  if (!jobs.is_ok()) return fail(kSacct, jobs.status());
  const std::vector<AccountField>& fields = question.value().fields;
  const bool needs_attempts =
      options.has("json") || asks_for(fields, {"NodeList", "AllocTRES", "ReqTRES", "AllocCPUS",
                                               "NCPUS", "CPUTime", "CPUTimeRAW"});
  Result<NodeBook> nodes = NodeBook{};
  if (needs_attempts) nodes = book_of_nodes(*client.value());
  if (!nodes.is_ok()) return fail(kSacct, nodes.status());
  const bool with_steps = !options.has("allocations");
  const StepFilter filter(options.value_of("jobs"));
  StepReader steps(*client.value());
  size_t left = jobs.value().size();
  std::vector<AccountRow> rows;
  for (v1::Job& job : jobs.value()) {
    std::optional<Allotment> given;
    if (needs_attempts) given = fill_from_attempt(*client.value(), nodes.value(), job);
    const bool is_asked = with_steps && (options.has("jobs") || left <= kJobsWithSteps);
    --left;
    const std::vector<StepRecord> known = is_asked ? steps.read(job) : std::vector<StepRecord>{};
    for (AccountRow& row : account_rows(job, given, with_steps, known)) {
      const bool is_wanted = options.has("json") || filter.matches(job, row.step);
      if (is_wanted) rows.push_back(std::move(row));
    }
  }
  for (const std::string& line : steps.left_out()) tell(kSacct, line);
  if (with_steps && !options.has("jobs") && jobs.value().size() > kJobsWithSteps) {
    tell(kSacct, fmt::format("steps are shown of the last {} jobs only; name others with -j",
                             kJobsWithSteps));
  }
  if (options.has("json")) {
    print(accounts_document(rows, wall_now()));
    return kOk;
  }
  AccountStyle style = {.header = !options.has("noheader")};
  style.ends_with_delimiter = options.has("parsable");
  if (options.has("parsable") || options.has("parsable2")) {
    style.delimiter = options.has("delimiter") ? options.value_of("delimiter") : "|";
  }
  print(format_accounts(rows, fields, style, wall_now()));
  return kOk;
}

}  // namespace hai::cli::slurm
