// Config files of servers and agents, and the tables and files of words beside them.

#include <algorithm>

#include "agent/agent_config.h"
#include "agent/health/kernel_table.h"
#include "agent/health/xid_table.h"
#include "common/hostlist.h"
#include "common/shell_words.h"
#include "server/server_config.h"
#include "tests/fuzz/fuzz_target.h"

namespace hai::fuzz {
namespace {

// A line for each mistake, so that the whole may be long.
constexpr size_t kAllMistakesMax = 100'000;
constexpr size_t kNamesMax = 2'000;

void judge(const Status& status) {
  if (!status.is_ok()) judge_reason(status.message(), kAllMistakesMax);
}

void try_hostlist(std::string_view text) {
  const Result<std::vector<std::string>> names = parse_hostlist(text, kNamesMax);
  judge(names.status());
  if (!names.is_ok()) return;
  if (names.value().size() > kNamesMax) broken("more names than are allowed");
  std::vector<std::string> all = names.value();
  const std::string own = format_hostlist(all);
  const Result<std::vector<std::string>> again = parse_hostlist(own, kNamesMax);
  if (!again.is_ok()) broken("its own host list is refused: " + own);
  std::vector<std::string> read = again.value();
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::sort(read.begin(), read.end());
  if (read != all) broken("other names come back from " + own);
}

void try_words(std::string_view text) {
  const Result<std::vector<std::string>> words = split_parameters(text);
  judge(words.status());
  if (!words.is_ok()) return;
  const auto again = split_parameters(join_words(words.value()));
  if (!again.is_ok() || again.value() != words.value()) broken("words do not survive their quotes");
}

void run(std::string_view input) {
  switch (take_choice(input, 6)) {
    case 0:
      return judge(parse_server_config(input, "server.yaml").status());
    case 1:
      return judge(parse_agent_config(input, "agent.yaml").status());
    case 2:
      return judge(XidTable::parse(input).status());
    case 3:
      return judge(KernelTable::parse(input).status());
    case 4:
      return try_words(input);
    default:
      return try_hostlist(input);
  }
}

}  // namespace
}  // namespace hai::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hai::fuzz::run(hai::fuzz::text_of(data, size));
  return 0;
}
