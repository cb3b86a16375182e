#pragma once
// What a plan says, as short texts: "j1 on node-1,node-2 at high".

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/builders.h"

namespace hai::test {

inline std::string name_of(const Cluster& c, JobId id) { return c.job(id).spec->name; }

// "j1: node-1,node-2", by job.
inline std::vector<std::string> starts(const Cluster& c, const Plan& plan) {
  std::vector<std::string> out;
  for (const StartItem& item : plan.starts)
    out.push_back(name_of(c, item.job) + ": " + to_text(c.state(), item.placement));
  return out;
}

// "j1: node-1 <- v1,v2"
inline std::vector<std::string> reserves(const Cluster& c, const Plan& plan) {
  std::vector<std::string> out;
  for (const ReserveItem& item : plan.reserves) {
    std::string victims;
    for (JobId victim : item.victims) {
      victims += (victims.empty() ? "" : ",") + name_of(c, victim);
    }
    out.push_back(name_of(c, item.job) + ": " + to_text(c.state(), item.placement) + " <- " +
                  victims);
  }
  return out;
}

template <typename Item>
std::vector<std::string> jobs(const Cluster& c, const std::vector<Item>& items) {
  std::vector<std::string> out;
  for (const Item& item : items) out.push_back(name_of(c, item.job));
  std::ranges::sort(out);
  return out;
}

// "" if the job does not wait.
inline std::string pending_code(const Plan& plan, JobId id) {
  auto it = plan.pending.find(id);
  return it == plan.pending.end() ? "" : std::string(to_string(it->second.code));
}
inline std::string pending_text(const Plan& plan, JobId id) {
  auto it = plan.pending.find(id);
  return it == plan.pending.end() ? "" : it->second.text;
}

inline JobBuilder low(const std::string& name) { return job(name).priority(Priority::low); }
inline JobBuilder high(const std::string& name) { return job(name).priority(Priority::high); }

}  // namespace hai::test
