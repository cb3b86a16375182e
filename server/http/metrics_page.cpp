#include "server/http/metrics_page.h"

#include <prometheus/text_serializer.h>

#include <limits>

namespace hai {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

ClientMetric to_metric(const SecondsHistogram& histogram) {
  ClientMetric metric;
  uint64_t count = 0;
  for (size_t i = 0; i < histogram.counts().size(); ++i) {
    count += static_cast<uint64_t>(histogram.counts()[i]);
    const double bound = i < histogram.bounds().size() ? histogram.bounds()[i]
                                                       : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({count, bound});
  }
  metric.histogram.sample_count = count;
  metric.histogram.sample_sum = histogram.sum();
  return metric;
}

}  // namespace

void MetricsPage::gauge(const std::string& name, const std::string& help, double value) {
  family(MetricType::Gauge, name, help, {{{}, value}});
}

void MetricsPage::counter(const std::string& name, const std::string& help, double value) {
  family(MetricType::Counter, name, help, {{{}, value}});
}

void MetricsPage::histogram(const std::string& name, const std::string& help,
                            const SecondsHistogram& histogram) {
  families_.push_back(MetricFamily{name, help, MetricType::Histogram, {to_metric(histogram)}});
}

void MetricsPage::histograms(const std::string& name, const std::string& help,
                             const std::string& label,
                             const std::map<std::string, SecondsHistogram>& histograms) {
  MetricFamily family{name, help, MetricType::Histogram, {}};
  for (const auto& [word, histogram] : histograms) {
    ClientMetric metric = to_metric(histogram);
    metric.label = {{label, word}};
    family.metric.push_back(std::move(metric));
  }
  families_.push_back(std::move(family));
}

void MetricsPage::family(MetricType type, const std::string& name, const std::string& help,
                         const std::vector<std::pair<Labels, double>>& values) {
  MetricFamily family{name, help, type, {}};
  for (const auto& [labels, value] : values) {
    ClientMetric metric;
    for (const auto& [key, word] : labels) metric.label.push_back({key, word});
    (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    family.metric.push_back(std::move(metric));
  }
  families_.push_back(std::move(family));
}

std::string MetricsPage::text() const { return prometheus::TextSerializer().Serialize(families_); }

}  // namespace hai
