// What is read back after a crash or years later: lines of the event log and of archives, whole log
// files, also compressed ones, and the small files that agents and shims leave to who comes after
// them. What can be read comes back the same; what can't has a reason.

#include <unistd.h>

#include <fstream>

#include "agent/health/fault_file.h"
#include "agent/health/health_record.h"
#include "agent/health/kernel_record.h"
#include "agent/health/xid_line.h"
#include "agent/os/agent_record_file.h"
#include "agent/os/launch_file.h"
#include "agent/os/rank_directory.h"
#include "server/store/event_line.h"
#include "server/store/job_line.h"
#include "server/store/line_file.h"
#include "sim/virtual_loop.h"
#include "tests/fuzz/fuzz_target.h"

namespace hai::fuzz {
namespace {

constexpr const char* kBootId = "b";

// Files of this process alone.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/hai-fuzz-XXXXXX";
    if (mkdtemp(name) == nullptr) broken("no folder");
    path_ = name;
  }
  ~Folder() {
    for (const std::string file : {"agent.json", "lines", "lines.gz"}) {
      ::unlink((path_ + "/" + file).c_str());
    }
    ::rmdir(path_.c_str());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string put(const std::string& name, std::string_view text) const {
    std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::string path_;
};

const Folder& folder() {
  static const Folder one;
  return one;
}

void judge(const Status& status) {
  if (!status.is_ok()) judge_reason(status.message());
}

void try_event(std::string_view line) {
  const Result<Event> event = event_from_line(line);
  judge(event.status());
  if (!event.is_ok()) return;
  const std::string own = event_line(event.value());
  const Result<Event> again = event_from_line(own);
  if (!again.is_ok()) broken("its own line is refused: " + own);
  if (event_line(again.value()) != own) broken("it comes back changed: " + own);
}

void try_job(std::string_view line) {
  const Result<ArchivedJob> job = job_from_line(line);
  judge(job.status());
  if (!job.is_ok()) return;
  const std::string own = job_line(job.value());
  const Result<ArchivedJob> again = job_from_line(own);
  if (!again.is_ok()) broken("its own line is refused: " + own);
  if (job_line(again.value()) != own) broken("it comes back changed: " + own);
}

void try_log_file(std::string_view text, const char* name) {
  const Result<std::unique_ptr<LineReader>> reader = LineReader::open(folder().put(name, text));
  if (!reader.is_ok()) return judge(reader.status());
  std::string_view line;
  while (true) {
    const Result<bool> got = reader.value()->next(line);
    judge(got.status());
    if (!got.is_ok() || !got.value()) return;
    try_event(line);
  }
}

void try_launch(std::string_view text) {
  const Result<LaunchFile> launch = launch_file_from_json(text);
  judge(launch.status());
  if (!launch.is_ok()) return;
  const Result<LaunchFile> again = launch_file_from_json(launch_file_to_json(launch.value()));
  if (!again.is_ok()) broken("its own launch file is refused");
}

void try_agent_record(std::string_view text) {
  folder().put("agent.json", text);
  Timeline timeline;
  VirtualLoop loop(timeline);
  AgentRecordFile file(folder().path(), kBootId, loop);
  file.load();
  if (file.peer_port() < 0 || file.peer_port() > 65'535) broken("an odd port");
}

void try_kernel_line(std::string_view line) {
  const std::optional<KernelRecord> record = parse_kernel_record(line);
  if (!record) return;
  if (record->text.size() > kKernelTextBytesMax) broken("a line of the kernel that is too long");
  parse_xid_line(record->text);
}

void run(std::string_view input) {
  switch (take_choice(input, 10)) {
    case 0:
      return try_event(input);
    case 1:
      return try_job(input);
    case 2:
      return try_log_file(input, "lines");
    case 3:
      return try_log_file(input, "lines.gz");
    case 4:
      return try_launch(input);
    case 5:
      return try_agent_record(input);
    case 6:
      return judge(read_health_record(folder().put("lines", input), kBootId).status());
    case 7:
      return judge(read_fault_file(folder().put("lines", input)).status());
    case 8:
      parse_rank_key(input);
      return;
    default:
      return try_kernel_line(input);
  }
}

}  // namespace
}  // namespace hai::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hai::fuzz::run(hai::fuzz::text_of(data, size));
  return 0;
}
