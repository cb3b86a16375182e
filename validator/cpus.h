#pragma once
// Work on each CPU by a thread that stays there.

#include <functional>
#include <vector>

namespace hai::validator {

// Those this process may use; the first `count` of them unless that is 0.
std::vector<int> usable_cpus(int count);

// Runs work(index, cpu) on a thread of its own per CPU, pinned to it where that is allowed, all at
// once; returns when all have ended.
void run_on_cpus(const std::vector<int>& cpus, const std::function<void(size_t, int)>& work);

}  // namespace hai::validator
