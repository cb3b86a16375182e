#include "sim/decision_points.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace hai {
namespace {

// A report is called by what it is for.
constexpr std::array<std::string_view, 3> kReports = {"report", "news", "hello"};
constexpr std::array<std::string_view, std::variant_size_v<OrderBody>> kOrders = {
    "launch", "suspend", "continue", "kill",        "forget",
    "grant",  "peers",   "run_hook", "clear_fault", "refuse"};
constexpr int kMessages = static_cast<int>(kReports.size() + kOrders.size());
constexpr int kStore = 2 * kMessages;
constexpr int kEvents = kStore + 1;

template <size_t... I>
void add_event_kinds(std::vector<std::string>& names, std::index_sequence<I...>) {
  (names.emplace_back(kind_of(EventBody(std::in_place_index<I>))), ...);
}

const std::vector<std::string>& names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> all;
    for (const char* what : {"_leaves", "_arrives"}) {
      for (std::string_view name : kReports) all.push_back(std::string(name) + what);
      for (std::string_view name : kOrders) all.push_back(std::string(name) + what);
    }
    all.emplace_back("store_asked");
    add_event_kinds(all, std::make_index_sequence<std::variant_size_v<EventBody>>());
    return all;
  }();
  return kNames;
}

int point_of(const SimNetwork::Passing& message) {
  const int first = message.arrives ? kMessages : 0;
  if (message.order != nullptr)
    return first + static_cast<int>(kReports.size() + message.order->body.index());
  return first + (message.report->facts ? 2 : message.report->is_news_only ? 1 : 0);
}

int node_of(const World& world, const ClusterState& state, const Event& event) {
  if (const NodeId id = node_of(event.body)) {
    const Node* node = state.find(id);
    return node == nullptr ? -1 : world.index_of(node->facts.name);
  }
  const Job* job = state.find(job_of(event.body));
  if (job == nullptr || !job->attempt || job->attempt->ranks.empty()) return -1;
  const Node* node = state.find(job->attempt->ranks.front().place.node);
  return node == nullptr ? -1 : world.index_of(node->facts.name);
}

}  // namespace

int count_of_points() { return static_cast<int>(names().size()); }
const std::string& point_name(int point) { return names().at(point); }
int point_named(std::string_view name) {
  auto it = std::ranges::find(names(), name);
  return it == names().end() ? -1 : static_cast<int>(it - names().begin());
}
bool is_message_that_leaves(int point) { return point >= 0 && point < kMessages; }

void watch_points(World& world, std::function<void(const Moment&)> tell) {
  world.network().on_message = [&world, tell](const SimNetwork::Passing& message) {
    tell({.point = point_of(message),
          .node = world.index_of(message.node),
          .is_overtaken = message.is_overtaken,
          .message = &message});
  };
  world.on_durable = [&world, tell](const std::vector<Event>& events, const ClusterState& state) {
    for (const Event& event : events) {
      tell({.point = kEvents + static_cast<int>(event.body.index()),
            .node = node_of(world, state, event),
            .event = &event});
    }
  };
  MemHooks& hooks = world.database().hooks;
  hooks.latency = [tell, latency = hooks.latency] {
    tell({.point = kStore});
    return latency();
  };
}

}  // namespace hai
