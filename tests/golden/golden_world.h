#pragma once
// A cluster at one moment, read from a text, and a plan for it as text.

#include <map>
#include <string>
#include <vector>

#include "tests/scenario/script.h"
#include "tests/support/builders.h"

namespace hai::test {

class GoldenWorld {
 public:
  explicit GoldenWorld(std::vector<Line> lines);
  // One item of the plan per line.
  std::string plan() const;

 private:
  struct JobLine {
    Line line;
    JobId id;
  };
  Cluster make_nodes(std::vector<Line>& lines);
  void set_up(Line& line);
  void submit(Line& line);
  void give_usage(const std::string& user, Duration gpu_time);
  void let_have(JobId id, Duration gpu_time, Duration ago);
  void place(JobLine& job);
  void hold(Line& line);
  JobId id_of(const Line& line, const std::string& name) const;
  std::string name_of(JobId id) const;
  std::string names_of(const std::vector<JobId>& ids) const;
  template <typename Act>
  void at(Duration ago, Act&& act);

  Cluster c_;
  std::map<std::string, JobId> jobs_;
  std::vector<JobLine> running_;
  std::vector<JobLine> had_;
  std::vector<Line> holds_;
};

}  // namespace hai::test
