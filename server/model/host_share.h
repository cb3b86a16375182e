#pragma once
// What ranks take of a node's CPUs and memory. Each GPU brings its proportion of them along, so
// that what matters of a rank is how much more or less than that it takes: its excess. Counted in
// parts, as many of one CPU or byte as the node has GPUs, so that no proportion is ever rounded: of
// 12 CPUs beside 8 GPUs there are 96 parts, 12 to a GPU. Of what a node does not know (0 CPUs,
// 0 bytes) nothing is counted. Why it is so: docs/design/0010.

#include <cstdint>

#include "common/agent_messages.h"
#include "common/job_spec.h"

namespace hai {

// What one rank asks for; 0 = in proportion to its GPUs, without GPUs to its CPUs.
struct HostAsk {
  int cpus = 0;
  int64_t memory_bytes = 0;
  auto operator<=>(const HostAsk&) const = default;
};
HostAsk host_ask(const JobSpec& spec);

struct HostParts {
  int64_t cpus = 0;
  int64_t memory = 0;
  bool operator==(const HostParts&) const = default;
  HostParts& operator+=(HostParts other) {
    cpus += other.cpus;
    memory += other.memory;
    return *this;
  }
  HostParts& operator-=(HostParts other) {
    cpus -= other.cpus;
    memory -= other.memory;
    return *this;
  }
  bool is_zero() const { return cpus == 0 && memory == 0; }
  bool is_within(HostParts other) const { return cpus <= other.cpus && memory <= other.memory; }
};
inline HostParts operator+(HostParts a, HostParts b) { return a += b; }
inline HostParts operator-(HostParts a, HostParts b) { return a -= b; }
// Each of them, 0 instead where it is less.
inline HostParts positive(HostParts parts) {
  return {parts.cpus > 0 ? parts.cpus : 0, parts.memory > 0 ? parts.memory : 0};
}

HostParts host_total(const NodeFacts& facts);
// What comes with so many GPUs of the node.
HostParts host_of_gpus(const NodeFacts& facts, int gpus);
// What a rank takes beyond what comes with its GPUs, less than 0 if it leaves some of that. A rank
// on all GPUs of the node has all of both, whatever it asks for.
HostParts host_excess(const NodeFacts& facts, int gpus, HostAsk ask);
inline HostParts host_use(const NodeFacts& facts, int gpus, HostAsk ask) {
  return host_of_gpus(facts, gpus) + host_excess(facts, gpus, ask);
}
// Whether the node has so much, used or not. A rank without GPUs needs a node that knows its CPUs.
bool has_host(const NodeFacts& facts, int gpus_asked, HostAsk ask);

// Whole CPUs and bytes.
struct HostAmounts {
  int cpus = 0;
  int64_t memory_bytes = 0;
};
HostAmounts host_amounts(const NodeFacts& facts, HostParts parts);

}  // namespace hai
