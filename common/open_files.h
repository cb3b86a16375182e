#pragma once
// How many files this process may have open. Each connection is one, and the usual soft limit of
// 1,024 is fewer than the nodes of a cluster.

namespace hai {

// Raises the soft limit to the hard one; what it is then.
long allow_many_open_files();

}  // namespace hai
