#include "cli/slurm/other_commands.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/follow.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/slurm/commands.h"
#include "cli/slurm/console.h"
#include "cli/slurm/describe.h"
#include "cli/slurm/job_query.h"
#include "cli/slurm/log_text.h"
#include "cli/slurm/step/output_writer.h"
#include "cli/table.h"
#include "common/job_spec.h"
#include "common/version.h"

namespace hai::cli::slurm {
namespace {

// Of what was written before somebody came, as much as tells where the job is.
constexpr Duration kShownOnAttach = 10s;

int run_seff(Session& session, const Words& words) {
  if (words.size() != 1 || words[0].starts_with('-')) {
    return usage_error("seff", "give one job id");
  }
  const Result<std::string> id = parse_job_id(words[0]);
  if (!id.is_ok()) return usage_error("seff", id.status().message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail("seff", client.status());
  v1::GetJobRequest request;
  request.set_job(id.value());
  Result<v1::Job> job = client.value()->get_job(request);
  if (!job.is_ok()) return fail("seff", job.status());
  const Result<NodeBook> nodes = book_of_nodes(*client.value());
  if (!nodes.is_ok()) return fail("seff", nodes.status());
  const auto given = fill_from_attempt(*client.value(), nodes.value(), job.value());
  print(describe_efficiency(job.value(), given, wall_now()));
  return kOk;
}

// Priorities are words in hai, and one number for each: there are no factors to show.
int run_sprio(Session& session, const Words& words) {
  constexpr std::string_view kTaken[] = {"-j",     "-u",     "-p",          "-h",
                                         "--jobs", "--user", "--partition", "--noheader"};
  Words all = {"--states=PD", "--sort=-Q", "--format=%.15i %9P %.8u %.10Q %.14q %r"};
  for (const std::string& word : words) {
    if (word == "-l" || word == "--long") continue;
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    const bool is_taken = std::any_of(std::begin(kTaken), std::end(kTaken), [&](auto known) {
      return known == name ||
             (known.size() == 2 && !word.starts_with("--") && word.starts_with(known));
    });
    if (word.starts_with('-') && !is_taken) {
      return usage_error("sprio", fmt::format("{}: only -j, -u, -p and -h are taken; hai has no "
                                              "factors or weights, hai why JOB tells the rest",
                                              word.substr(0, 64)));
    }
    all.push_back(word);
  }
  return run_squeue(session, all);
}

struct Listing {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
};

Result<Listing> list_qos() {
  Listing list = {.titles = {"Name", "Priority"}};
  for (const Priority priority : kPriorities) {
    list.rows.push_back(
        {std::string(to_string(priority)), std::to_string(static_cast<int>(priority))});
  }
  list.rows.push_back({std::string(to_string(Priority::automatic)), "-1"});
  return list;
}

Result<Listing> list_people(Client& client) {
  const Result<v1::ListUsersReply> users = client.list_users({});
  RETURN_IF_ERROR(users.status());
  Listing list = {.titles = {"User", "Def Acct", "Admin"}};
  for (const v1::User& user : users.value().users()) {
    list.rows.push_back({user.name(), "", user.role()});
  }
  return list;
}

Result<Listing> list_clusters(Client& client) {
  const Result<v1::Cluster> cluster = client.get_cluster({});
  RETURN_IF_ERROR(cluster.status());
  return Listing{{"Cluster", "ControlHost"}, {{cluster.value().name(), cluster.value().leader()}}};
}

struct ListStyle {
  bool header = true;
  bool is_parsable = false;
  bool ends_with_bar = false;
};

std::string format_listing(const Listing& list, const ListStyle& style) {
  constexpr size_t kWidth = 14;
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells, char fill) {
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string cell = printable(cells[i]);
      if (style.is_parsable) {
        const bool is_last = i + 1 == cells.size();
        text += cell + (is_last && !style.ends_with_bar ? "" : "|");
      } else {
        const size_t width = display_width(cell);
        text += std::string(width < kWidth ? kWidth - width : 0, fill) + cell + " ";
      }
    }
    text += "\n";
  };
  if (style.header) {
    add(list.titles, ' ');
    if (!style.is_parsable) add(std::vector<std::string>(list.titles.size()), '-');
  }
  for (const std::vector<std::string>& row : list.rows) add(row, ' ');
  return text;
}

int run_sacctmgr(Session& session, const Words& words) {
  ListStyle style;
  Words rest;
  for (const std::string& word : words) {
    if (!word.starts_with('-') || word.size() < 2) {
      rest.push_back(word);
    } else if (word == "--noheader" || word == "--parsable" || word == "--parsable2" ||
               word.find_first_not_of("nPpi", 1) == std::string::npos) {
      const bool is_long = word.starts_with("--");
      const auto has = [&](char letter, std::string_view name) {
        return is_long ? word.substr(2) == name : word.find(letter) != std::string::npos;
      };
      if (has('n', "noheader")) style.header = false;
      if (has('p', "parsable")) style.is_parsable = style.ends_with_bar = true;
      if (has('P', "parsable2")) style.is_parsable = true;
    } else {
      return usage_error("sacctmgr",
                         fmt::format("{}: only -n, -p and -P are taken", word.substr(0, 64)));
    }
  }
  const bool is_show = !rest.empty() && (rest[0] == "show" || rest[0] == "list");
  const std::string thing = rest.size() == 2 ? rest[1] : "";
  const bool is_qos = thing == "qos";
  const bool is_user = thing == "user" || thing == "users";
  if (!is_show || !(is_qos || is_user || thing == "cluster" || thing == "clusters")) {
    return usage_error("sacctmgr",
                       "only show qos, show user and show cluster; hai has no accounts: hai quota, "
                       "hai user and hai whoami tell and change the rest");
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail("sacctmgr", client.status());
  const Result<Listing> list = is_qos    ? list_qos()
                               : is_user ? list_people(*client.value())
                                         : list_clusters(*client.value());
  if (!list.is_ok()) return fail("sacctmgr", list.status());
  print(format_listing(list.value(), style));
  return kOk;
}

// The output of a job's steps is in the log of its first rank, whichever node they run on.
int run_sattach(Session& session, const Words& words) {
  constexpr std::string_view kName = "sattach";
  if (words.size() != 1 || words[0].starts_with('-')) {
    return usage_error(kName, "give one job, as JOB or JOB.STEP; hai logs has options");
  }
  const std::string& text = words[0];
  const size_t dot = std::min(text.find('.'), text.size());
  const Result<std::string> id = parse_job_id(std::string_view(text).substr(0, dot));
  if (!id.is_ok()) return usage_error(kName, id.status().message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kName, client.status());
  v1::GetJobRequest request;
  request.set_job(id.value());
  const Result<v1::Job> job = client.value()->get_job(request);
  if (!job.is_ok()) return fail(kName, job.status());
  if (is_terminal(job.value())) {
    return fail(kName, failed_precondition("job {} has ended: hai logs {} shows what it wrote",
                                           id.value(), id.value()));
  }
  detach_on_interrupt(fmt::format("job {} goes on", id.value()));
  LogText log([](std::string_view bytes) { write_all(STDOUT_FILENO, bytes); });
  const Result<v1::Job> ended =
      follow_job(*client.value(), {.job = id.value(),
                                   .since = wall_now() - kShownOnAttach,
                                   .follow = true,
                                   .sink = [&](std::string_view bytes) { log.add(bytes); }});
  if (!ended.is_ok()) return fail(kName, ended.status());
  return exit_code_of_ended(ended.value());
}

constexpr auto kOthers = std::to_array<OtherCommand>({
    {"seff", run_seff, "seff JOB: its GPU time, what it used, and what interruptions cost"},
    {"sprio", run_sprio, "sprio [-j JOB] [-u USER] [-p GROUP] [-h]: waiting jobs, highest first"},
    {"sacctmgr", run_sacctmgr, "sacctmgr [-n] [-p or -P] show qos, user or cluster"},
    {"sattach", run_sattach,
     "sattach JOB[.STEP]: follows what its steps write, and takes no input"},
    {"sshare", nullptr, "hai has no shares: hai quota shows who may use how much"},
    {"sreport", nullptr, "use hai list -a --finished -o json, or the dashboard's overview"},
    {"sstat", nullptr,
     "use hai top and hai nodes NODE; sacct has what a step used once it has ended"},
    {"sbcast", nullptr, "put the file where all nodes see it, or copy it: srun cp FROM TO"},
    {"strigger", nullptr, "use hai events -f, or hai wait JOB && COMMAND"},
    {"sdiag", nullptr, "use hai doctor, or the server's /metrics"},
    {"scrontab", nullptr, "call sbatch from cron, or sbatch --begin at the end of the script"},
});

}  // namespace

std::span<const OtherCommand> other_commands() { return kOthers; }

const OtherCommand* find_other_command(std::string_view name) {
  const auto found = std::find_if(kOthers.begin(), kOthers.end(),
                                  [&](const OtherCommand& other) { return other.name == name; });
  return found == kOthers.end() ? nullptr : &*found;
}

int run_other_command(const OtherCommand& command, Session& session,
                      const std::vector<std::string>& words) {
  if (!words.empty() && (words[0] == "--version" || words[0] == "-V")) {
    print(fmt::format("hai-slurm {}\n", version()));
    return kOk;
  }
  if (command.run == nullptr) {
    return usage_error(command.name, fmt::format("not supported: {}", command.text));
  }
  if (!words.empty() && words[0] == "--help") {
    print(fmt::format("{}\n", command.text));
    return kOk;
  }
  return command.run(session, words);
}

}  // namespace hai::cli::slurm
