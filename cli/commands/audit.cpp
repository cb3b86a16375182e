#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"
#include "cli/time_option.h"

namespace hai::cli {
namespace {

constexpr int kAuditPageSize = 1000;
constexpr int64_t kFirstSeq = 1;  // of all entries

struct AuditOptions {
  std::string user;
  std::string call;
  std::string result;
  std::string target;
  std::string since;
  int count = 100;
  OutputFormat output = OutputFormat::table;
};

struct Found {
  std::vector<v1::AuditEntry> entries;  // oldest first
  std::string archived;  // why there may be earlier ones that the server does not have; "" = none
};

// The last `count`. When there are no more, one look before the first entry of all tells whether
// earlier ones are archived.
Result<Found> entries_of(Client& client, v1::ListAuditRequest request, int count) {
  Found found;
  std::vector<v1::AuditEntry>& entries = found.entries;
  while (std::ssize(entries) < count) {
    request.set_page_size(std::min(kAuditPageSize, count - static_cast<int>(entries.size())));
    const Result<v1::ListAuditReply> page = client.list_audit(request);
    if (page.status().code() == Code::not_found && request.has_before_seq()) {
      found.archived = page.status().message();
      break;
    }
    RETURN_IF_ERROR(page.status());
    entries.insert(entries.end(), page.value().entries().begin(), page.value().entries().end());
    if (request.before_seq() == kFirstSeq) break;
    if (!entries.empty() && entries.back().seq() == kFirstSeq) break;
    request.set_before_seq(page.value().next_seq() == 0 ? kFirstSeq : page.value().next_seq());
  }
  std::reverse(entries.begin(), entries.end());
  return found;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string table_of(const std::vector<v1::AuditEntry>& entries, bool is_wide,
                     const Terminal& terminal) {
  std::vector<Column> columns = {{"TIME"},  {"USER"}, {"TOKEN"}, {"CALL"}, {"TARGET", false, true},
                                 {"RESULT"}};
  if (is_wide) columns.insert(columns.begin(), {.title = "SEQ", .right = true});
  columns.push_back({.title = "FROM", .spare = 1});
  columns.push_back({"TEXT", false, true, 16});
  Table table(columns);
  for (const v1::AuditEntry& entry : entries) {
    const Colour colour = entry.result() == "ok" ? Colour::none : Colour::red;
    std::vector<Cell> row = {local_time(entry.at_us()), or_dash(entry.user()),
                             or_dash(entry.token()),    entry.call(),
                             or_dash(entry.target()),   {entry.result(), colour}};
    if (is_wide) row.insert(row.begin(), Cell(std::to_string(entry.seq())));
    row.emplace_back(or_dash(entry.address()));
    row.emplace_back(entry.text());
    table.add_row(std::move(row));
  }
  return table.render(terminal);
}

int audit(Session& session, const AuditOptions& options) {
  v1::ListAuditRequest request;
  request.set_user(options.user);
  request.set_call(options.call);
  request.set_result(options.result);
  request.set_target(options.target);
  if (!options.since.empty()) {
    const Result<UnixTime> since = read_time_option("--since", options.since, FromNow::ago);
    if (!since.is_ok()) return session.usage_error(since.status().message());
    request.set_since_us(to_micros(since.value()));
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<Found> found = entries_of(*client.value(), request, options.count);
  if (!found.is_ok()) return session.fail(found.status());
  const std::vector<v1::AuditEntry>& entries = found.value().entries;
  if (is_json(options.output)) {
    std::vector<Json> items;
    for (const v1::AuditEntry& entry : entries) items.push_back(to_json(entry));
    print(format_json_list(items, options.output));
  } else if (entries.empty()) {
    print("no such entries\n");
  } else {
    print(table_of(entries, options.output == OutputFormat::wide, session.terminal));
  }
  if (!found.value().archived.empty()) say(found.value().archived);
  return kOk;
}

}  // namespace

void add_audit(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("audit", "Show who did, or tried, what, oldest first")->group("Cluster");
  const auto options = std::make_shared<AuditOptions>();
  verb->add_option("--user", options->user, "only what this user did or tried")->type_name("USER");
  verb->add_option("--call", options->call, "only this call, e.g. ControlJob")->type_name("CALL");
  verb->add_option("--result", options->result,
                   "only these: ok, refused (whatever is not ok), or an error's word")
      ->type_name("RESULT");
  verb->add_option("--target", options->target, "only about this, e.g. job/17, node/node-3")
      ->type_name("TARGET");
  verb->add_option("--since", options->since, "from this time on, or so long ago: 1h");
  verb->add_option("-n,--count", options->count, "at most so many, 100 by default")
      ->check(CLI::Range(1, 100'000));
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .details =
          "For administrators. There is an entry for whatever was refused or has changed "
          "something, for sign-ins, and for reads of logs and secrets. What comes in floods "
          "is counted: \"and 412 more\". What hai-server archive has moved into files is not "
          "shown; that it may be asked for is said.",
      .examples = {{"hai audit --result refused --since 1h", "who was refused what"},
                   {"hai audit --target job/17", "what was done to a job, by whom"},
                   {"hai audit --user ann -o jsonl", "all that ann did, for a program"}}};
  verb->callback([&session, options] { session.exit_code = audit(session, *options); });
}

}  // namespace hai::cli
