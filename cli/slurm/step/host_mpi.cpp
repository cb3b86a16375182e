// The part of the host that is about steps with --mpi=pmix.

#include <fmt/core.h>
#include <sys/random.h>

#include <algorithm>

#include "cli/slurm/step/host.h"
#include "common/hex.h"

namespace hai::cli::slurm {

// PMIx lets whoever is on the node and knows the name ask for the step's data.
std::string mpi_space(const std::string& node, uint32_t step) {
  unsigned char bytes[16];
  CHECK(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  return fmt::format("hai.{}.{}.{}", node, step,
                     to_hex({reinterpret_cast<const char*>(bytes), sizeof bytes}));
}

void BatchHost::on_mpi(int rank, const Frame& frame) {
  Step* step = find_step(frame.step);
  if (step == nullptr || !step->mpi) return;
  const auto place = std::find(step->ranks.begin(), step->ranks.end(), rank);
  if (place == step->ranks.end()) return;
  const Result<MpiMessage> decoded = decode_mpi(frame.body);
  if (!decoded.is_ok()) return refuse_step(*step, std::string(decoded.status().message()));
  const MpiMessage& message = decoded.value();
  if (message.kind == MpiKind::failed) {
    return refuse_step(*step,
                       fmt::format("{}: {}", names_[static_cast<size_t>(rank)], message.data));
  }
  if (message.kind == MpiKind::abort) return abort_step(*step, message);
  if (message.kind == MpiKind::lost) {
    if (step->mpi->note_lost(message.rank)) check_left(frame.step, message.rank);
    return;
  }
  const int node = static_cast<int>(place - step->ranks.begin());
  const auto outgoing = step->mpi->take(node, message);
  if (!outgoing.is_ok()) return refuse_step(*step, std::string(outgoing.status().message()));
  send_mpi(frame.step, outgoing.value());
}

// To its own node last: tasks that start there may end at once, and with them the step.
void BatchHost::send_mpi(uint32_t number, const std::vector<MpiHub::Outgoing>& messages) {
  const Step* step = find_step(number);
  const std::vector<int> ranks = step == nullptr ? std::vector<int>{} : step->ranks;
  for (const bool is_own : {false, true}) {
    for (const MpiHub::Outgoing& out : messages) {
      const int rank = ranks[static_cast<size_t>(out.node)];
      if ((rank == 0) == is_own) {
        send_to_rank(rank, {FrameKind::mpi, number, 0, encode_mpi(out.message)});
      }
    }
  }
}

void BatchHost::abort_step(Step& step, const MpiMessage& message) {
  if (step.exit_code != 0) return;  // others follow it
  tell_client(step.number,
              {FrameKind::error_output, step.number, static_cast<uint32_t>(message.rank),
               fmt::format("srun: error: task {} called MPI_Abort with {}\n", message.rank,
                           message.status)});
  fail_step(step, message.status);
}

// The client leaves with this.
void BatchHost::refuse_step(Step& step, const std::string& why) {
  tell_client(step.number, {FrameKind::refused, step.number, 0, why});
  fail_step(step, 1);
}

// A task that ended well, but without MPI_Finalize: the others would wait for it for ever.
void BatchHost::check_left(uint32_t number, int task) {
  Step* step = find_step(number);
  if (step == nullptr || !step->mpi || !step->mpi->note_ended(task)) return;
  if (step->exit_code == 0) {
    tell_client(number, {FrameKind::error_output, number, static_cast<uint32_t>(task),
                         fmt::format("srun: error: task {} ended without MPI_Finalize\n", task)});
  }
  fail_step(*step, 1);
}

// Ends it; what its tasks end with because of that does not count.
void BatchHost::fail_step(Step& step, int code) {
  if (step.exit_code == 0) step.exit_code = code >= 1 && code <= 255 ? code : 1;
  step.kill_on_bad_exit = true;
  kill_step(step.number);
}

}  // namespace hai::cli::slurm
