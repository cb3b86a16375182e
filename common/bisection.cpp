#include "common/bisection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace hai {

namespace {

struct Record {
  bool is_spare = false;
  bool is_bad = false;
  int tests = 0;
  int strikes = 0;  // failures that nobody else can be blamed for
  int passes = 0;
  int passes_in_row = 0;         // since the last failure
  std::vector<size_t> failures;  // indices of failed tests
};

using Names = std::vector<std::string>;
using Pair = std::pair<std::string, std::string>;

// What the results so far say of each node.
class Ledger {
 public:
  Ledger(const BisectionQuestion& question, const BisectionLimits& limits) : limits_(limits) {
    for (const std::string& name : question.nodes) records_[name];
    for (const std::string& name : question.spares) records_[name].is_spare = true;
    for (const auto& round : question.rounds) take_round(round);
  }

  const Record& of(const std::string& name) const { return records_.at(name); }
  const std::map<std::string, Record>& records() const { return records_; }

  bool has_open_failure(const Record& record) const {
    return std::any_of(record.failures.begin(), record.failures.end(),
                       [&](size_t test) { return !is_explained(failed_[test]); });
  }
  bool is_good(const Record& record) const {
    if (record.is_bad) return false;
    if (record.is_spare) return true;
    return has_open_failure(record) ? record.passes_in_row >= limits_.passes_to_forgive
                                    : record.passes >= limits_.passes_to_clear;
  }
  // Whom a failure is not blamed on. Where nobody has a clean record, whoever passed last is the
  // best there is.
  std::set<std::string> trusted() const {
    std::set<std::string> clean, passed;
    for (const auto& [name, record] : records_) {
      if (record.is_bad) continue;
      if (is_good(record) || (record.passes > 0 && !has_open_failure(record))) clean.insert(name);
      if (record.passes_in_row > 0) passed.insert(name);
    }
    return clean.empty() ? passed : clean;
  }
  int times_together(const std::string& a, const std::string& b) const {
    const auto found = together_.find(std::minmax(a, b));
    return found == together_.end() ? 0 : found->second;
  }
  std::vector<Names> unexplained() const {
    std::vector<Names> groups;
    for (const Names& group : failed_) {
      if (!is_explained(group)) groups.push_back(group);
    }
    return groups;
  }

 private:
  bool is_explained(const Names& group) const {
    return std::any_of(group.begin(), group.end(),
                       [&](const std::string& name) { return records_.at(name).is_bad; });
  }

  void take_round(const std::vector<GroupTest>& round) {
    // Blame goes by what was known before the round: its tests ran at once.
    const std::set<std::string> trusted_before = trusted();
    for (const GroupTest& test : round) {
      const bool is_known = std::all_of(test.nodes.begin(), test.nodes.end(),
                                        [&](const auto& name) { return records_.contains(name); });
      if (is_known && test.nodes.size() >= 2) take_test(test, trusted_before);
    }
    for (auto& [name, record] : records_) {
      // One that also passes may be a good node with bad luck: it takes one more.
      const int needed = limits_.failures_to_blame + (record.passes > 0 ? 1 : 0);
      if (record.strikes >= needed) record.is_bad = true;
    }
  }

  void take_test(const GroupTest& test, const std::set<std::string>& trusted_before) {
    for (size_t i = 0; i < test.nodes.size(); ++i) {
      for (size_t j = i + 1; j < test.nodes.size(); ++j)
        ++together_[std::minmax(test.nodes[i], test.nodes[j])];
    }
    for (const std::string& name : test.nodes) ++records_.at(name).tests;
    if (test.verdict == GroupVerdict::unknown) return;
    std::vector<Record*> candidates;
    for (const std::string& name : test.nodes) {
      Record& record = records_.at(name);
      if (test.verdict == GroupVerdict::passed) {
        ++record.passes;
        ++record.passes_in_row;
        continue;
      }
      record.failures.push_back(failed_.size());
      if (!trusted_before.contains(name)) candidates.push_back(&record);
    }
    if (test.verdict == GroupVerdict::passed) return;
    failed_.push_back(test.nodes);
    // A partner keeps his trust when somebody else takes the blame.
    if (candidates.size() == 1) ++candidates.front()->strikes;
    for (const std::string& name : test.nodes) {
      if (candidates.size() != 1 || &records_.at(name) == candidates.front())
        records_.at(name).passes_in_row = 0;
    }
    if (candidates.size() == 1) excuse(test.nodes, candidates.front());
  }

