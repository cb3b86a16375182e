#pragma once

namespace hai {

// gRPC writes a line to standard error for each handshake that fails: anybody could fill a server's
// log with them, and what `hai` says should be one sentence. From here on it is silent, unless
// GRPC_VERBOSITY asks for its words.
void keep_grpc_silent();

}  // namespace hai
