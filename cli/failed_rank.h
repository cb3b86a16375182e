#pragma once
// What the rank wrote that made a job fail: who follows rank 0 would not see it.

#include <optional>
#include <string>

#include "hai/v1/types.pb.h"

namespace hai::cli {

class Client;

// The first rank whose program ended with a code other than 0, as far as it ended by itself.
std::optional<int> failed_rank(const v1::Attempt& attempt);

// Prints the end of its log, unless it is `followed`. Nothing if the job has not failed so, or
// nobody can read it any more.
void tell_failed_rank(Client& client, const v1::Job& job, int followed);

}  // namespace hai::cli
