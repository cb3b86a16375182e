#pragma once
// Finds the bad node after a job of several nodes failed or hung: small groups of its nodes run a
// short test, all groups of a round at once (two-round pairing as of Acme, NSDI 2024, arXiv
// 2403.07648, with more rounds where results contradict). Pure: what to do next follows from the
// results so far, so that only those need to be stored.
//
//   round 1   pairs of all nodes            a pair that passes speaks for both its nodes
//   round 2+  suspect + trusted node        failed with two trusted partners = bad (three, if it
//             the others pair anew          also passed); passed twice = good, and three times in
//                                           a row after a failure that nothing explains
//
// One test proves nothing: a bad node may pass, and a good pair may fail by chance.

#include <string>
#include <string_view>
#include <vector>

namespace hai {

enum class GroupVerdict {
  passed,
  failed,   // ran and gave wrong results, was too slow, or hung
  unknown,  // did not run, as when a node went away or the test was preempted
};

struct GroupTest {
  std::vector<std::string> nodes;  // at least two
  GroupVerdict verdict = GroupVerdict::unknown;
};

struct BisectionLimits {
  int rounds_max = 10;        // then whoever is not decided is unclear
  int failures_to_blame = 2;  // with partners that are trusted; one more if it also passed
  int passes_to_clear = 2;    // without a failure
  int passes_to_forgive = 3;  // in a row after a failure without a culprit
};

struct BisectionQuestion {
  std::vector<std::string> nodes;  // of the job that failed; no name twice
  std::vector<std::string>
      spares;  // known to be good, as partners where none of the nodes is trusted
  std::vector<std::vector<GroupTest>> rounds;  // results so far, in order
};

struct BisectionStep {
  // Disjoint groups to test now, at once; empty = it is over and the rest is the verdict.
  std::vector<std::vector<std::string>> groups;
  std::vector<std::string> bad;      // sorted, as are all of these
  std::vector<std::string> good;     // may go back to work, even before it is over
  std::vector<std::string> unclear;  // neither; when it is over, each needs a test of its own
  std::vector<std::vector<std::string>>
      unexplained;      // groups that failed without a bad node: a link?
  std::string summary;  // one sentence
};

BisectionStep next_step(const BisectionQuestion& question, const BisectionLimits& limits = {});

}  // namespace hai
