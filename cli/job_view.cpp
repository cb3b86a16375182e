#include "cli/job_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/format.h"
#include "cli/table.h"
#include "common/count_of.h"
#include "common/hostlist.h"
#include "common/job_spec.h"

namespace hai::cli {
namespace {

std::string gpus_text(const v1::Job& job) {
  if (job.gpus_per_node() == kNoGpus) return "none";
  return job.gpus_per_node() == 0 ? "node" : std::to_string(job.gpus_per_node());
}

std::string state_text(const v1::Job& job) {
  return job.held() ? job.state() + " (held)" : job.state();
}

std::string array_text(const v1::ArrayJob& array) {
  std::string text =
      fmt::format("{}: {}, {} unfinished, {} succeeded", array.range(),
                  count_of(array.tasks(), "task"), array.unfinished(), array.succeeded());
  if (array.failed() > 0) text += fmt::format(", {} failed", array.failed());
  if (array.stopped() > 0) text += fmt::format(", {} stopped", array.stopped());
  if (array.made() < array.tasks()) {
    text += fmt::format(", {} still to come", array.tasks() - array.made());
  }
  return text;
}

// "" before its first start.
std::string run_time(const v1::Job& job, UnixTime now) {
  return job.has_started_at_us() ? short_duration(time_run(job, now)) : "";
}

// "whole", "no GPUs" or "4 GPUs each".
std::string size_text(const v1::Job& job) {
  if (job.gpus_per_node() == kNoGpus) return "no GPUs";
  return job.gpus_per_node() == 0 ? "whole" : count_of(job.gpus_per_node(), "GPU") + " each";
}

// " with 8 CPUs and 64G of memory each"; "" where the job takes what comes with its GPUs.
std::string cpus_and_memory(const v1::JobSpec& spec) {
  std::vector<std::string> parts;
  if (spec.cpus_per_node() > 0) parts.push_back(count_of(spec.cpus_per_node(), "CPU"));
  if (spec.memory_per_node_bytes() > 0)
    parts.push_back(short_bytes(spec.memory_per_node_bytes()) + " of memory");
  return parts.empty() ? "" : ", " + join(parts, " and ") + " each";
}

std::string nodes_text(const v1::Job& job) {
  return format_hostlist({job.nodes().begin(), job.nodes().end()});
}

// Why it waits, where it runs, or how it ended.
std::string note(const v1::Job& job) {
  if (job.has_pending_reason()) return job.pending_reason().text();
  if (!job.end_reason().empty()) return job.end_reason();
  return nodes_text(job);
}

// "0-7": GPUs as a host list without names.
std::string numbers_text(const std::vector<std::string>& numbers) {
  std::string text = format_hostlist(numbers);
  std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
  return text;
}

std::string time_text(bool known, int64_t micros) { return known ? local_time(micros) : "-"; }

struct Card {
  const Terminal& terminal;
  std::string text;

