#include "sim/year/year_report.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "sim/trace/trace_report.h"

namespace hai {
namespace {

using Json = nlohmann::ordered_json;

Json quantiles(const Distribution& d) {
  return {{"mean", d.mean}, {"p50", d.p50}, {"p90", d.p90}, {"p99", d.p99}, {"max", d.max}};
}

std::string percent(double share) { return fmt::format("{:.2f} %", share * 100); }

std::string row(std::string_view name, const std::string& value, const std::string& note = "") {
  return note.empty() ? fmt::format("{:<32}{}\n", name, value)
                      : fmt::format("{:<32}{:<12} {}\n", name, value, note);
}

std::string of(int64_t part, int64_t whole) {
  if (whole == 0) return "";
  return fmt::format("{:.2f} % of {}",
                     100.0 * static_cast<double>(part) / static_cast<double>(whole), whole);
}

std::string spread(const Distribution& d) {
  return fmt::format("p50 {}, p90 {}, p99 {}, max {}", human_time(d.p50), human_time(d.p90),
                     human_time(d.p99), human_time(d.max));
}

double share_of(const YearMeasures& m, NodeUseKind kind) {
  return m.shares[static_cast<size_t>(kind)];
}

// Not to be used, though somebody wanted to; `idle` is the scheduler's.
double lost_to_nodes(const YearMeasures& m) {
  return 1 - share_of(m, NodeUseKind::used) - share_of(m, NodeUseKind::idle);
}

Json faults_json(const FaultCounts& f) {
  return {{"xid_74", f.xid_74},
          {"of_programs", f.of_programs},
          {"other", f.other},
          {"crashes", f.crashes},
          {"silent", f.silent},
          {"link_cuts", f.link_cuts},
          {"leaf_outages", f.leaf_outages},
          {"outages", f.outages}};
}

Json nodes_json(const YearMeasures& m) {
  return {{"taken_out", m.doubts},
          {"drains", m.drains},
          {"wrong_drains", m.wrong_drains},
          {"wrongly_drained_nodes", m.wrong_nodes},
          {"hooks", m.hooks},
          {"wrong_hooks", m.wrong_hooks},
          {"services", m.services},
          {"wrong_services", m.wrong_services},
          {"out_s", quantiles(m.out_s)},
          {"out_at_once_max", m.nodes_out_max}};
}

Json validations_json(const YearMeasures& m) {
  return {{"runs", m.validations},
          {"failed", m.validations_failed},
          {"false_alarms", m.false_alarms},
          {"misses", m.misses},
          {"age_days", quantiles(m.validation_age_days)}};
}

std::string node_rows(const YearMeasures& m) {
  return row("nodes taken out", std::to_string(m.doubts),
             "for " + spread(m.out_s) + fmt::format("; {} at once at most", m.nodes_out_max)) +
         row("  of these drained", std::to_string(m.drains)) +
         row("  drained though healthy", std::to_string(m.wrong_drains),
             of(m.wrong_drains, m.drains) + fmt::format(" drains; {} nodes", m.wrong_nodes)) +
         row("resets and reboots", std::to_string(m.hooks),
             fmt::format("{} of healthy nodes", m.wrong_hooks)) +
         row("sent to service", std::to_string(m.services),
             fmt::format("{} healthy ones", m.wrong_services)) +
         row("lemons found", fmt::format("{} of {}", m.lemons_found, m.lemons),
             fmt::format("after p50 {:.0f} d, max {:.0f} d; {} wrongly called one",
                         m.lemon_days.p50, m.lemon_days.max, m.wrong_lemons)) +
         row("validations", std::to_string(m.validations),
             fmt::format("{} failed, {} of them on healthy nodes; {} passed on broken ones",
                         m.validations_failed, m.false_alarms, m.misses)) +
         row("last validated", fmt::format("{:.1f} d ago", m.validation_age_days.p50),
             fmt::format("p99 {:.1f} d, max {:.1f} d", m.validation_age_days.p99,
                         m.validation_age_days.max)) +
         row("incidents", std::to_string(m.node_incidents + m.mass_incidents + m.other_incidents),
             fmt::format("{} of nodes, {} of many at once, {} others; {} open at the end",
                         m.node_incidents, m.mass_incidents, m.other_incidents, m.open_incidents));
}

std::string job_rows(const YearMeasures& m) {
  const LongJobMeasures& job = m.long_job;
  std::string rows;
  if (job.nodes > 0) {
    rows = row(fmt::format("job of {} nodes, effective", job.nodes), percent(job.effective),
               fmt::format("{} interruptions, {} moves{}", job.interruptions, job.moves,
                           job.has_failed ? "; IT HAS FAILED" : "")) +
           row("  fault to running again", human_time(job.back_s.p50), spread(job.back_s));
  }
  return rows +
         row("jobs", std::to_string(m.jobs),
             fmt::format("{} completed, {} failed by themselves, {} wrongly; {} preemptions",
                         m.completed, m.failed_by_themselves, m.failed_wrongly, m.preemptions)) +
         row("interrupted by hardware", std::to_string(m.interruptions)) +
         row("  fault to running again", human_time(m.back_s.p50), spread(m.back_s));
}

}  // namespace

std::string to_json(const YearReport& report) {
  const YearMeasures& m = report.measures;
  Json shares;
  for (size_t i = 0; i < m.shares.size(); ++i) shares[std::string(kNodeUseNames[i])] = m.shares[i];
  Json json = {{"nodes", report.nodes},
               {"gpus_per_node", report.gpus_per_node},
               {"days", m.days},
               {"seed", report.seed},
               {"failures", report.failures},
               {"faults", faults_json(m.faults)},
               {"gpu_time", shares},
               {"lost_to_nodes", lost_to_nodes(m)},
               {"lost_of_jobs",
                {{"stalled", m.stalled},
                 {"redone", m.redone},
                 {"restarting", m.restarting},
                 {"redone_after_notice", m.redone_after_notice}}},
               {"interruptions", m.interruptions},
               {"back_s", quantiles(m.back_s)},
               {"long_job",
                {{"nodes", m.long_job.nodes},
                 {"effective", m.long_job.effective},
                 {"interruptions", m.long_job.interruptions},
                 {"moves", m.long_job.moves},
                 {"has_failed", m.long_job.has_failed},
                 {"back_s", quantiles(m.long_job.back_s)}}},
               {"taken_out", nodes_json(m)},
               {"lemons",
                {{"there_are", m.lemons},
                 {"found", m.lemons_found},
                 {"wrong", m.wrong_lemons},
                 {"days", quantiles(m.lemon_days)}}},
               {"validations", validations_json(m)},
               {"incidents",
                {{"node", m.node_incidents},
                 {"mass", m.mass_incidents},
                 {"other", m.other_incidents},
                 {"open", m.open_incidents}}},
               {"jobs",
                {{"submitted", m.jobs},
                 {"completed", m.completed},
                 {"failed_by_themselves", m.failed_by_themselves},
                 {"failed_wrongly", m.failed_wrongly},
                 {"preemptions", m.preemptions}}},
               {"events", m.events},
               {"digest", fmt::format("{:016x}", m.digest)},
               {"wall_s", report.wall_s},
               {"peak_rss_mb", report.peak_rss_mb}};
  return json.dump(2) + "\n";
}

std::string to_table(const YearReport& report) {
  const YearMeasures& m = report.measures;
  std::string text =
      row("cluster",
          fmt::format("{} nodes of {} GPUs, {:.0f} days, {}", report.nodes, report.gpus_per_node,
                      m.days, report.failures.empty() ? "Fire-Flyer's rates" : report.failures)) +
      row("faults", fmt::format("{} Xid 74, {} other Xids and memory errors, {} Xids of programs",
                                m.faults.xid_74, m.faults.other, m.faults.of_programs)) +
      row("",
          fmt::format("{} link cuts, {} leaf outages, {} crashes, {} without a sign, {} outages",
                      m.faults.link_cuts, m.faults.leaf_outages, m.faults.crashes, m.faults.silent,
                      m.faults.outages)) +
      row("GPU time used", percent(share_of(m, NodeUseKind::used)));
  for (size_t i = 1; i < m.shares.size(); ++i) {
    text += row(fmt::format("  {}", kNodeUseNames[i]), percent(m.shares[i]));
  }
  text += row("lost by nodes", percent(lost_to_nodes(m)), "all but used and idle") +
          row("lost by jobs", percent(m.stalled + m.redone + m.restarting),
              fmt::format("stalled {}, redone {}, restarting {}", percent(m.stalled),
                          percent(m.redone), percent(m.restarting)));
  text += job_rows(m) + node_rows(m);
  return text + row("digest", fmt::format("{:016x}", m.digest),
                    fmt::format("{} events, {:.1f} s, {:.0f} MB", m.events, report.wall_s,
                                report.peak_rss_mb));
}

}  // namespace hai
