#pragma once
// What the ranks of a job that starts wait for: its image, as hai-image tells of it in their logs.

#include <string>
#include <vector>

#include "common/time.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

class Client;

// A line for each node that still gets the image, or "". Pure.
std::string pulling_text(const std::vector<v1::LogLine>& lines, const v1::Attempt& attempt,
                         UnixTime now);
// Asks for it; "" for a job that does not start, or whose logs are not for this user.
std::string pulling_of(Client& client, const v1::Job& job, const std::vector<v1::Attempt>& attempts,
                       UnixTime now);

}  // namespace hai::cli
