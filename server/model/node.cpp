#include "server/model/node.h"

namespace hai {

GpuSet Node::used_gpus() const {
  GpuSet used;
  for (const Occupant& occupant : occupants) used = used | occupant.gpus;
  return used;
}

GpuSet Node::held_gpus() const { return held_gpus_for_others({}); }

GpuSet Node::held_gpus_for_others(JobId job) const {
  GpuSet gpus;
  for (const Held& hold : held) {
    if (!job || hold.job != job) gpus = gpus | hold.gpus;
  }
  return gpus;
}

GpuSet Node::free_gpus(JobId job) const {
  return without(all_gpus(), used_gpus() | held_gpus_for_others(job));
}

}  // namespace hai
