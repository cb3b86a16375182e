#pragma once
// The agent's side of hang evidence: runs hai-hang-evidence and takes what it says, without ever
// waiting for it. Owned by one thread, which calls poll() now and then; the destructor kills.
//
//   start ──▶ poll: none … ──▶ poll: evidence     at the latest `patience` and a second after start

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "agent/os/files.h"
#include "common/status.h"
#include "common/time.h"

namespace hai {

struct HangEvidence {
  std::string summary;  // one line
  std::string text;     // at most kHangEvidenceBytesMax
  bool operator==(const HangEvidence&) const = default;
};
inline constexpr size_t kHangEvidenceBytesMax = 64 << 10;

struct EvidenceOrder {
  std::string program;               // "" = helper_program()
  pid_t shim = 0;                    // all below it; 0 = none
  std::vector<std::string> cgroups;  // and all in these
  Duration patience{45s};
  std::string nvml_library;  // "" = the system's
  std::string sys_root;
};

class EvidenceRun {
 public:
  static Result<EvidenceRun> start(const EvidenceOrder& order, MonoTime now);
  EvidenceRun(EvidenceRun&& other) noexcept;
  EvidenceRun& operator=(EvidenceRun&&) = delete;
  ~EvidenceRun();

  // Never blocks. Gives the evidence once, and nothing before or after. If the helper was late or
  // broke, that is what it has written so far, with a summary that says so.
  std::optional<HangEvidence> poll(MonoTime now);

 private:
  EvidenceRun(pid_t pid, UniqueFd output, MonoTime until)
      : pid_(pid), output_(std::move(output)), until_(until) {}
  bool read_some();  // whether all has been read
  void end();
  HangEvidence take(std::string_view trouble);

  pid_t pid_ = 0;
  UniqueFd output_;
  MonoTime until_{};
  std::string said_;
};

}  // namespace hai
