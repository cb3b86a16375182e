#pragma once
// Reads logs of this node's ranks, running, exited and forgotten ones, from their spools.

#include <functional>
#include <string>

#include "agent/core/log_source.h"

namespace hai {

class OsLogSource final : public LogSource {
 public:
  // `is_live` says whether the rank may still write.
  OsLogSource(std::string data_dir, std::function<bool(const RankKey&)> is_live);

  LogChunk read(const LogRequest& request) override;

 private:
  std::string data_dir_;
  std::function<bool(const RankKey&)> is_live_;
};

}  // namespace hai
