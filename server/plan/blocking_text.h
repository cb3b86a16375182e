#pragma once
// Blocking facts as sentences.

#include "server/plan/blocking.h"
#include "server/plan/hypothesis.h"

namespace hai {

// "job 17 (pretrain) of ann"
std::string title(const Job& job);
// "node-3 is draining: new cables (by ann)"
std::string node_text(const Node& node);
// Why a running job may not be interrupted for the one of the hypothesis, and until when.
std::string victim_text(const ClusterState& state, const Knobs& knobs, const Hypothesis& hypothesis,
                        const Job& running);
std::string leaving_text(const ClusterState& state, const Job& leaving);
std::string reservation_text(const ClusterState& state, const Job& holder);
BlockingFact hardware_fact(const Knobs& knobs, const Hypothesis& hypothesis);

}  // namespace hai
