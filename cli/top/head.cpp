// The top of the screen: what the cluster as a whole does.

#include <algorithm>
#include <cmath>

#include "cli/format.h"
#include "cli/table.h"
#include "cli/top/layout.h"

namespace hai::cli::top {
namespace {

struct Part {
  int gpus;
  std::string_view word;
  std::string_view sign;
  Style style;
};

// What each GPU is, in the order of the bar.
std::vector<Part> parts_of(const v1::Cluster& cluster) {
  const int reserved = cluster.gpus_reserved();
  return {{cluster.gpus_used(), "used", "█", Style::green},
          {reserved, "reserved", "▓", Style::yellow},
          {cluster.gpus_draining(), "draining", "▒", Style::yellow},
          {cluster.gpus_broken(), "broken", "x", Style::red},
          {cluster.gpus_free(), "free", "·", Style::dim}};
}

Line gpus_line(const v1::Cluster& cluster) {
  Line line;
  line.add("GPUs  ", Style::bold).add(fmt::format("{} in all: ", cluster.gpus_total()));
  const char* separator = "";
  for (const Part& part : parts_of(cluster)) {
    line.add(separator).add(fmt::format("{} {}", part.gpus, part.word),
                            part.gpus > 0 ? part.style : Style::plain);
    separator = ", ";
  }
  return line;
}

// Each part gets its share of the columns; what is there at all is seen.
Line bar_line(const v1::Cluster& cluster, int width) {
  const int total = std::max(1, cluster.gpus_total());
  const int columns = std::clamp(width - 16, 10, 200);
  Line line;
  line.add("      ");
  int left = columns;
  for (const Part& part : parts_of(cluster)) {
    if (part.gpus <= 0) continue;
    const double share = static_cast<double>(part.gpus) * columns / total;
    const int wanted = part.word == "free" ? left : std::max(1, static_cast<int>(share + 0.5));
    std::string text;
    for (int i = 0; i < std::min(wanted, left); ++i) text += part.sign;
    left -= std::min(wanted, left);
    line.add(text, part.style);
  }
  return line.add(std::string(static_cast<size_t>(left), ' '))
      .add(fmt::format(" {:>3}% used", static_cast<int64_t>(cluster.gpus_used()) * 100 / total));
}

template <typename Map>
int count_in(const Map& counts, const std::string& word) {
  const auto found = counts.find(word);
  return found == counts.end() ? 0 : found->second;
}

Line jobs_line(const Data& data, UnixTime now) {
  const auto& counts = data.cluster.jobs_by_state();
  Line line;
  line.add("Jobs  ", Style::bold)
      .add(fmt::format("{} running, {} queued, {} suspended", count_in(counts, "running"),
                       count_in(counts, "queued"), count_in(counts, "suspended")));
  int64_t oldest = 0;
  for (const auto& [id, job] : data.jobs) {
    // Held ones wait for a person, not for a place.
    if (job.state() != "queued" || job.held()) continue;
    if (oldest == 0 || job.submitted_at_us() < oldest) oldest = job.submitted_at_us();
  }
  if (oldest > 0) {
    line.add(fmt::format("; the oldest has waited {}", short_duration(now - unix_micros(oldest))));
  }
  return line;
}

Line nodes_line(const v1::Cluster& cluster) {
  Line line;
  line.add("Nodes ", Style::bold);
  const char* separator = "";
  for (const char* word : {"up", "suspect", "down", "cordoned", "draining", "drained"}) {
    const bool is_liveness = std::string_view(word) == "up" ||
                             std::string_view(word) == "suspect" ||
                             std::string_view(word) == "down";
    const int count =
        count_in(is_liveness ? cluster.nodes_by_liveness() : cluster.nodes_by_scheduling(), word);
    if (count == 0 && std::string_view(word) != "up") continue;
    line.add(separator).add(fmt::format("{} {}", count, word),
                            std::string_view(word) == "up" ? Style::plain : style_of(word));
    separator = ", ";
  }
  return line;
}

}  // namespace

Frame head_lines(const Data& data, const Moment& moment) {
  const std::string time = local_time(to_micros(moment.now)).substr(11);
  const std::string name = cut(printable(data.cluster.name()), 40);
  Line first;
  first.add("hai top", Style::bold).add("  cluster ").add(name, Style::bold);
  const std::string more = fmt::format("  as {}", data.user);
  const size_t used = display_width("hai top  cluster ") + display_width(name) + more.size();
  const auto width = static_cast<size_t>(std::max(moment.size.width, 0));
  first.add(more);
  if (width > used + time.size() + 1) {
    first.add(std::string(width - used - time.size(), ' ')).add(time);
  }
  return {first, gpus_line(data.cluster), bar_line(data.cluster, moment.size.width),
          jobs_line(data, moment.now), nodes_line(data.cluster)};
}

}  // namespace hai::cli::top
