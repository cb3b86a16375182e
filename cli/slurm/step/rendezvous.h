#pragma once
// How the ranks of a job find each other: the first one (the host) waits at the job's MASTER_PORT
// only to name another port, so that MASTER_PORT is free again before the script runs. There both
// sides prove that they know the job's key; without it anybody on the network could start programs
// in the name of the job's user. The proofs name that port, since anybody on the host's node could
// have been at MASTER_PORT first and pass on what is said, and each later frame has a MAC of a key
// of this connection. Nothing is encrypted. Blocking; nothing of the user runs yet.

#include <string>
#include <vector>

#include "cli/slurm/step/frame.h"
#include "common/time.h"

namespace hai::cli::slurm {

struct Place {
  int rank = 0;
  int ranks = 1;
  std::string attempt;  // ranks of another attempt are strangers
  std::string node;     // of this rank
  std::string master_address;
  int master_port = 0;
  std::string key;
  Duration patience = 5min;
};

struct Peer {
  std::string node;
  FrameChannel channel;
};

// On rank 0: the others, by rank from 1 on.
Result<std::vector<Peer>> gather_peers(const Place& here);
// On the others: the connection to rank 0.
Result<FrameChannel> join_host(const Place& here);

}  // namespace hai::cli::slurm
