#pragma once
// What may stand where the cursor is, for the shells' completion: one candidate a line, its
// description behind a tab; a line that begins with ":" asks the shell for names of its own.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/complete/cursor.h"
#include "cli/verb_help.h"
#include "common/status.h"

namespace hai::cli {

class Client;

struct Candidate {
  std::string text;
  std::string description = {};
};

inline constexpr size_t kCandidatesMax = 300;  // nobody reads more
inline constexpr std::string_view kAskFiles = ":files";
inline constexpr std::string_view kAskDirectories = ":directories";
inline constexpr std::string_view kAskCommands = ":commands";

// Where live names come from; nullptr if no server is to be asked.
using Connect = std::function<std::shared_ptr<Client>()>;

// All lines for the shell, cut to what the word begins with.
std::vector<Candidate> candidates(const Cursor& cursor, const Connect& connect);

// Names from the server for a value called `label` (JOB, NODE, USER ...). Empty if it does not
// answer.
std::vector<Candidate> live_candidates(std::string_view label, const Cursor& cursor,
                                       Client& client);
bool is_live(std::string_view label);

std::string format_candidates(const std::vector<Candidate>& candidates);

}  // namespace hai::cli
