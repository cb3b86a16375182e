#pragma once
// A stream of random jobs of three users, who stop, suspend, hold and reprioritise them, ask again
// when they got no answer, change quotas, turn knobs, drain and remove nodes.

#include <functional>
#include <map>
#include <string>

#include "sim/act.h"
#include "sim/world.h"

namespace hai {

class Workload {
 public:
  Workload(World& world, uint64_t seed, int max_nodes)
      : world_(world), rng_(seed), max_nodes_(max_nodes) {}

  // One random act of a user or operator, sent to the leader; nothing if there is none.
  void act();
  // This act.
  void play(const Act& act);
  // Told of each act, before it is done.
  std::function<void(const Act&)> on_act;
  // Undoes what would keep jobs waiting for ever: releases holds, opens nodes.
  void settle();

  bool all_answered() const { return unanswered_.empty(); }
  // Submits answered with ok: each of these jobs must end, whatever crashes.
  const std::map<int64_t, std::string>& acknowledged() const { return acknowledged_; }

 private:
  struct Request {
    std::string user;
    std::string id;
    JobSpec spec;
  };
  void submit();
  void release_early(JobSpec& spec) const;
  void pair_with_last_array(JobSpec& spec, std::string& user) const;
  void send(Request request);
  void ask_again();
  void change_quota();
  void control();
  void change_node();
  int one_that_is_down(int otherwise) const;
  void turn_knob();
  int some_job();
  std::string id_of(int job) const;
  std::string named(const ClusterState& state, int job) const;
  void perform(const Act& act);

  World& world_;
  Rng rng_;
  int max_nodes_;
  int next_ = 1;
  struct {
    std::string name;
    std::string user;
    std::string range;
  } last_array_;
  std::map<int64_t, std::string> acknowledged_;
  std::map<std::string, Request> unanswered_;  // by request id
  bool has_users_ = false;
};

}  // namespace hai
