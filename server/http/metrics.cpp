#include "server/http/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>

#include "common/version.h"
#include "server/api/event_feed.h"

namespace hai {

namespace {

using Family = prometheus::MetricFamily;
using prometheus::ClientMetric;
using prometheus::MetricType;

double seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

class MetricsPage {
 public:
  void gauge(const std::string& name, const std::string& help, double value) {
    ClientMetric metric;
    metric.gauge.value = value;
    families_.push_back(Family{name, help, MetricType::Gauge, {metric}});
  }

  void counter(const std::string& name, const std::string& help, int64_t value) {
    ClientMetric metric;
    metric.counter.value = static_cast<double>(value);
    families_.push_back(Family{name, help, MetricType::Counter, {metric}});
  }

  void histogram(const std::string& name, const std::string& help, const ControllerStats& stats) {
    ClientMetric metric;
    uint64_t count = 0;
    for (size_t i = 0; i < stats.appends.size(); ++i) {
      count += static_cast<uint64_t>(stats.appends[i]);
      const double bound = i < ControllerStats::kAppendBounds.size()
                               ? seconds(ControllerStats::kAppendBounds[i])
                               : std::numeric_limits<double>::infinity();
      metric.histogram.bucket.push_back({count, bound});
    }
    metric.histogram.sample_count = count;
    metric.histogram.sample_sum = seconds(stats.appends_total);
    families_.push_back(Family{name, help, MetricType::Histogram, {metric}});
  }

  // One gauge per word of a label.
  template <typename Counts>
  void gauges(const std::string& name, const std::string& help, const std::string& label,
              const Counts& counts) {
    Family family{name, help, MetricType::Gauge, {}};
    for (const auto& [word, count] : counts) {
      ClientMetric metric;
      metric.label = {{label, word}};
      metric.gauge.value = static_cast<double>(count);
      family.metric.push_back(metric);
    }
    families_.push_back(family);
  }

  std::string text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  std::vector<Family> families_;
};

void add_cluster(MetricsPage& page, const ClusterSummary& summary) {
  page.gauges("hai_gpus", "GPUs by use", "use",
              std::map<std::string, int>{{"used", summary.view.gpus_used},
                                         {"free", summary.view.gpus_free},
                                         {"draining", summary.gpus_draining},
                                         {"broken", summary.gpus_broken}});
  page.gauges("hai_nodes", "Nodes by liveness", "liveness", summary.view.nodes_by_liveness);
  page.gauges("hai_nodes_scheduling", "Nodes by scheduling state", "scheduling",
              summary.view.nodes_by_scheduling);
  page.gauges("hai_jobs", "Jobs in memory by state; old finished ones are only in the store",
              "state", summary.view.jobs_by_state);
}

void add_controller(MetricsPage& page, const Controller& controller) {
  const ControllerStats& stats = controller.stats();
  page.counter("hai_controller_turns_total", "Turns of the controller", stats.turns);
  page.counter("hai_controller_inputs_total", "Commands, reports and ticks taken in", stats.inputs);
  page.counter("hai_controller_events_total", "Events made durable", stats.events);
  page.counter("hai_controller_orders_total", "Orders sent to agents", stats.orders);
  page.counter("hai_controller_reports_total", "Reports of agents", stats.reports);
  page.counter("hai_controller_step_downs_total", "Times leadership was lost or given up",
               stats.step_downs);
  page.counter("hai_planning_passes_total", "Planning passes", stats.passes);
  page.gauge("hai_planning_pass_seconds", "Length of the last planning pass",
             seconds(stats.last_pass));
  page.histogram("hai_append_seconds", "Length of the transactions that wrote events", stats);
  page.counter("hai_failovers_total", "Terms of leadership this server has won", stats.terms);
  page.gauge("hai_store_unavailable_seconds",
             "How long the database has not answered this server; 0 when it does",
             seconds(controller.store_unavailable()));
}

}  // namespace

std::string metrics_text(Queries& queries, size_t agent_count) {
  const Controller& controller = queries.controller();
  const ClusterState& state = controller.state();
  MetricsPage page;
  page.gauges("hai_build_info", "1, with the version", "version",
              std::map<std::string, int>{{std::string(version()), 1}});
  page.gauge("hai_leader", "1 if this server leads", controller.is_leading() ? 1 : 0);
  page.gauge("hai_epoch", "Epoch this server knows", static_cast<double>(state.epoch().value));
  page.gauge("hai_agent_connections", "Connected agents", static_cast<double>(agent_count));
  page.gauge("hai_event_watches", "Readers that wait for events",
             static_cast<double>(queries.feed().watch_count()));
  // A standby knows nothing of the cluster, and zeros would look like knowledge.
  if (controller.is_leading()) {
    add_cluster(page, summarize({state, {}, ""}));
    page.gauge("hai_jobs_waiting", "Jobs that wait to run",
               static_cast<double>(state.waiting().size()));
  }
  add_controller(page, controller);
  return page.text();
}

}  // namespace hai