  void excuse(const Names& group, const Record* culprit) {
    for (const std::string& name : group) {
      Record& record = records_.at(name);
      if (&record != culprit) record.failures.pop_back();
    }
  }

  BisectionLimits limits_;
  std::map<std::string, Record> records_;
  std::vector<Names> failed_;
  std::map<Pair, int> together_;
};

// Takes from `open` the one that `name` has met least often; the first of several.
std::string take_partner(const Ledger& ledger, const std::string& name, Names& open) {
  const auto best = std::min_element(open.begin(), open.end(), [&](const auto& a, const auto& b) {
    return ledger.times_together(name, a) < ledger.times_together(name, b);
  });
  std::string partner = *best;
  open.erase(best);
  return partner;
}

// Groups for a round: suspects with trusted partners while there are any, the rest among
// themselves.
std::vector<Names> pair_up(const Ledger& ledger, const Names& undecided) {
  Names partners, suspects, rest;
  const std::set<std::string> trusted = ledger.trusted();
  for (const std::string& name : undecided) {
    if (!trusted.contains(name)) suspects.push_back(name);
  }
  // Those who are decided first: partners that are undecided can use a pass, but less surely so.
  for (const auto& [name, record] : ledger.records()) {
    if (trusted.contains(name) && ledger.is_good(record)) partners.push_back(name);
  }
  for (const std::string& name : undecided) {
    if (trusted.contains(name)) partners.push_back(name);
  }
  std::vector<Names> groups;
  for (const std::string& name : suspects) {
    if (partners.empty()) {
      rest.push_back(name);
    } else {
      groups.push_back({name, take_partner(ledger, name, partners)});
    }
  }
  for (const std::string& name : undecided) {
    if (std::find(partners.begin(), partners.end(), name) == partners.end()) continue;
    std::erase(partners, name);
    rest.push_back(name);
  }
  // Whoever was tested least goes first, so that an odd one is not left over time and again.
  std::stable_sort(rest.begin(), rest.end(), [&](const auto& a, const auto& b) {
    return ledger.of(a).tests < ledger.of(b).tests;
  });
  while (rest.size() >= 2) {
    const std::string name = rest.front();
    rest.erase(rest.begin());
    groups.push_back({name, take_partner(ledger, name, rest)});
  }
  if (rest.size() == 1 && !partners.empty()) {
    groups.push_back({rest.front(), take_partner(ledger, rest.front(), partners)});
  }
  // Else it waits a round: a group of three would fail for the bad node of any.
  return groups;
}

std::string in_words(const BisectionStep& step, int rounds) {
  std::string text = fmt::format("{} rounds: ", rounds);
  if (!step.groups.empty())
    return text +
           fmt::format("{} groups to test, {} bad so far", step.groups.size(), step.bad.size());
  text += step.bad.empty() ? std::string("no bad node")
                           : fmt::format("bad {}", fmt::join(step.bad, ","));
  if (!step.unclear.empty()) text += fmt::format("; unclear {}", fmt::join(step.unclear, ","));
  if (!step.unexplained.empty()) {
    text += "; failed without a bad node";
    for (const Names& group : step.unexplained) text += fmt::format(" {}", fmt::join(group, "+"));
  }
  return text;
}

}  // namespace

BisectionStep next_step(const BisectionQuestion& question, const BisectionLimits& limits) {
  const Ledger ledger(question, limits);
  BisectionStep step;
  for (const auto& [name, record] : ledger.records()) {
    if (record.is_bad) {
      step.bad.push_back(name);
    } else if (!record.is_spare) {
      (ledger.is_good(record) ? step.good : step.unclear).push_back(name);
    }
  }
  const int rounds = static_cast<int>(question.rounds.size());
  if (rounds < limits.rounds_max) step.groups = pair_up(ledger, step.unclear);
  step.unexplained = ledger.unexplained();
  step.summary = in_words(step, rounds);
  return step;
}

}  // namespace hai