  void add(std::string_view key, std::string_view value, Colour colour = Colour::none) {
    if (value.empty()) return;
    text += fmt::format("{:<13} {}\n", key, paint(printable(value), colour, terminal));
  }
};

// One that was ended for its node's sake has failed without an exit code of its own.
std::string exit_text(const v1::Attempt& attempt) {
  const bool has_none = attempt.state() == "failed" && attempt.exit_code() == 0;
  return attempt.has_exit_code() && !has_none ? std::to_string(attempt.exit_code()) : "";
}

std::string attempts_table(const std::vector<v1::Attempt>& attempts, UnixTime now,
                           const Terminal& terminal) {
  Table table({{"ATTEMPT", true},
               {"STATE"},
               {.title = "PLACED", .spare = 1},
               {"TIME", true},
               {"EXIT", true},
               {"NODES", false, true, 10},
               {"END", false, true, 20}});
  for (const v1::Attempt& attempt : attempts) {
    std::vector<std::string> nodes;
    for (const v1::RankInfo& rank : attempt.ranks()) nodes.push_back(rank.node());
    const UnixTime end = attempt.has_ended_at_us() ? unix_micros(attempt.ended_at_us()) : now;
    table.add_row({std::to_string(attempt.number()),
                   {attempt.state(), colour_of(attempt.state())},
                   local_time(attempt.placed_at_us()),
                   short_duration(end - unix_micros(attempt.placed_at_us())),
                   exit_text(attempt),
                   format_hostlist(nodes),
                   attempt.end_reason()});
  }
  return table.is_empty() ? "" : "\n" + table.render(terminal);
}

void add_progress(const v1::Job& job, UnixTime now, Card& card) {
  if (job.has_progress_step()) card.add("progress", fmt::format("step {}", job.progress_step()));
  if (job.has_checkpoint()) {
    const v1::Checkpoint& last = job.checkpoint();
    card.add("checkpoint", fmt::format("step {}, {} ago, {} (took {:.1f}s)", last.step(),
                                       short_duration(now - unix_micros(last.at_us())), last.path(),
                                       last.save_seconds()));
  }
  if (job.has_whole_life_state()) card.add("life state", job.whole_life_state());
  if (job.has_peak_memory_bytes()) {
    card.add("used", fmt::format("{} of CPU time; {} in the largest process",
                                 short_duration(job.cpu_seconds() * Duration(1s)),
                                 short_bytes(job.peak_memory_bytes())));
  }
  if (job.suspend_count() + job.requeue_count() > 0 || job.lost_gpu_seconds() > 0) {
    card.add("interrupted", fmt::format("{} suspended, {} requeued, {} lost",
                                        count_of(job.suspend_count(), "time"),
                                        count_of(job.requeue_count(), "time"),
                                        count_of(job.lost_gpu_seconds(), "GPU second")));
  }
}

// Why an earlier attempt of one that goes on came to its end; the table may have to cut it.
void add_last_end(const v1::Job& job, const std::vector<v1::Attempt>& attempts, Card& card) {
  if (job.has_ended_at_us() || !job.end_reason().empty()) return;
  const v1::Attempt* last = nullptr;
  for (const v1::Attempt& attempt : attempts) {
    if (!attempt.has_ended_at_us() || attempt.end_reason().empty()) continue;
    if (last == nullptr || attempt.number() > last->number()) last = &attempt;
  }
  if (last == nullptr) return;
  card.add("before",
           fmt::format("attempt {} {}: {}", last->number(), last->state(), last->end_reason()));
}

}  // namespace

bool is_held_by_somebody(const v1::Job& job) {
  return job.held() && job.pending_reason().code() != "array";
}

std::string job_number(const v1::Job& job) {
  if (!job.has_array_task()) return std::to_string(job.id());
  return fmt::format("{}_{}", job.array_task().array(), job.array_task().index());
}

Duration time_run(const v1::Job& job, UnixTime now) {
  Duration ran = std::chrono::seconds(job.run_seconds());
  if (job.has_running_at_us()) ran += std::max(Duration(0), now - unix_micros(job.running_at_us()));
  return ran;
}

std::string job_table(const std::vector<v1::Job>& jobs, const JobTableOptions& options,
                      const Terminal& terminal) {
  std::vector<Column> columns = {{"ID", true},
                                 {"NAME", false, true, 10},
                                 {.title = "USER", .spare = 1},
                                 {"PRIORITY"},
                                 {"STATE"},
                                 {"NODES", true},
                                 {.title = "GPUS", .right = true, .spare = 2},
                                 {.title = "SUBMITTED", .spare = 3},
                                 {"TIME", true}};
  if (options.wide) {
    const std::vector<Column> more = {{"GROUP"},          {"ATTEMPT", true}, {"SUSPENDS", true},
                                      {"REQUEUES", true}, {"EXIT", true},    {"TAGS", false, true}};
    columns.insert(columns.end(), more.begin(), more.end());
  }
  columns.push_back({"NOTE", false, true, 16});
  Table table(columns);
  for (const v1::Job& job : jobs) {
    std::vector<Cell> row = {job_number(job),
                             job.name(),
                             job.user(),
                             job.priority(),
                             {state_text(job), colour_of(job.state())},
                             std::to_string(job.node_count()),
                             gpus_text(job),
                             short_time(job.submitted_at_us(), options.now),
                             run_time(job, options.now)};
    if (options.wide) {
      row.emplace_back(job.group());
      row.emplace_back(std::to_string(job.attempt()));
      row.emplace_back(std::to_string(job.suspend_count()));
      row.emplace_back(std::to_string(job.requeue_count()));
      row.emplace_back(job.has_exit_code() ? std::to_string(job.exit_code()) : "");
      row.emplace_back(join({job.tags().begin(), job.tags().end()}, ","));
    }
    row.emplace_back(note(job));
    table.add_row(std::move(row));
  }
  // Whoever asks for all columns wants to read them.
  Terminal paper = terminal;
  if (options.wide) paper.width = 0;
  return table.render(paper);
}

// "jupyter at https://hai:7781/jobs/17/jupyter/"; what no browser reaches, `hai forward` does.
static std::string service_text(const v1::JobService& service, const std::string& services_url) {
  if (service.has_path() && !services_url.empty())
    return fmt::format("{} at {}{}", service.name(), services_url, service.path());
  return fmt::format("{}, port {} of rank {}", service.name(), service.port(), service.rank());
}

std::string job_card(const v1::Job& job, const std::vector<v1::Attempt>& attempts, UnixTime now,
                     const Terminal& terminal, const std::string& services_url) {
  Card card{terminal, ""};
  card.add("job", fmt::format("{} {}", job.id(), job.name()), Colour::bold);
  if (job.has_array_task()) {
    card.add("task",
             fmt::format("{} of array {}", job.array_task().index(), job.array_task().array()));
  }
  if (job.has_array()) card.add("array", array_text(job.array()));
  card.add("state", state_text(job), colour_of(job.state()));
  const bool is_told = job.has_array() && job.pending_reason().code() == "array";
  if (job.has_pending_reason() && !is_told) {
    card.add("waits for",
             fmt::format("{} ({})", job.pending_reason().text(), job.pending_reason().code()));
  }
  card.add(job.has_ended_at_us() ? "ended with" : "interruption", job.end_reason());
  if (job.has_exit_code()) card.add("exit code", std::to_string(job.exit_code()));
  card.add("user", job.user());
  card.add("priority", job.priority());
  const std::string zone = job.zone().empty() ? "" : ", zone " + job.zone();
  card.add("asks for", fmt::format("{} of {}{}, {}{}", count_of(job.node_count(), "node"),
                                   job.group(), zone, size_text(job), cpus_and_memory(job.spec())));
  card.add("submitted", local_time(job.submitted_at_us()));
  card.add("started", time_text(job.has_started_at_us(), job.started_at_us()));
  if (job.has_ended_at_us()) card.add("ended", local_time(job.ended_at_us()));
  card.add("run time", run_time(job, now));
  if (job.attempt() > 0) {
    card.add("attempt", fmt::format("{} {}", job.attempt(), job.attempt_state()));
  }
  card.add("nodes", nodes_text(job));
  for (const v1::JobService& service : job.services())
    card.add("service", service_text(service, services_url));
  add_progress(job, now, card);
  add_last_end(job, attempts, card);
  card.add("workspace", job.workspace());
  // No job is without a program: what is not told is not for who asks.
  card.add("runs",
           job.entrypoint().empty()
               ? fmt::format("(shown to {}, who shares a user group, and operators)", job.user())
               : job.entrypoint() + (job.parameters().empty() ? "" : " " + job.parameters()));
  card.add("tags", join({job.tags().begin(), job.tags().end()}, ", "));
  return card.text + attempts_table(attempts, now, terminal);
}

std::string gpus_text(const v1::RankInfo& rank) {
  std::vector<std::string> gpus;
  for (const int gpu : rank.gpus()) gpus.push_back(std::to_string(gpu));
  return numbers_text(gpus);
}

std::string ranks_table(const v1::Attempt& attempt, const Terminal& terminal) {
  Table table(
      {{"RANK", true}, {"NODE"}, {"GPUS"}, {"PHASE"}, {"EXIT", true}, {"MESSAGE", false, true}});
  for (const v1::RankInfo& rank : attempt.ranks()) {
    table.add_row({std::to_string(rank.rank()),
                   rank.node(),
                   gpus_text(rank),
                   {rank.phase().empty() ? "placed" : rank.phase(), colour_of(rank.phase())},
                   rank.has_exit_code() ? std::to_string(rank.exit_code()) : "",
                   rank.message()});
  }
  return table.is_empty() ? "" : table.render(terminal);
}

}  // namespace hai::cli
