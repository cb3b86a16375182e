#pragma once
// What the parts of a job tell each other: its first rank (the host), the other ranks (peers) and
// each srun (a client). Length, kind, step, task, body; over sockets that never block. Between
// nodes each frame is followed by its MAC.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/step/fd.h"
#include "cli/slurm/step/frame_mac.h"
#include "common/status.h"

namespace hai::cli::slurm {

enum class FrameKind : uint8_t {
  start = 1,  // client → host: a StepRequest; host → peer: a StepLaunch
  refused,    // host → client: why the step cannot be; peer → host: why a task could not start
  output,     // of a task
  error_output,
  task_ended,  // to the host: a TaskEnd; to the client: exit code, node
  kill,        // host → peer: end the tasks of this step; body: by this signal, "" = at once
  bye,         // host → peer: the job is over; host → client: the exit code of the step
  resources,   // peer → host: its GPUs and CPUs
  waiting,     // host → client: the step waits until others have ended
  signal,      // host → peer: send this signal to all tasks; body: its number
  input,       // client → host → peer: typed into the task's terminal
  resize,      // likewise; body: the terminal's rows and columns
  mpi,         // PMIx server ↔ its node ↔ host; body: an MpiMessage
  cancel,      // client → host: end this step; body: only send this signal, "" = end it
};

struct Frame {
  FrameKind kind{};
  uint32_t step = 0;
  uint32_t task = 0;
  std::string body;
  bool operator==(const Frame&) const = default;
};

inline constexpr size_t kFrameBytesMax = 8u << 20;

std::string encode(const Frame& frame);
// Takes whole frames from the front of `bytes`; an error if these are no frames, or not followed by
// the MACs that `mac` gives.
Result<std::vector<Frame>> take_frames(std::string& bytes, FrameMac* mac = nullptr);

// Texts in one text, whatever bytes they hold.
std::string pack(const std::vector<std::string>& texts);
Result<std::vector<std::string>> unpack(std::string_view packed);

class FrameChannel {
 public:
  // `fd` is made non-blocking. With `macs`: nobody between the two sides can speak or alter.
  explicit FrameChannel(Fd fd, std::optional<FrameMacs> macs = std::nullopt);
  int fd() const { return fd_.get(); }
  bool is_open() const { return fd_.get() >= 0; }
  size_t backlog() const { return out_.size(); }
  void send(const Frame& frame);
  // What has come; closes itself when the other side has or speaks nonsense.
  std::vector<Frame> receive();
  const Status& nonsense() const { return nonsense_; }  // for which it closed itself
  void flush();                                         // as much as goes now
  void flush_and_close();  // waits for the other side to take it, 5 s at most

 private:
  Fd fd_;
  std::optional<FrameMacs> macs_;
  Status nonsense_;
  std::string in_;
  std::string out_;
};

}  // namespace hai::cli::slurm
