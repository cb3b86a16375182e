// The commands that look at jobs and nodes, or end jobs.

#include <array>

#include "cli/slurm/option_table.h"

namespace hai::cli::slurm {

// Of job_options.cpp.
std::span<const Option> sbatch_options();
std::span<const Option> salloc_options();
std::span<const Option> srun_options();

namespace {

using enum Argument;
using enum Treatment;

constexpr auto kSqueue = std::to_array<Option>({
    {"account", 'A', required, refused, "hai has no accounts"},
    {"all", 'a', none, anyway, "all node groups are always shown"},
    {"array", 'r', none, warned, "each task that was made has a line anyway, the rest one"},
    {"clusters", 'M', required, refused, "choose the cluster with HAI_CONTEXT"},
    {"format", 'o', required, mapped, "%[.][WIDTH]LETTER"},
    {"Format", 'O', required, mapped, "NAME[:[.][WIDTH]],..., e.g. jobid:10,name:30"},
    {"help", 0, none, mapped, "this text"},
    {"iterate", 'i', required, refused, "use hai list -w or hai top"},
    {"jobs", 'j', required, mapped, "only these ids"},
    {"json", 0, none, mapped, "as a document in Slurm's form; hai list -o json has more"},
    {"long", 'l', none, mapped, "also the time limit"},
    {"me", 0, none, mapped, "only my jobs"},
    {"name", 'n', required, mapped, "only jobs of these names"},
    {"noconvert", 0, none, anyway, "sizes keep the units they have"},
    {"noheader", 'h', none, mapped, "no header"},
    {"nodelist", 'w', required, mapped, "only jobs on these nodes"},
    {"partition", 'p', required, mapped, "only of these node groups"},
    {"priority", 'P', none, anyway, "a job has one node group"},
    {"qos", 'q', required, mapped, "only of these priorities"},
    {"sort", 'S', required, mapped, "letters of -o, - in front for the highest first: P,-Q"},
    {"start", 0, none, mapped, "when waiting jobs will start, p50 of the estimate"},
    {"states", 't', required, mapped, "only in these states, by code or name"},
    {"steps", 's', optional, mapped, "running steps instead of jobs; JOB or JOB.STEP"},
    {"user", 'u', required, mapped, "only of these users"},
    {"usage", 0, none, mapped, "this text"},
    {"verbose", 'v', none, warned, "hai why JOB and hai events JOB tell more"},
    {"version", 'V', none, mapped, "the version of hai"},
    {"yaml", 0, none, refused, "use hai list -o json"},
});

constexpr auto kScancel = std::to_array<Option>({
    {"account", 'A', required, refused, "hai has no accounts"},
    {"batch", 'b', none, refused, "hai ends whole jobs only"},
    {"clusters", 'M', required, refused, "choose the cluster with HAI_CONTEXT"},
    {"ctld", 0, none, anyway, "every request goes to the server"},
    {"full", 'f', none, refused, "hai ends whole jobs only"},
    {"help", 0, none, mapped, "this text"},
    {"hurry", 'H', none, anyway, "there is no staging to skip"},
    {"interactive", 'i', none, refused, "give the ids"},
    {"jobname", 0, required, mapped, "jobs of this name"},
    {"me", 0, none, mapped, "my jobs"},
    {"name", 'n', required, mapped, "jobs of this name"},
    {"nodelist", 'w', required, mapped, "jobs on these nodes"},
    {"partition", 'p', required, mapped, "jobs of this node group"},
    {"qos", 'q', required, mapped, "jobs of this priority"},
    {"quiet", 'Q', none, mapped, "no message for jobs that have ended already"},
    {"reservation", 'R', required, refused, "hai has no reservations"},
    {"sibling", 0, required, refused, "choose the cluster with HAI_CONTEXT"},
    {"signal", 's', required, mapped, "only send it; of a step (JOB.STEP), not of a job"},
    {"state", 't', required, mapped, "jobs in this state: PENDING, RUNNING or SUSPENDED"},
    {"usage", 0, none, mapped, "this text"},
    {"user", 'u', required, mapped, "jobs of this user"},
    {"verbose", 'v', none, mapped, "says which jobs are ended"},
    {"version", 'V', none, mapped, "the version of hai"},
    {"wckey", 0, required, refused, "hai has no accounting keys"},
});

constexpr auto kSinfo = std::to_array<Option>({
    {"all", 'a', none, anyway, "all node groups are always shown"},
    {"clusters", 'M', required, refused, "choose the cluster with HAI_CONTEXT"},
    {"dead", 'd', none, mapped, "only nodes that do not answer"},
    {"exact", 'e', none, anyway, "nodes are not put together by size"},
    {"federation", 0, none, refused, "choose the cluster with HAI_CONTEXT"},
    {"format", 'o', required, mapped, "%[.][WIDTH]LETTER"},
    {"Format", 'O', required, refused, "use -o with letters"},
    {"help", 0, none, mapped, "this text"},
    {"hide", 0, none, anyway, "no node group is hidden"},
    {"iterate", 'i', required, refused, "use hai nodes -w or hai top"},
    {"json", 0, none, mapped, "as a document in Slurm's form; hai nodes -o json has more"},
    {"list-reasons", 'R', none, mapped, "the reason of each node that takes no jobs"},
    {"local", 0, none, anyway, "there is one cluster"},
    {"long", 'l', none, mapped, "more columns"},
    {"nodes", 'n', required, mapped, "only these nodes"},
    {"noconvert", 0, none, anyway, "memory is in MiB"},
    {"Node", 'N', none, mapped, "one line per node"},
    {"noheader", 'h', none, mapped, "no header"},
    {"partition", 'p', required, mapped, "only of these node groups"},
    {"reservation", 'T', none, refused, "hai has no reservations"},
    {"responding", 'r', none, mapped, "only nodes that answer"},
    {"sort", 'S', required, refused, "pipe it through sort"},
    {"states", 't', required, mapped, "only in these states"},
    {"summarize", 's', none, mapped, "one line per node group, with counts"},
    {"usage", 0, none, mapped, "this text"},
    {"verbose", 'v', none, warned, "hai nodes NODE tells more"},
    {"version", 'V', none, mapped, "the version of hai"},
    {"yaml", 0, none, refused, "use hai nodes -o json"},
});

constexpr auto kScontrol = std::to_array<Option>({
    {"all", 'a', none, anyway, "all node groups are always shown"},
    {"clusters", 'M', required, refused, "choose the cluster with HAI_CONTEXT"},
    {"details", 'd', none, warned, "hai status JOB tells more"},
    {"help", 'h', none, mapped, "this text"},
    {"hide", 0, none, anyway, "no node group is hidden"},
    {"oneliner", 'o', none, mapped, "one line per job or node"},
    {"quiet", 'Q', none, anyway, "it says little anyway"},
    {"verbose", 'v', none, warned, "hai events tells more"},
    {"version", 'V', none, mapped, "the version of hai"},
});

constexpr auto kSacct = std::to_array<Option>({
    {"accounts", 'A', required, refused, "hai has no accounts"},
    {"allocations", 'X', none, mapped, "without their steps, JOB.batch and JOB.0"},
    {"allusers", 'a', none, mapped, "jobs of all users"},
    {"brief", 'b', none, mapped, "JobID, State and ExitCode"},
    {"clusters", 'M', required, refused, "choose the cluster with HAI_CONTEXT"},
    {"delimiter", 0, required, mapped, "instead of | between fields"},
    {"duplicates", 'D', none, warned, "attempts of a job are one line"},
    {"endtime", 'E', required, mapped, "only jobs submitted before; now-2hours and the like, too"},
    {"format", 'o', required, mapped, "names of fields, NAME%WIDTH"},
    {"help", 'h', none, mapped, "this text"},
    {"helpformat", 'e', none, mapped, "the names of fields"},
    {"jobs", 'j', required, mapped, "only these ids, or steps as JOB.STEP"},
    {"json", 0, none, mapped, "as a document in Slurm's form"},
    {"long", 'l', none, refused, "name the fields with -o"},
    {"me", 0, none, mapped, "my jobs, as without -a and -u"},
    {"name", 0, required, mapped, "only jobs of these names"},
    {"nodelist", 'N', required, mapped, "only jobs on these nodes"},
    {"noconvert", 0, none, anyway, "sizes keep the units they have"},
    {"noheader", 'n', none, mapped, "no header"},
    {"parsable", 'p', none, mapped, "fields with | after each"},
    {"parsable2", 'P', none, mapped, "fields with | between them"},
    {"partition", 'r', required, mapped, "only of these node groups"},
    {"qos", 'q', required, mapped, "only of these priorities"},
    {"starttime", 'S', required, mapped, "only jobs that had not ended then; default: midnight"},
    {"state", 's', required, mapped, "only in these states, by code or name"},
    {"truncate", 'T', none, warned, "times are shown as they are"},
    {"units", 0, required, warned, "sizes keep the units they have"},
    {"usage", 0, none, mapped, "this text"},
    {"user", 'u', required, mapped, "only of these users"},
    {"verbose", 'v', none, warned, "hai events JOB tells more"},
    {"version", 'V', none, mapped, "the version of hai"},
});

}  // namespace

std::span<const Option> own_options(Command command) {
  switch (command) {
    case Command::sbatch:
      return sbatch_options();
    case Command::srun:
      return srun_options();
    case Command::salloc:
      return salloc_options();
    case Command::squeue:
      return kSqueue;
    case Command::scancel:
      return kScancel;
    case Command::sinfo:
      return kSinfo;
    case Command::scontrol:
      return kScontrol;
    case Command::sacct:
      return kSacct;
  }
  return {};
}

}  // namespace hai::cli::slurm
