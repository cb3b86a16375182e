#pragma once
// A list that came out empty because nobody and nothing is called what it was asked for.

#include <string>
#include <vector>

namespace hai::cli {

class Client;

// One line per name that the cluster does not know, for people; "" names are skipped. Asks the
// server, so only of a list that is empty.
std::vector<std::string> unknown_names(Client& client, const std::vector<std::string>& users,
                                       const std::vector<std::string>& groups);

}  // namespace hai::cli
