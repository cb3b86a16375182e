#include "validator/cpus.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <thread>

namespace hai::validator {

std::vector<int> usable_cpus(int count) {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  } else {  // more CPUs than the set can hold
    for (int cpu = 0; cpu < static_cast<int>(std::thread::hardware_concurrency()); ++cpu)
      cpus.push_back(cpu);
  }
  if (count > 0 && static_cast<size_t>(count) < cpus.size())
    cpus.resize(static_cast<size_t>(count));
  return cpus;
}

void run_on_cpus(const std::vector<int>& cpus, const std::function<void(size_t, int)>& work) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&work, &cpus, i] {
      cpu_set_t set;
      CPU_ZERO(&set);
      if (cpus[i] < CPU_SETSIZE) {
        CPU_SET(cpus[i], &set);
        ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
      }
      work(i, cpus[i]);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace hai::validator
