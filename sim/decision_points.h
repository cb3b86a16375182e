#pragma once
// The moments at which a simulated cluster decides, sends, hears or stores something: where a fault
// hurts most. Numbered and named, so that a world can place its faults at them.

#include <functional>
#include <string>

#include "sim/world.h"

namespace hai {

struct Moment {
  int point = 0;
  int node = -1;              // by index; of a job, where its rank 0 is; -1 = none
  bool is_overtaken = false;  // a message that arrives after one that was sent later
  const SimNetwork::Passing* message = nullptr;  // if it is of one
  const Event* event = nullptr;                  // or of one
};

// Points are 0 … count-1: messages that leave and arrive, a request to the store, and each kind of
// event that becomes durable.
int count_of_points();
const std::string& point_name(int point);
int point_named(std::string_view name);  // -1 if there is none
bool is_message_that_leaves(int point);

// Calls `tell` at each of them. Takes the world's hooks; made after whoever sets the store's.
void watch_points(World& world, std::function<void(const Moment&)> tell);

}  // namespace hai
