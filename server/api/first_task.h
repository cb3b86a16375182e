#pragma once
// How people name a task of an array that is asked about as a whole.

#include <fmt/core.h>

#include <string>

#include "common/array_range.h"
#include "server/model/job.h"

namespace hai {

// "17_3", of an array.
inline std::string first_task_of(const Job& array) {
  return fmt::format("{}_{}", array.id.value, ArrayRange::parse(array.spec->array).value().first());
}

}  // namespace hai
