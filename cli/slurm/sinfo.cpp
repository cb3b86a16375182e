#include <fmt/core.h>

#include <algorithm>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/node_list.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/slurm/commands.h"
#include "cli/slurm/console.h"
#include "cli/slurm/job_query.h"
#include "cli/slurm/json_views.h"
#include "cli/slurm/map_job.h"
#include "cli/slurm/node_words.h"
#include "cli/slurm/slurm_time.h"
#include "cli/slurm/submit.h"
#include "cli/slurm/view_values.h"
#include "common/hostlist.h"

namespace hai::cli::slurm {
namespace {

constexpr Command kSinfo = Command::sinfo;

std::string sinfo_format(const ParsedWords& words) {
  const bool is_long = words.has("long");
  if (words.has("format")) return words.value_of("format");
  if (words.has("list-reasons")) {
    return is_long ? "%40E %12u %8t %N" : "%20E %9u %N";
  }
  if (words.has("summarize")) return "%#P %.5a %.10l %.16F %N";
  if (words.has("Node")) {
    return is_long ? "%#N %.6D %#P %.11T %.4c %.8m %.6G %20E" : "%#N %.6D %#P %6t";
  }
  return is_long ? "%#P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N"
                 : "%#P %.5a %.10l %.6D %.6t %N";
}

bool is_lower_equal(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return (x >= 'A' && x <= 'Z' ? x + 32 : x) == y; });
}

// By code, by name, or by how Slurm shortens it ("drain" for both kinds of draining).
bool is_in_state(const v1::Node& node, const std::vector<std::string>& states) {
  const NodeState state = node_state(node);
  return states.empty() || std::any_of(states.begin(), states.end(), [&](const std::string& word) {
           if (is_lower_equal(word, "all")) return true;
           if (is_lower_equal(word, "drain")) return state.code == "drain" || state.code == "drng";
           return is_lower_equal(word, state.code) || is_lower_equal(word, state.name);
         });
}

Status check_states(const std::vector<std::string>& states) {
  constexpr std::string_view kKnown[] = {"all",     "idle",  "alloc",   "allocated",
                                         "mix",     "mixed", "down",    "drain",
                                         "drained", "drng",  "draining"};
  for (const std::string& word : states) {
    if (std::none_of(std::begin(kKnown), std::end(kKnown),
                     [&](std::string_view known) { return is_lower_equal(word, known); })) {
      return invalid_argument(
          "--states: '{}' is not known, only idle, alloc, mix, drain, drained, drng, down and all",
          word.substr(0, 64));
    }
  }
  return ok();
}

void narrow(const ParsedWords& words, const std::vector<std::string>& names,
            std::vector<v1::Node>& nodes) {
  const std::vector<std::string> groups = split_list(words.value_of("partition"));
  const std::vector<std::string> states = split_list(words.value_of("states"));
  const auto has = [](const std::vector<std::string>& list, const std::string& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  std::erase_if(nodes, [&](const v1::Node& node) {
    const bool answers = node_state(node).answers;
    return !has(groups, node.group()) || !has(names, node.name()) || !is_in_state(node, states) ||
           (words.has("dead") && answers) || (words.has("responding") && !answers) ||
           (words.has("list-reasons") && node.reason().empty());
  });
}

}  // namespace

int run_sinfo(Session& session, const Words& words) {
  const Result<ParsedWords> parsed = parse_view_words(kSinfo, words);
  if (!parsed.is_ok()) return usage_error(kSinfo, parsed.status().message());
  const ParsedWords& options = parsed.value();
  if (is_only_asking(kSinfo, options)) return kOk;
  if (!options.operands.empty()) {
    return usage_error(kSinfo,
                       fmt::format("'{}': name nodes with -n", options.operands[0].substr(0, 64)));
  }
  const Result<std::vector<FormatField>> fields =
      parse_format(sinfo_format(options), node_letters());
  if (!fields.is_ok()) return usage_error(kSinfo, fields.status().message());
  const Status states = check_states(split_list(options.value_of("states")));
  if (!states.is_ok()) return usage_error(kSinfo, states.message());
  const auto names = parse_hostlist(options.value_of("nodes"));
  if (!names.is_ok()) return usage_error(kSinfo, names.status().message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kSinfo, client.status());
  Result<std::vector<v1::Node>> nodes = all_nodes(*client.value());
  if (!nodes.is_ok()) return fail(kSinfo, nodes.status());
  narrow(options, names.value(), nodes.value());
  if (options.has("json")) {
    print(nodes_document(nodes.value()));
    return kOk;
  }
  const bool header = !options.has("noheader");
  std::string text;
  if (options.has("long") && header) text = format_date(to_micros(wall_now())) + "\n";
  const auto rows = node_rows(nodes.value(), fields.value(), options.has("Node"));
  print(text + format_lines(fields.value(), node_letters(), rows, header));
  return kOk;
}

}  // namespace hai::cli::slurm
