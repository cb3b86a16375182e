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

// Refuses before anything is made what would destroy something: a CA or a key that the cluster has
// (`is_marked`: its database says so) and that is not here any more.
Status check_files(const SetupPlan& plan, bool is_marked);

// What the database may ask for before anything else is made: the passfile in the server's folder,
// brought by the bundle or put there by a person, is given to the server's user. It is taken away
// again with this object unless that is told to keep it.
class Passfile {
 public:
  explicit Passfile(const SetupPlan& plan);
  Passfile(const Passfile&) = delete;
  Passfile& operator=(const Passfile&) = delete;
  ~Passfile();

  Status bring();
  void keep() { is_kept_ = true; }

 private:
  const SetupPlan& plan_;
  std::string path_;  // "" = none in the folder
  bool has_made_file_ = false;
  bool has_made_folder_ = false;
  bool is_kept_ = false;
};

// Makes what is missing; a line in `said` for each file that was made.
Status make_files(const SetupPlan& plan, std::vector<std::string>& said);
Status write_config(const SetupPlan& plan, std::vector<std::string>& said);
// Keys belong to the server's user; others are for everybody to read, also those that were made
// under a narrow umask.
Status hand_over_files(const SetupPlan& plan);
// Of one file, if it is there.
Status hand_over(const std::string& path, const UnixUser& user);

}  // namespace hai
