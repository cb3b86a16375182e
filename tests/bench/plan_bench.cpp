// plan_bench: what one planning pass costs after one change, on a full cluster, by the number of
// nodes and of queued jobs. The cost must follow the change, not the cluster. On a busy machine the
// processor time tells more than the wall clock.

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "tests/bench/plan_world.h"

namespace hai::bench {
namespace {

struct Options {
  std::vector<WorldSize> sizes;
  int repetitions = 200;
  std::string json;
};

struct Row {
  WorldSize size;
  std::string change;
  size_t count = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  double max_ms = 0;
  double cpu_p99_ms = 0;
  double starts = 0;  // mean per pass
  double reserves = 0;
};

double thread_cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const auto rank = static_cast<size_t>(share * static_cast<double>(values.size()));
  return values[std::min(values.size() - 1, rank)];
}

// Times of one kind of pass, and what the passes did.
class Samples {
 public:
  void add(double wall_ms, double cpu_ms, const Plan& plan) {
    wall_ms_.push_back(wall_ms);
    cpu_ms_.push_back(cpu_ms);
    starts_ += plan.starts.size();
    reserves_ += plan.reserves.size();
  }
  Row row(WorldSize size, const std::string& change) const {
    const auto count = static_cast<double>(wall_ms_.size());
    return {.size = size,
            .change = change,
            .count = wall_ms_.size(),
            .p50_ms = quantile(wall_ms_, 0.5),
            .p99_ms = quantile(wall_ms_, 0.99),
            .max_ms = quantile(wall_ms_, 1),
            .cpu_p99_ms = quantile(cpu_ms_, 0.99),
            .starts = static_cast<double>(starts_) / count,
            .reserves = static_cast<double>(reserves_) / count};
  }

 private:
  std::vector<double> wall_ms_;
  std::vector<double> cpu_ms_;
  size_t starts_ = 0;
  size_t reserves_ = 0;
};

class Bench {
 public:
  Bench(WorldSize size, int repetitions) : size_(size), repetitions_(repetitions), world_(size) {}

  std::vector<Row> run() {
    timed_pass("rebuild", true);
    const int passes = world_.settle(true, 400);
    fmt::print(stderr, "{} nodes, {} queued: {} run, {} buckets, settled after {} passes\n",
               size_.nodes, world_.state().waiting().size(), world_.state().live().size(),
               buckets(), passes);
    for (int i = 0; i < repetitions_; ++i) submit_that_waits();
    for (int i = 0; i < repetitions_; ++i) end_of_a_job();
    for (int i = 0; i < repetitions_; ++i) urgent_submit();
    for (int i = 0; i < repetitions_; ++i) turn();
    std::vector<Row> rows;
    for (const std::string& change : order_) rows.push_back(samples_[change].row(size_, change));
    return rows;
  }

 private:
  size_t buckets() {
    const PlanIndex& index =
        world_.planner().index_at(world_.state(), world_.knobs(), world_.now());
    return static_cast<size_t>(std::ranges::count_if(
        index.waiting.buckets(), [](const auto& bucket) { return !bucket->jobs.empty(); }));
  }

  Plan timed_pass(const std::string& change, bool takes_turns) {
    const double cpu_before = thread_cpu_ms();
    const auto began = std::chrono::steady_clock::now();
    Plan plan = world_.pass(takes_turns);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    const double cpu_ms = thread_cpu_ms() - cpu_before;
    if (!samples_.contains(change)) order_.push_back(change);
    samples_[change].add(took.count(), cpu_ms, plan);
    return plan;
  }

  void submit_that_waits() {
    world_.advance(5ms);
    world_.submit();
    world_.make_true(timed_pass("submit that waits", false));
  }

  void end_of_a_job() {
    world_.advance(5ms);
    if (!world_.end_one()) return;
    const Plan plan = timed_pass("a job ends", false);
    world_.make_true(plan);
    world_.make_true(timed_pass("… its successor runs", false));
    world_.settle(false, 20);
  }

