#pragma once
// What is decided together, by server/control and plan/carry_out.h: events, applied as they are
// emitted so that the next step sees them. The controller makes one a turn, durable before anything
// leaves; a forecast makes one a pass, of a state of its own.

#include <string>
#include <utility>
#include <vector>

#include "common/knobs.h"
#include "server/model/cluster_state.h"

namespace hai {

class Decision {
 public:
  Decision(ClusterState& state, const Knobs& knobs, UnixTime now)
      : state_(state), knobs_(knobs), now_(now) {}

  const ClusterState& state() const { return state_; }
  const Knobs& knobs() const { return knobs_; }
  UnixTime now() const { return now_; }
  void set_actor(std::string actor) { actor_ = std::move(actor); }

  void emit(EventBody body) {
    Event event{state_.last_seq() + 1, now_, actor_, std::move(body)};
    state_.apply(event);
    text_bytes_ += hai::text_bytes(event.body);
    if (const auto* edited = std::get_if<JobEdited>(&event.body)) {
      text_bytes_ += hai::text_bytes(*state_.find(edited->job)->spec);  // its row is written anew
    }
    events_.push_back(std::move(event));
  }

  const std::vector<Event>& events() const { return events_; }
  // Of the events so far: what makes an append large.
  int64_t text_bytes() const { return text_bytes_; }
  std::vector<Event> take_events() { return std::exchange(events_, {}); }

 private:
  ClusterState& state_;
  const Knobs& knobs_;
  UnixTime now_;
  std::string actor_ = "server";
  std::vector<Event> events_;
  int64_t text_bytes_ = 0;
};

}  // namespace hai
