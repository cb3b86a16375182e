#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/session.h"
#include "cli/top/top.h"

namespace hai::cli {
namespace {

struct TopOptions {
  bool once = false;
  bool nodes = false;
  bool mine = false;
  std::string group;
  std::string filter;
};

int run(Session& session, const TopOptions& options) {
  const char* type = std::getenv("TERM");
  const bool is_dumb = type == nullptr || std::string_view(type) == "dumb";
  if (!options.once && (!session.terminal.is_tty || isatty(STDIN_FILENO) == 0 || is_dumb)) {
    return session.usage_error(
        is_dumb && session.terminal.is_tty
            ? "hai top needs a terminal whose cursor can be moved; --once prints one frame"
            : "hai top needs a terminal; --once prints one frame");
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  top::View view;
  view.page = options.nodes ? top::Page::nodes : top::Page::jobs;
  view.is_mine = options.mine;
  view.group = options.group;
  view.filter = options.filter;
  return options.once ? top::print_once(session, *client.value(), std::move(view))
                      : top::run_top(session, *client.value(), std::move(view));
}

}  // namespace

void add_top(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("top", "Watch the cluster, its jobs and nodes, full screen and live")
          ->group("Cluster");
  session.help[verb] = {
      .details =
          "Arrows, j and k move; Enter looks closely at a job or node (why, ranks, log); S "
          "suspends, "
          "R resumes and X stops the job, after asking; / filters, s sorts, r reverses, u shows "
          "your "
          "jobs alone, g the next node group, n the nodes; ? lists all keys; q quits.",
      .examples = {{"hai top", "everything"},
                   {"hai top -m", "your own jobs"},
                   {"hai top --once", "one frame as text, for scripts"}}};
  const auto options = std::make_shared<TopOptions>();
  verb->add_flag("--once", options->once, "print one frame and end; needs no terminal");
  verb->add_flag("-n,--nodes", options->nodes, "begin with the nodes");
  verb->add_flag("-m,--mine", options->mine, "begin with your jobs alone");
  verb->add_option("-g,--group", options->group, "begin with this node group");
  verb->add_option("--filter", options->filter, "begin with this filter");
  verb->callback([&session, options] { session.exit_code = run(session, *options); });
}

}  // namespace hai::cli
