#include <fmt/core.h>

#include <algorithm>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/slurm/allotment.h"
#include "cli/slurm/commands.h"
#include "cli/slurm/console.h"
#include "cli/slurm/job_query.h"
#include "cli/slurm/job_steps.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/json_views.h"
#include "cli/slurm/long_format.h"
#include "cli/slurm/map_job.h"
#include "cli/slurm/slurm_time.h"
#include "cli/slurm/submit.h"
#include "cli/slurm/view_values.h"
#include "cli/unknown_filter.h"

namespace hai::cli::slurm {
namespace {

constexpr Command kSqueue = Command::squeue;

std::string default_format(const ParsedWords& words) {
  if (words.has("steps")) return "%.15i %.8j %.9P %.8u %.9M %N";
  if (words.has("start")) return "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %R";
  if (words.has("long")) return "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
  return "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
}

struct Shown {
  std::vector<FormatField> fields;
  std::vector<SortKey> order;

  // %C and %m: what jobs have on their nodes, which follows from what these have.
  bool needs_nodes() const {
    return std::any_of(fields.begin(), fields.end(), [](const FormatField& field) {
      return field.letter == 'C' || field.letter == 'm';
    });
  }

  // Whether it takes what only GetJob knows.
  bool needs_spec() const {
    constexpr std::string_view kOfTheSpec = "lLECm";
    const auto is_of_it = [&](const auto& item) {
      return item.letter != 0 && kOfTheSpec.find(item.letter) != std::string_view::npos;
    };
    return std::any_of(fields.begin(), fields.end(), is_of_it) ||
           std::any_of(order.begin(), order.end(), is_of_it);
  }
};

// -o, -O and what the environment says of them: the last one counts.
Result<Shown> what_to_show(const ParsedWords& words) {
  Shown shown;
  const GivenOption* chosen = nullptr;
  for (const GivenOption& given : words.options) {
    if (given.option->name == "format" || given.option->name == "Format") chosen = &given;
  }
  Result<std::vector<FormatField>> fields =
      chosen == nullptr                  ? parse_format(default_format(words), job_letters())
      : chosen->option->name == "format" ? parse_format(chosen->value, job_letters())
                                         : parse_long_format(chosen->value, job_field_names());
  if (!fields.is_ok() && chosen != nullptr) {
    return option_error(*chosen, fields.status().message());
  }
  RETURN_IF_ERROR(fields.status());
  shown.fields = std::move(fields.value());
  if (const GivenOption* given = words.find("sort")) {
    Result<std::vector<SortKey>> order = parse_sort(given->value, job_letters());
    if (!order.is_ok()) return option_error(*given, order.status().message());
    shown.order = std::move(order.value());
  }
  return shown;
}

// These ids, whatever others are there. One that is not known is an error, as in Slurm.
Result<std::vector<v1::Job>> jobs_by_id(Client& client, const std::string& list,
                                        const JobFilter& filter) {
  std::vector<v1::Job> jobs;
  const Result<std::vector<std::string>> ids = parse_job_ids(list);
  RETURN_IF_ERROR(ids.status());
  for (const std::string& text : ids.value()) {
    const Result<v1::Job> job = named_job(client, text);
    RETURN_IF_ERROR(job.status());
    if (!job.value().has_array()) {
      if (filter.matches(job.value())) jobs.push_back(job.value());
      continue;
    }
    const bool with_ended = filter.any_state || !filter.states.empty();
    const Result<std::vector<v1::Job>> tasks = tasks_of(client, job.value(), with_ended);
    RETURN_IF_ERROR(tasks.status());
    for (const v1::Job& task : tasks.value()) {
      if (filter.matches(task)) jobs.push_back(task);
    }
  }
  return jobs;
}

// Waiting jobs only, with the estimate in place of the start time.
void estimate_starts(Client& client, std::vector<v1::Job>& jobs) {
  std::erase_if(jobs, [](const v1::Job& job) { return state_of(job).code != "PD"; });
  for (v1::Job& job : jobs) {
    v1::WhyJobRequest request;
    request.set_job(std::to_string(job.id()));
    request.set_with_estimate(true);
    const Result<v1::WhyJobReply> why = client.why_job(request);
    if (why.is_ok() && why.value().has_start_p50_us()) {
      job.set_started_at_us(why.value().start_p50_us());
    }
  }
}

// The ids of -s and -j: either may name the jobs, and -s their steps.
std::string ids_of(const ParsedWords& words) {
  const std::string steps = words.value_of("steps");
  return steps.empty() ? words.value_of("jobs") : StepFilter(steps).jobs();
}

Result<std::string> render_steps(Client& client, const ParsedWords& words, const Shown& shown,
                                 const std::vector<v1::Job>& jobs) {
  const UnixTime now = wall_now();
  const StepFilter filter(words.value_of("steps"));
  StepReader reader(client);
  std::vector<std::function<std::string(char)>> rows;
  for (const v1::Job& job : jobs) {
    if (!job.has_running_at_us()) continue;
    for (const StepRecord& step : reader.read(job)) {
      const std::string number = std::to_string(step.number);
      if (!is_running(step, job) || !filter.matches(job, number)) continue;
      rows.emplace_back([step = job_of_step(step, job), number, now](char letter) {
        const std::string value = job_value(step, letter, now);
        return letter == 'i' || letter == 'A' ? value + "." + number : value;
      });
    }
  }
  for (const std::string& line : reader.left_out()) tell(kSqueue, line);
  std::vector<KnownLetter> letters = job_letters();
  for (KnownLetter& letter : letters) {
    if (letter.letter == 'i') letter.title = "STEPID";
  }
  return format_lines(shown.fields, letters, rows, !words.has("noheader"));
}

Result<std::string> render(Client& client, const ParsedWords& words, const Shown& shown,
                           JobFilter filter) {
  Result<std::vector<v1::Job>> jobs = std::vector<v1::Job>{};
  if (const std::string ids = ids_of(words); !ids.empty()) {
    jobs = jobs_by_id(client, ids, filter);
  } else {
    Result<FoundJobs> found = find_jobs(client, filter, shown.needs_spec() || words.has("json"));
    RETURN_IF_ERROR(found.status());
    if (!found.value().left_out.empty()) tell(kSqueue, found.value().left_out);
    jobs = std::move(found.value().jobs);
    if (jobs.value().empty()) {
      for (const std::string& line : unknown_names(client, filter.users, filter.groups)) {
        tell(kSqueue, line);
      }
    }
  }
  RETURN_IF_ERROR(jobs.status());
  if (words.has("start")) estimate_starts(client, jobs.value());
  const UnixTime now = wall_now();
  if (!shown.order.empty()) sort_jobs(jobs.value(), shown.order, now);
  if (words.has("steps")) return render_steps(client, words, shown, jobs.value());
  if (words.has("json")) return jobs_document(jobs.value());
  NodeBook nodes;
  if (shown.needs_nodes()) {
    Result<NodeBook> book = book_of_nodes(client);
    RETURN_IF_ERROR(book.status());
    nodes = std::move(book.value());
  }
  std::vector<std::function<std::string(char)>> rows;
  for (const v1::Job& job : jobs.value()) {
    const Allotment given = allotment_of(job, nodes);
    rows.emplace_back([&job, given, now](char letter) {
      if (letter == 'C' && given.cpus > 0) return std::to_string(given.cpus);
      if (letter == 'm' && given.memory_bytes > 0)
        return fmt::format("{}M", (given.memory_bytes / job.nodes_size()) >> 20);
      return job_value(job, letter, now);
    });
  }
  const bool header = !words.has("noheader");
  std::string text;
  if (words.has("long") && header) text = format_date(to_micros(now)) + "\n";
  return text + format_lines(shown.fields, job_letters(), rows, header);
}

}  // namespace

int run_squeue(Session& session, const Words& words) {
  const Result<ParsedWords> parsed = parse_view_words(kSqueue, words);
  if (!parsed.is_ok()) return usage_error(kSqueue, parsed.status().message());
  const ParsedWords& options = parsed.value();
  if (is_only_asking(kSqueue, options)) return kOk;
  if (!options.operands.empty()) {
    return usage_error(kSqueue,
                       fmt::format("'{}': name jobs with -j", options.operands[0].substr(0, 64)));
  }
  const Result<Shown> shown = what_to_show(options);
  if (!shown.is_ok()) return usage_error(kSqueue, shown.status().message());
  std::vector<std::string> states;
  if (const GivenOption* given = options.find("states")) {
    const auto codes = parse_states(given->value);
    if (!codes.is_ok())
      return usage_error(kSqueue, option_error(*given, codes.status().message()).message());
    states = codes.value();
  }
  const Status ids = parse_job_ids(ids_of(options)).status();
  if (!ids.is_ok()) return usage_error(kSqueue, ids.message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kSqueue, client.status());
  Result<JobFilter> filter = read_filter(*client.value(), options);
  if (!filter.is_ok()) return fail(kSqueue, filter.status());
  filter.value().states = states;
  filter.value().any_state = options.has("states") && states.empty();
  const Result<std::string> text = render(*client.value(), options, shown.value(), filter.value());
  if (!text.is_ok()) return fail(kSqueue, text.status());
  print(text.value());
  return kOk;
}

}  // namespace hai::cli::slurm
