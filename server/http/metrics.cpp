#include "server/http/metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "common/version.h"
#include "server/api/admission.h"
#include "server/api/advisor.h"
#include "server/api/audit_trail.h"
#include "server/api/certificate_watch.h"
#include "server/api/event_feed.h"
#include "server/api/log_router.h"
#include "server/api/observatory.h"
#include "server/api/request_meter.h"
#include "server/api/stored_logs.h"
#include "server/control/sessions.h"
#include "server/http/event_hub.h"
#include "server/http/metrics_page.h"

namespace hai {

namespace {

using prometheus::MetricType;

double seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

template <typename Bounds, typename Counts>
SecondsHistogram histogram_of(const Bounds& bounds, const Counts& counts, Duration total) {
  std::vector<double> in_seconds;
  for (const auto& bound : bounds) in_seconds.push_back(seconds(bound));
  return SecondsHistogram(std::move(in_seconds), {counts.begin(), counts.end()}, seconds(total));
}

void add_cluster(MetricsPage& page, const HttpParts& parts) {
  const std::string name;
  const ClusterSummary& summary =
      parts.observatory.summary({parts.controller.state(), parts.controller.soft_facts(), name});
  page.gauges("hai_gpus", "GPUs by use", "use",
              std::map<std::string, int>{{"used", summary.gpus_working()},
                                         {"free", summary.view.gpus_free},
                                         {"reserved", summary.gpus_reserved},
                                         {"draining", summary.gpus_draining},
                                         {"broken", summary.gpus_not_up()}});
  page.gauges("hai_nodes", "Nodes by liveness", "liveness", summary.view.nodes_by_liveness);
  page.gauges("hai_nodes_scheduling", "Nodes by scheduling state", "scheduling",
              summary.view.nodes_by_scheduling);
  page.gauges("hai_jobs",
              "Jobs in memory by state, an unfinished array as its tasks, also those to come; old "
              "finished ones are only in the store",
              "state", summary.view.jobs_by_state);
  page.gauge("hai_jobs_waiting", "Jobs that wait to run: queued and suspended ones",
             static_cast<double>(summary.jobs("queued") + summary.jobs("suspended")));
  std::map<std::string, int64_t> pending;
  for (const auto& [reason, sum] : parts.observatory.census().last().waiting_by_reason) {
    pending[reason] = sum.jobs;
  }
  page.gauges("hai_job_pending", "Jobs that wait, by reason", "reason", pending);
  page.gauge("hai_incidents_open", "Incidents that an operator should look at",
             static_cast<double>(parts.controller.state().incidents().size()));
  page.counters("hai_gpu_seconds_total", "GPU time by use, sampled while this server led", "use",
                parts.observatory.gpu_seconds());
}

void add_events(MetricsPage& page, const EventMeter& meter) {
  page.counters("hai_sched_decisions_total", "Decisions of the planner", "kind", meter.decisions);
  page.counter("hai_jobs_submitted_total", "Jobs taken", static_cast<double>(meter.submitted));
  page.counters("hai_jobs_finished_total", "Jobs that ended, by state", "state", meter.finished);
  page.counters("hai_preemptions_total", "Attempts asked to save and leave, by why", "reason",
                meter.preemptions);
  page.counters("hai_requeues_total", "Attempts that failed and run again, by cause", "cause",
                meter.requeues);
  page.counters("hai_lost_gpu_seconds_total",
                "GPU time of work after the last checkpoint that has to be done again, by outcome",
                "outcome", meter.lost_gpu_seconds);
  page.counter("hai_attempt_gpu_seconds_total", "GPU time of attempts that ended",
               static_cast<double>(meter.gpu_seconds));
  page.counters("hai_health_check_failures_total", "News of failing checks of nodes, by check",
                "check", meter.check_failures);
  page.histograms("hai_job_wait_seconds", "From waiting to running, by number of nodes", "nodes",
                  meter.waits);
  page.histogram("hai_suspend_seconds", "From being asked to leave to having left", meter.suspends);
}

void add_controller(MetricsPage& page, const Controller& controller) {
  const ControllerStats& stats = controller.stats();
  const auto count = [](int64_t value) { return static_cast<double>(value); };
  page.counter("hai_controller_turns_total", "Turns of the controller", count(stats.turns));
  page.counter("hai_controller_inputs_total", "Commands, reports and ticks taken in",
               count(stats.inputs));
  page.gauge("hai_controller_inbox", "Inputs that wait for the next turn",
             static_cast<double>(controller.waiting_inputs()));
  page.counter("hai_controller_events_total", "Events made durable", count(stats.events));
  page.counter("hai_controller_orders_total", "Orders sent to agents", count(stats.orders));
  page.counter("hai_controller_reports_total", "Reports of agents", count(stats.reports));
  page.counter("hai_controller_step_downs_total", "Times leadership was lost or given up",
               count(stats.step_downs));
  page.histogram(
      "hai_sched_cycle_seconds", "Length of planning passes",
      histogram_of(ControllerStats::kPassBounds, stats.pass_lengths, stats.passes_total));
  page.histogram("hai_append_seconds", "Length of the transactions that wrote events",
                 histogram_of(ControllerStats::kAppendBounds, stats.appends, stats.appends_total));
  page.counter("hai_failovers_total", "Terms of leadership this server has won",
               count(stats.terms));
  page.gauge("hai_store_unavailable_seconds",
             "How long the database has not answered this server; 0 when it does",
             seconds(controller.store_unavailable()));
  page.gauge("hai_clock_ahead_of_database_seconds",
             "By how much this server's wall clock was ahead of the database's when it last led;"
             " less than 0: behind",
             seconds(controller.ahead_of_store()));
}

void add_estimates(MetricsPage& page, const EstimateCalibration& calibration) {
  page.counter("hai_eta_observed_total", "Starts that had an estimate made before",
               static_cast<double>(calibration.observed()));
  page.family(MetricType::Counter, "hai_eta_kept_total", "Of those, the ones within the estimate",
              {{{{"estimate", "p90"}}, static_cast<double>(calibration.hits())}});
}

// The longest silence first: ages of what agents last said, of nodes that count as up.
void add_heartbeats(MetricsPage& page, const HttpParts& parts) {
  const Sessions& sessions = *parts.controller.soft_facts().sessions;
  std::vector<double> ages;
  for (const auto& [id, node] : parts.controller.state().nodes()) {
    if (node.liveness != Liveness::up) continue;
    ages.push_back(std::max(0.0, seconds(parts.loop.now() - sessions.contact(id))));
  }
  if (ages.empty()) return;
  std::ranges::sort(ages);
  const auto at = [&ages](double share) {
    return ages[static_cast<size_t>(share * static_cast<double>(ages.size() - 1))];
  };
  page.family(MetricType::Gauge, "hai_agent_heartbeat_age_seconds",
              "How long ago nodes that are up were heard, over the nodes",
              {{{{"of", "p50"}}, at(0.5)}, {{{"of", "p99"}}, at(0.99)}, {{{"of", "max"}}, at(1)}});
}

void add_rpc(MetricsPage& page, const HttpParts& parts) {
  std::vector<std::pair<MetricsPage::Labels, double>> calls;
  for (const auto& [key, count] : parts.calls.requests()) {
    const auto& [method, name, code] = key;
    calls.push_back({{{"method", name}, {"code", code}}, static_cast<double>(count)});
  }
  page.family(MetricType::Counter, "hai_rpc_total", "Calls through gRPC answered", calls);
  page.histograms("hai_rpc_seconds", "From a call through gRPC to its answer, by method", "method",
                  parts.calls.seconds());
  page.gauge("hai_calls_under_way", "Calls of people and tools that have no answer yet",
             static_cast<double>(parts.admission.under_way()));
  page.counter("hai_calls_refused_total", "Calls refused because too many were under way",
               static_cast<double>(parts.admission.refused()));
  page.counter("hai_log_bytes_total", "Bytes of jobs' logs fetched from agents",
               static_cast<double>(parts.logs.bytes()));
}

void add_log_store(MetricsPage& page, const StoredLogs& stored) {
  const StoredLogsStats& stats = stored.stats();
  const auto count = [](int64_t value) { return static_cast<double>(value); };
  page.gauge("hai_log_store_failing", "1 if the log store cannot be used by this server",
             stats.is_failing ? 1 : 0);
  page.gauge("hai_log_store_logs", "Logs of ranks in the log store, at this server's last sweep",
             count(stats.kept.logs));
  page.gauge("hai_log_store_bytes", "What they take there", count(stats.kept.bytes));
  page.counter("hai_log_store_deleted_total", "Logs deleted for their age or their user's limit",
               count(stats.kept.logs_deleted));
  page.counter("hai_log_store_reads_total", "Reads of logs whose node could not give them",
               count(stats.reads));
  page.counter("hai_log_store_read_failures_total", "Of those, the ones the storage failed",
               count(stats.reads_failed));
}

void add_http(MetricsPage& page, const HttpParts& parts) {
  std::vector<std::pair<MetricsPage::Labels, double>> requests;
  for (const auto& [key, count] : parts.requests.requests()) {
    const auto& [method, route, code] = key;
    requests.push_back(
        {{{"method", method}, {"route", route}, {"code", code}}, static_cast<double>(count)});
  }
  page.family(MetricType::Counter, "hai_http_requests_total", "Requests answered", requests);
  page.histograms("hai_http_seconds", "From a request to its answer, by route", "route",
                  parts.requests.seconds());
  page.gauge("hai_event_watches", "Readers that wait for events through gRPC",
             static_cast<double>(parts.queries.feed().watch_count()));
  page.gauge("hai_event_streams", "Readers of the stream of events over HTTP",
             static_cast<double>(parts.events.watcher_count()));
  page.counter("hai_event_streams_cut_total", "Streams that were cut off, mostly of slow readers",
               static_cast<double>(parts.events.cut_count()));
}

void add_audit(MetricsPage& page, const HttpParts& parts) {
  page.counter("hai_audit_lost_total",
               "Entries of the audit log that were lost because the database took none",
               static_cast<double>(parts.audit.lost()));
  if (!parts.audit_backlog) return;
  page.gauges("hai_audit_not_exported",
              "Entries of the audit log that its file or syslog lacks so far", "to",
              parts.audit_backlog());
}

void add_certificates(MetricsPage& page, const HttpParts& parts) {
  const std::map<std::string, CertificateFacts> found = parts.certificates->read();
  if (found.empty()) return;
  std::map<std::string, double> left;
  std::map<std::string, double> notice;
  for (const auto& [of, facts] : found) {
    left[of] = seconds(facts.ends - parts.loop.wall_now());
    notice[of] = seconds(renewal_notice(facts));
  }
  page.gauges("hai_certificate_seconds_left",
              "How long the certificates in this server's files still hold; less than 0: ended",
              "of", left);
  page.gauges("hai_certificate_notice_seconds",
              "With how much left they should have been replaced: 30 days, or a quarter of a life"
              " that is shorter",
              "of", notice);
}

// The names every Prometheus client uses for its process.
void add_process(MetricsPage& page) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  page.counter("process_cpu_seconds_total", "CPU time of this server",
               of(usage.ru_utime) + of(usage.ru_stime));
  long pages = 0;
  if (FILE* statm = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(statm, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(statm);
  }
  page.gauge("process_resident_memory_bytes", "Memory of this server",
             static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  int files = 0;
  if (DIR* folder = opendir("/proc/self/fd")) {
    while (readdir(folder) != nullptr) ++files;
    closedir(folder);
  }
  page.gauge("process_open_fds", "Open files and connections of this server", files);
}

}  // namespace

std::string metrics_text(const HttpParts& parts) {
  const Controller& controller = parts.controller;
  MetricsPage page;
  page.gauges("hai_build_info", "1, with the version", "version",
              std::map<std::string, int>{{std::string(version()), 1}});
  page.gauge("hai_leader", "1 if this server leads", controller.is_leading() ? 1 : 0);
  page.gauge("hai_epoch", "Epoch this server knows",
             static_cast<double>(controller.state().epoch().value));
  page.gauge("hai_agent_connections", "Connected agents", static_cast<double>(parts.agent_count()));
  // A standby knows nothing of the cluster, and zeros would look like knowledge.
  if (controller.is_leading()) {
    add_cluster(page, parts);
    add_heartbeats(page, parts);
  }
  add_events(page, parts.observatory.events());
  add_controller(page, controller);
  add_estimates(page, parts.advisor.estimates().calibration());
  add_rpc(page, parts);
  if (parts.logs.stored() != nullptr) add_log_store(page, *parts.logs.stored());
  add_http(page, parts);
  add_audit(page, parts);
  if (parts.certificates != nullptr) add_certificates(page, parts);
  add_process(page);
  return page.text();
}

}  // namespace hai
