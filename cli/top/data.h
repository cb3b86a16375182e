#pragma once
// What `hai top` knows of the cluster: filled by its feed, read by its view. Of the main thread.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/time.h"
#include "hai/v1/api.pb.h"

namespace hai::cli::top {

// News from the feed, in the order in which they came.
struct News {
  std::optional<v1::Cluster> cluster;
  std::vector<v1::Job> jobs;
  bool has_all_jobs = false;  // `jobs` are all unfinished ones: others are gone
  std::vector<v1::Node> nodes;
  bool has_all_nodes = false;
  std::optional<std::string> trouble;  // why it shows old facts; "" = no longer
};

// Of the one job or node that is looked at closely. Parts come one by one.
struct Detail {
  int64_t job = 0;
  std::string node;
  std::vector<std::string> card;  // lines
  std::vector<std::string> why;
  std::vector<std::string> log;
  int rank = 0;
  std::string trouble;
};

struct Data {
  std::string user;  // who looks
  v1::Cluster cluster;
  std::map<int64_t, v1::Job> jobs;
  std::map<std::string, v1::Node> nodes;
  std::string trouble;

  void apply(News news);
  // Jobs that ended are shown for a while: one sees them end.
  void forget_ended(UnixTime now);
};

bool has_ended(const v1::Job& job);
// Since when it waits, or runs, or has ended.
int64_t time_of_state(const v1::Job& job);

}  // namespace hai::cli::top
