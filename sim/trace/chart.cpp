// The chart of a replay: three panels over one time axis. Plain SVG without scripts or fonts of its
// own, so that it looks the same in a browser, a document and a slide.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/trace/trace_report.h"

namespace hai {
namespace {

constexpr double kWidth = 1000;
constexpr double kLeft = 76;
constexpr double kRight = 24;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kTop = 100;
constexpr double kGap = 46;
constexpr const char* kInk = "#333c4a";
constexpr const char* kBlue = "#2a78d6";
constexpr const char* kOrange = "#c2571a";
constexpr const char* kGreen = "#5b7f2b";

struct Panel {
  std::string title;
  double height = 0;
  double top = 0;
  double max = 1;  // of the y axis
};

// 1, 2, 2.5 or 5 times a power of ten, so that about `count` steps reach `max`.
double nice_step(double max, int count) {
  double raw = std::max(max, 1e-9) / count;
  double power = std::pow(10, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

// The top of an axis: at a line of its grid, so that the curve does not leave it.
double round_up(double max) {
  double step = nice_step(max, 3);
  return std::ceil(max / step - 1e-9) * step;
}

double demand_of(const SeriesPoint& point) { return point.given + point.waiting; }

std::string short_number(double value) {
  if (value >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:g}", value);
}

std::string escape(const std::string& text) {
  std::string out;
  for (char c : text) {
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return out;
}

class Chart {
 public:
  explicit Chart(const TraceReport& report)
      : report_(report),
        points_(report.result.series.points()),
        interval_s_(static_cast<double>(report.result.series.interval().count()) / 1e6) {
    end_s_ = static_cast<double>(report.result.measures.makespan.count()) / 1e6;
    end_s_ = std::max(end_s_, interval_s_);
    last_s_ = std::min(end_s_, 1.2 * busy_until());
  }

  std::string draw() {
    auto gpus = static_cast<double>(report_.gpus);
    double demand_max = gpus;
    double queue_max = 1;
    for (size_t i = 0; i < points_.size(); ++i) {
      demand_max = std::max(demand_max, mean(demand_of(points_[i]), i));
      queue_max = std::max(queue_max, mean(points_[i].queue, i));
    }
    Panel given{"GPUs given to jobs", 190, kTop, gpus};
    Panel demand{"GPUs that jobs ask for", 150, 0, round_up(demand_max)};
    Panel queue{"waiting jobs", 120, 0, round_up(queue_max)};
    demand.top = given.top + given.height + kGap;
    queue.top = demand.top + demand.height + kGap;
    double height = queue.top + queue.height + 46;

    auto given_of = [](const SeriesPoint& point) { return point.given; };
    auto healthy_of = [](const SeriesPoint& point) { return point.healthy; };
    auto queue_of = [](const SeriesPoint& point) { return point.queue; };
    open(height);
    frame(given);
    area(given, kBlue, 0.30, given_of);
    line(given, kBlue, 1.2, given_of);
    line(given, kInk, 1.4, healthy_of);
    legend(given, {{"given", kBlue, true}, {"healthy", kInk, false}});
    frame(demand);
    area(demand, kOrange, 0.35, demand_of);
    area(demand, "#ffffff", 1, given_of);
    area(demand, kBlue, 0.30, given_of);
    line(demand, kOrange, 1.2, demand_of);
    line(demand, kInk, 1.4, healthy_of);
    legend(demand,
           {{"running", kBlue, true}, {"waiting", kOrange, true}, {"healthy", kInk, false}});
    frame(queue);
    area(queue, kGreen, 0.28, queue_of);
    line(queue, kGreen, 1.2, queue_of);
    time_axis(given.top, queue.top + queue.height);
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  // Until then somebody is submitted or waits. The last few jobs of a trace may run for weeks more.
  double busy_until() const {
    double until = static_cast<double>(report_.result.measures.last_submit.count()) / 1e6;
    for (size_t i = 0; i < points_.size(); ++i) {
      if (points_[i].queue > 0) until = std::max(until, static_cast<double>(i + 1) * interval_s_);
    }
    return std::max(until, interval_s_);
  }

  // The last interval is seldom whole.
  double mean(double integral, size_t index) const {
    double from = static_cast<double>(index) * interval_s_;
    double length = std::min(interval_s_, end_s_ - from);
    return length > 0 ? integral / (length * 1e6) : 0;
  }
  double x(double seconds) const {
    return kLeft + kPlotWidth * std::clamp(seconds / last_s_, 0.0, 1.0);
  }
  static double y(const Panel& panel, double value) {
    return panel.top + panel.height * (1 - std::clamp(value / panel.max, 0.0, 1.0));
  }

  void text(double at_x, double at_y, const char* style, const std::string& what) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", at_x, at_y, style,
                        escape(what));
  }

  void open(double height) {
    const Measures& m = report_.result.measures;
    out_ += fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" font-family=\"system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', "
        "Arial, sans-serif\" font-size=\"13\" fill=\"#333c4a\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        kWidth, height);
    text(kLeft, 28, "font-size=\"17\" font-weight=\"600\"",
         fmt::format("{}: {} jobs on {} GPUs", report_.policy, report_.jobs, report_.gpus));
    const char* style = "fill=\"#667080\"";
    text(kLeft, 48, style,
         fmt::format("{:.1f} % of the healthy GPU time given until the last submit, {:.1f} % while "
                     "demand exceeded capacity",
                     m.utilization * 100, m.demand_satisfied * 100));
    text(kLeft, 66, style,
         fmt::format("mean slowdown {:.1f}, mean wait {}, {} preemptions; the last job ends "
                     "on day {:.1f}",
                     m.slowdown.mean, human_time(m.wait_s.mean), m.preemptions, end_s_ / 86'400));
  }

  void frame(const Panel& panel) {
    double step = nice_step(panel.max, panel.height > 150 ? 5 : 3);
    for (double value = 0; value <= panel.max * 1.0001; value += step) {
      out_ += fmt::format(
          "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", kLeft,
          kLeft + kPlotWidth, y(panel, value), y(panel, value), value == 0 ? "#9aa3af" : "#e6e9ee");
      text(kLeft - 8, y(panel, value) + 4, "text-anchor=\"end\" fill=\"#667080\" font-size=\"12\"",
           short_number(value));
    }
    text(kLeft, panel.top - 10, "font-weight=\"600\"", panel.title);
  }

  using Value = std::function<double(const SeriesPoint&)>;

  // A step per interval, from its beginning to its end.
  std::string path_of(const Panel& panel, const Value& value) const {
    std::string path;
    for (size_t i = 0; i < points_.size(); ++i) {
      double from = static_cast<double>(i) * interval_s_;
      if (from >= last_s_) break;
      double level = y(panel, mean(value(points_[i]), i));
      path +=
          fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", x(from), level, x(from + interval_s_), level);
    }
    return path;
  }

  void area(const Panel& panel, const char* color, double opacity, const Value& value) {
    double bottom = panel.top + panel.height;
    out_ += fmt::format(
        "<polygon points=\"{:.1f},{:.1f} {}{:.1f},{:.1f}\" fill=\"{}\" fill-opacity=\"{}\"/>\n",
        kLeft, bottom, path_of(panel, value), x(last_s_), bottom, color, opacity);
  }

  void line(const Panel& panel, const char* color, double width, const Value& value) {
    out_ += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" "
        "stroke-linejoin=\"round\"/>\n",
        path_of(panel, value), color, width);
  }

  struct Key {
    const char* name;
    const char* color;
    bool is_area;
  };
  void legend(const Panel& panel, const std::vector<Key>& keys) {
    constexpr double kKeyWidth = 84;
    double at_y = panel.top - 14;
    double at_x = kLeft + kPlotWidth - kKeyWidth * static_cast<double>(keys.size());
    for (const Key& key : keys) {
      double height = key.is_area ? 10 : 2;
      out_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"16\" height=\"{}\" fill=\"{}\" "
          "fill-opacity=\"{}\"/>\n",
          at_x, at_y - height / 2, height, key.color, key.is_area ? 0.45 : 1);
      text(at_x + 22, at_y + 4, "font-size=\"12\" fill=\"#667080\"", key.name);
      at_x += kKeyWidth;
    }
  }

  void time_axis(double top, double bottom) {
    bool in_days = last_s_ > 2 * 86'400;
    double unit = in_days ? 86'400 : 3'600;
    double step = std::max(1.0, nice_step(last_s_ / unit, 14));
    if (last_s_ < 3 * 3'600) step = nice_step(last_s_ / unit, 10);
    for (double value = 0; value * unit <= last_s_; value += step) {
      double at = x(value * unit);
      if (value > 0) {
        out_ += fmt::format(
            "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#333c4a\" "
            "stroke-opacity=\"0.07\"/>\n",
            at, at, top, bottom);
      }
      text(at, bottom + 18, "text-anchor=\"middle\" fill=\"#667080\" font-size=\"12\"",
           fmt::format("{:g}", value));
    }
    text(kLeft + kPlotWidth, bottom + 36, "text-anchor=\"end\" fill=\"#667080\" font-size=\"12\"",
         in_days ? "days" : "hours");
  }

  const TraceReport& report_;
  const std::vector<SeriesPoint>& points_;
  const double interval_s_;
  double end_s_ = 0;   // of the last job
  double last_s_ = 0;  // of the time axis
  std::string out_;
};

}  // namespace

std::string to_chart(const TraceReport& report) { return Chart(report).draw(); }

}  // namespace hai
