#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/file.h"
#include "cli/help/man_page.h"
#include "cli/help/verb_doc.h"
#include "cli/session.h"
#include "common/version.h"

namespace hai::cli {
namespace {

// Verb after verb, each before those below it. Those of `hai` itself are pages of their own.
void add_verbs_below(const CLI::App& verb, const HelpBook& book, std::vector<VerbDoc>& out) {
  for (const CLI::App* each : verbs_of(verb)) {
    out.push_back(doc_of(*each, book));
    if (verb.get_parent() != nullptr) add_verbs_below(*each, book, out);
  }
}

Status write_page(const Session& session, const CLI::App& verb, const std::string& folder) {
  const VerbDoc doc = doc_of(verb, session.help);
  std::vector<VerbDoc> inner;
  add_verbs_below(verb, session.help, inner);
  const std::string page = man_page(doc, inner, std::string(version()));
  return write_file(folder + "/" + man_name(doc) + ".1", page, 0644);
}

int write_pages(Session& session, const CLI::App& app, const std::string& folder) {
  Status status = make_directories(folder, 0755);
  if (status.is_ok()) status = write_page(session, app, folder);
  for (const CLI::App* verb : verbs_of(app)) {
    if (status.is_ok()) status = write_page(session, *verb, folder);
  }
  return status.is_ok() ? kOk : session.fail(status);
}

}  // namespace

// Of no use to people: the build calls it.
void add_man(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("__man", "Write the man pages")->group("");
  const auto folder = std::make_shared<std::string>();
  verb->add_option("DIRECTORY", *folder, "where to")->required();
  verb->callback(
      [&session, &app, folder] { session.exit_code = write_pages(session, app, *folder); });
}

}  // namespace hai::cli
