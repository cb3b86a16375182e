// `expect NAME …`: about a job, a node or the servers.

#include <fmt/ranges.h>

#include <algorithm>

#include "server/control/engine/views.h"
#include "tests/scenario/player.h"

namespace hai::test {
namespace {

void expect_equal(const Line& line, const std::string& what, const std::string& expected,
                  const std::string& actual, const std::string& also = "") {
  if (expected != actual)
    line.fail("{}: expected {}, is {}{}", what, expected.empty() ? "nothing" : expected,
              actual.empty() ? "nothing" : actual, also);
}

// Why it is not as expected is most often in the job's last reason.
std::string story(const JobView& view) {
  std::string text =
      fmt::format(" ({}, attempt {} {}", to_string(view.state), view.attempt, view.attempt_state);
  if (!view.nodes.empty()) text += fmt::format(" on {}", fmt::join(view.nodes, ","));
  if (view.pending_reason) text += "; " + view.pending_reason->text;
  if (!view.last_attempt_reason.empty()) text += "; " + view.last_attempt_reason;
  if (!view.end_reason.empty()) text += "; " + view.end_reason;
  return text + ")";
}

// expect JOB STATE [on n1,n2] [attempt=] [attempt_state=] [pending=CODE] [exit=] [level=]
//   [suspends=] [requeues=] [held=] [processes=]
void expect_job(Player& player, Line& line, const std::string& name) {
  const Job& stored = player.job(line, name);
  Controller& leader = player.leader(line);
  const Job* live = leader.state().find(stored.id);
  const Job& job = live == nullptr ? stored : *live;
  JobView view = view_job(leader.state(), job, leader.soft_facts());
  std::string also = story(view);
  auto compare = [&](const char* option, const std::string& actual) {
    if (auto expected = line.take(option)) {
      expect_equal(line, name + " " + option, *expected, actual, also);
    }
  };
  size_t word = 1;
  if (word < line.words.size() && line.words[word] != "on") {
    expect_equal(line, name, line.words[word], std::string(to_string(view.state)), also);
    ++word;
  }
  if (word < line.words.size()) {
    if (line.words[word] != "on") line.fail("expect: unknown word '{}'", line.words[word]);
    std::vector<std::string> nodes = to_names(line, line.word(word + 1, "nodes"));
    expect_equal(line, name + " nodes", fmt::format("{}", fmt::join(nodes, ",")),
                 fmt::format("{}", fmt::join(view.nodes, ",")), also);
  }
  compare("attempt", std::to_string(view.attempt));
  compare("attempt_state", view.attempt_state);
  compare("pending", view.pending_reason ? std::string(to_string(view.pending_reason->code)) : "");
  compare("exit", view.exit_code ? std::to_string(*view.exit_code) : "");
  compare("level", job.attempt ? std::string(to_string(job.attempt->priority)) : "");
  compare("suspends", std::to_string(view.counters.suspend_count));
  compare("requeues", std::to_string(view.counters.requeue_count));
  compare("held", view.held ? "yes" : "no");
}

// expect NODE [up|suspect|down] [open|cordoned|draining|drained] [processes=N]
void expect_node(Player& player, Line& line, const std::string& name) {
  SimNode& truth = player.world().node(player.node_index(line, name));
  if (auto processes = line.take("processes")) {
    expect_equal(line, name + " processes", *processes, std::to_string(truth.live_processes()));
  }
  for (size_t i = 1; i < line.words.size(); ++i) {
    const Node* node = player.leader(line).state().find_node(name);
    if (node == nullptr) line.fail("{} has never registered", name);
    if (parse_enum<Liveness>(line.words[i])) {
      expect_equal(line, name, line.words[i], std::string(to_string(node->liveness)),
                   " (" + node->liveness_reason + ")");
    } else if (parse_enum<Scheduling>(line.words[i])) {
      expect_equal(line, name, line.words[i], std::string(to_string(node->scheduling)));
    } else {
      line.fail("expect: '{}' is no state of a node", line.words[i]);
    }
  }
}

// expect leader N|none [epoch=N]
void expect_leader(Player& player, Line& line) {
  std::string actual = "none";
  Controller* leader = player.world().leader();
  for (int i = 0; i < player.world().server_count(); ++i) {
    if (leader != nullptr && player.world().server(i) == leader) actual = std::to_string(i);
  }
  if (line.words.size() > 1) expect_equal(line, "leader", line.words[1], actual);
  if (auto epoch = line.take("epoch")) {
    expect_equal(line, "epoch", *epoch, std::to_string(player.world().database().epoch().value));
  }
}

// expect incidents N [nodes=n1,n2] [closed=M]: open ones, and the nodes of the latest of all.
void expect_incidents(Player& player, Line& line) {
  const auto& all = player.world().database().incidents();
  const auto closed = std::ranges::count_if(
      all, [](const auto& each) { return each.second.closed_at.has_value(); });
  expect_equal(line, "open incidents", line.word(1, "how many"),
               std::to_string(std::ssize(all) - closed));
  if (auto expected = line.take("closed")) {
    expect_equal(line, "closed incidents", *expected, std::to_string(closed));
  }
  if (auto expected = line.take("nodes")) {
    if (all.empty()) line.fail("there has been no incident");
    std::vector<std::string> names;
    for (NodeId id : all.rbegin()->second.nodes) {
      names.push_back(player.leader(line).state().find(id)->facts.name);
    }
    std::ranges::sort(names);
    expect_equal(line, "nodes of the incident",
                 fmt::format("{}", fmt::join(to_names(line, *expected), ",")),
                 fmt::format("{}", fmt::join(names, ",")));
  }
}

}  // namespace

void expect(Player& player, Line& line) {
  const std::string name = line.word(0, "whom");
  if (name == "leader") {
    expect_leader(player, line);
  } else if (name == "incidents") {
    expect_incidents(player, line);
  } else if (player.knows_job(name)) {
    expect_job(player, line, name);
  } else {
    expect_node(player, line, name);
  }
  line.expect_no_more_options();
}

}  // namespace hai::test
