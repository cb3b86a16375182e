#pragma once
// Plays a scenario on a simulated cluster. Before `nodes` has ended, settings; then commands, each
// followed by all checkers; at the end everything heals and every job must end (liveness).

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/world.h"
#include "tests/scenario/script.h"

namespace hai::test {

class Player {
 public:
  void play(std::vector<Line> lines);
  // What has happened until now, a line for each event.
  std::vector<std::string> log() const;

  // For expectations.
  World& world() { return *world_; }
  Controller& leader(const Line& line);
  int node_index(const Line& line, const std::string& name) const;
  bool knows_job(const std::string& name) const { return jobs_.contains(name); }
  // As stored: finished ones too.
  const Job& job(const Line& line, const std::string& name);

 private:
  bool configure(Line& line);
  void start_world();
  void run(Line& line);
  void check(const Line& line);
  void prove_liveness(const Line& last);

  // Commands, in player.cpp's table.
  void submit(Line& line);
  void control(Line& line);
  void move(Line& line);
  void control_node(Line& line);
  void set_quota(Line& line);
  void set_user(Line& line);
  void fault_of_node(Line& line);
  void fault_of_server(Line& line);
  void fault_of_network(Line& line);
  void fault_of_store(Line& line);
  void pause_agent(Line& line);
  void jump_clock(Line& line);
  void settle(Line& line);
  void advance(Line& line);

  // Sends it to the leader as `user` (or ann), and waits for the answer.
  CommandReply ask(const Line& line, const std::string& user, Command command);
  void run_for(Duration time);
  bool is_in_motion();
  std::string stuck();

  WorldOptions options_{.nodes = 0, .servers = 1};
  std::unique_ptr<World> world_;
  std::map<std::string, JobId> jobs_;
  std::string refusal_;  // the code the next command is expected to be refused with
  std::string as_;       // who asks
};

// One `expect` line.
void expect(Player& player, Line& line);

}  // namespace hai::test
