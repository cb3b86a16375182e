#pragma once
// The files of a server that is set up: which there are, making those that are not, and whose they
// are. Nothing is ever written over.

#include <string>
#include <vector>

#include "common/status.h"
#include "server/setup/setup_plan.h"

namespace hai {

bool is_file(const std::string& path);
// Of the cluster that the server in this folder belongs to; not_found if it was never set up.
Result<std::string> read_cluster_id(const std::string& folder);
std::string make_cluster_id();
// Of the cluster that `hai-server setup` has set up beside this config; "" where a person wrote it.
// invalid_argument if what is there is no id: it must not pass for none.
Result<std::string> cluster_beside(const std::string& config);

// Whether the setup by which a cluster was founded there has not come to its end: run again, it is
// still the first one, though the config is there by then.
bool is_unfinished(const std::string& folder);
Status mark_unfinished(const std::string& folder);
Status mark_finished(const std::string& folder);

// Refuses before anything is made what would destroy something: a CA or a key that the cluster has
// (`has_cluster`: its database says so) and that is not here any more.
Status check_files(const SetupPlan& plan, bool has_cluster);

// What must be there before the database is the cluster's. What it has made is taken away again
// with this object unless that is told to keep it.
class FirstFiles {
 public:
  explicit FirstFiles(const SetupPlan& plan) : plan_(plan) {}
  FirstFiles(const FirstFiles&) = delete;
  FirstFiles& operator=(const FirstFiles&) = delete;
  ~FirstFiles();

  // Before the database is asked: the CA of its certificate, if the bundle has it, and the
  // passfile. Those in the server's folder, brought by the bundle or put there by a person, the
  // server's user can read then.
  Status bring_database_files();
  // Before the database is marked with the id: with a mark that no file knows the cluster itself
  // would be refused.
  Status bring_id(std::vector<std::string>& said);
  void keep() { made_.clear(); }

 private:
  // What the bundle has for this path, if anything.
  Status bring(const std::string& path);
  Status make(const std::string& path, const std::string& text, mode_t mode);

  const SetupPlan& plan_;
  std::vector<std::string> made_;  // files, and folders before them if they were made, too
};

// Makes what else is missing; a line in `said` for each file that was made.
Status make_files(const SetupPlan& plan, std::vector<std::string>& said);
Status write_config(const SetupPlan& plan, std::vector<std::string>& said);
// Keys belong to the server's user; others are for everybody to read, also those that were made
// under a narrow umask.
Status hand_over_files(const SetupPlan& plan);
// Of one file, if it is there.
Status hand_over(const std::string& path, const UnixUser& user);

}  // namespace hai
