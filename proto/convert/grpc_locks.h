#pragma once
// gRPC's locks are Abseil's, and Debian's Abseil is a debug build in this respect: it records every
// order in which locks are taken, in one table of the process behind one lock, to find deadlocks.
// Those would be gRPC's own.

namespace hai {

// For the whole process; before gRPC is used, else what it recorded until then stays.
void leave_grpc_locks_unchecked();

}  // namespace hai