  void urgent_submit() {
    world_.advance(5ms);
    const JobId urgent = world_.submit(Priority::extreme_high, 4);
    const Plan plan = timed_pass("submit that interrupts", false);
    world_.make_true(plan);
    world_.make_true(timed_pass("… its victims have left", false));
    world_.settle(false, 20);
    if (world_.state().find(urgent)->has_live_attempt()) world_.end(urgent, false);
    world_.settle(false, 20);
  }

  void turn() {
    world_.advance(1s);
    world_.make_true(timed_pass("turn taking", true));
    world_.settle(false, 20);
  }

  const WorldSize size_;
  const int repetitions_;
  PlanWorld world_;
  std::map<std::string, Samples> samples_;
  std::vector<std::string> order_;
};

void print(const Row& row) {
  fmt::print("{:>6} {:>8}  {:<24} {:>5} {:>9.3f} {:>9.3f} {:>9.3f} {:>10.3f} {:>7.2f} {:>8.2f}\n",
             row.size.nodes, row.size.queued, row.change, row.count, row.p50_ms, row.p99_ms,
             row.max_ms, row.cpu_p99_ms, row.starts, row.reserves);
  std::fflush(stdout);
}

void write_json(const std::string& path, const std::vector<Row>& rows) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) {
    fmt::print(stderr, "{} can't be written\n", path);
    return;
  }
  const char* separator = "[\n";
  for (const Row& row : rows) {
    fmt::print(
        file,
        "{}  {{\"nodes\": {}, \"queued\": {}, \"change\": \"{}\", \"passes\": {}, "
        "\"p50_ms\": {:.4f}, \"p99_ms\": {:.4f}, \"max_ms\": {:.4f}, \"cpu_p99_ms\": {:.4f}}}",
        separator, row.size.nodes, row.size.queued, row.change, row.count, row.p50_ms, row.p99_ms,
        row.max_ms, row.cpu_p99_ms);
    separator = ",\n";
  }
  fmt::print(file, "\n]\n");
  std::fclose(file);
}

constexpr const char* kUsage =
    "usage: plan_bench [--quick] [--nodes N --queued Q] [--repetitions R] [--json OUT]\n";

Options parse(const std::vector<std::string>& args) {
  Options options;
  WorldSize one;
  bool quick = false;
  for (size_t i = 0; i < args.size(); ++i) {
    auto value = [&] {
      if (++i < args.size()) return args[i];
      fmt::print(stderr, "{}", kUsage);
      std::exit(2);
    };
    if (args[i] == "--quick") {
      quick = true;
    } else if (args[i] == "--json") {
      options.json = value();
    } else if (args[i] == "--nodes") {
      one.nodes = std::stoi(value());
    } else if (args[i] == "--queued") {
      one.queued = std::stoi(value());
    } else if (args[i] == "--repetitions") {
      options.repetitions = std::max(1, std::stoi(value()));
    } else {
      fmt::print(stderr, "{}", kUsage);
      std::exit(2);
    }
  }
  if (one.nodes > 0) {
    options.sizes = {one};
    return options;
  }
  for (int nodes : {125, 1'250, 12'500}) {
    for (int queued : {1'000, 10'000, 100'000, 1'000'000}) {
      if (quick && (nodes > 1'250 || queued > 10'000)) continue;
      if (nodes == 125 && queued == 1'000'000) continue;
      options.sizes.push_back({nodes, queued});
    }
  }
  return options;
}

}  // namespace
}  // namespace hai::bench

int main(int argc, char** argv) {
  using namespace hai::bench;
  const Options options = parse({argv + 1, argv + argc});
  fmt::print("{:>6} {:>8}  {:<24} {:>5} {:>9} {:>9} {:>9} {:>10} {:>7} {:>8}\n", "nodes", "queued",
             "change", "n", "p50 ms", "p99 ms", "max ms", "cpu p99 ms", "starts", "reserves");
  std::vector<Row> rows;
  for (const WorldSize& size : options.sizes) {
    for (const Row& row : Bench(size, options.repetitions).run()) {
      print(row);
      rows.push_back(row);
    }
  }
  if (!options.json.empty()) write_json(options.json, rows);
  return 0;
}
