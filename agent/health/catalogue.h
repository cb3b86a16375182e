#pragma once
// Every check by the names of its results, for documents and for people. docs/operations/health.md
// holds these tables; a test compares them, and that no check says a name that is not here.

#include <span>
#include <string>

namespace hai {

struct CheckInfo {
  const char* name;
  const char* check;  // the run that says it: kernel_log, gpu, ib, mounts, log_store, disks, host
  const char* reads;
  const char* judges;  // limit → verdict and tier
};
std::span<const CheckInfo> check_infos();

// As tables of Markdown.
std::string format_check_infos();
std::string format_limit_infos();

}  // namespace hai
