#pragma once
// Metrics as Prometheus reads them, family by family.

#include <prometheus/metric_family.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "server/api/event_meter.h"

namespace hai {

class MetricsPage {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  void gauge(const std::string& name, const std::string& help, double value);
  void counter(const std::string& name, const std::string& help, double value);
  void histogram(const std::string& name, const std::string& help,
                 const SecondsHistogram& histogram);
  // Several of one name: each with its own labels.
  void family(prometheus::MetricType type, const std::string& name, const std::string& help,
              const std::vector<std::pair<Labels, double>>& values);
  void histograms(const std::string& name, const std::string& help, const std::string& label,
                  const std::map<std::string, SecondsHistogram>& histograms);

  // One per word of a label.
  template <typename Counts>
  void gauges(const std::string& name, const std::string& help, const std::string& label,
              const Counts& counts) {
    family(prometheus::MetricType::Gauge, name, help, labelled(label, counts));
  }
  template <typename Counts>
  void counters(const std::string& name, const std::string& help, const std::string& label,
                const Counts& counts) {
    family(prometheus::MetricType::Counter, name, help, labelled(label, counts));
  }

  std::string text() const;

 private:
  template <typename Counts>
  static std::vector<std::pair<Labels, double>> labelled(const std::string& label,
                                                         const Counts& counts) {
    std::vector<std::pair<Labels, double>> values;
    for (const auto& [word, count] : counts) {
      values.push_back({{{label, word}}, static_cast<double>(count)});
    }
    return values;
  }

  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace hai
