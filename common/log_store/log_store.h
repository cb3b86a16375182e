#pragma once
// The log store: a folder on storage that all nodes and servers share, where the logs of ranks
// outlive their nodes. It belongs to the user that hai-server runs as, and nobody else may write
// there. Who is root works in it as that user, so that a file server that does not trust root
// (root_squash) need not.
//
// Opened anew for each piece of work, so that a file system that is mounted, unmounted or mounted
// again in between is seen. Calls wait for the storage: never on a loop's thread.

#include <sys/types.h>

#include <string>

#include "common/id.h"
#include "common/log_store/folder.h"

namespace hai {

// This thread's files are the given user's, until it ends. Only root can; others stay who they are.
class FileUser {
 public:
  FileUser(uid_t uid, gid_t gid);
  ~FileUser();
  FileUser(const FileUser&) = delete;
  FileUser& operator=(const FileUser&) = delete;

 private:
  bool is_changed_ = false;
};

class LogStore {
 public:
  // failed_precondition with the remedy if it is not there, is not ours or others may write there;
  // and if it has no mark, so that a mount point without its file system is not filled.
  static Result<LogStore> open(const std::string& path);
  // The same, of the servers: gives an empty folder its mark. `cluster` must be the mark's.
  static Result<LogStore> open_as_server(const std::string& path, const std::string& cluster);

  // Whether open_folder() would take it, marked or not.
  static Status check_folder(const std::string& path) { return open_folder(path).status(); }

  const Folder& root() const { return root_; }
  // To be held while anything of the store is used.
  FileUser use() const { return FileUser(uid_, gid_); }

  // not_found if there is none.
  Result<Folder> open_rank(const RankKey& key) const;
  Result<Folder> open_or_make_rank(const RankKey& key) const;
  // With its folder's parents, if nothing else is in them.
  Status remove_rank(const RankKey& key) const;

 private:
  LogStore(Folder root, uid_t uid, gid_t gid) : root_(std::move(root)), uid_(uid), gid_(gid) {}
  static Result<LogStore> open_folder(const std::string& path);

  Folder root_;
  uid_t uid_;
  gid_t gid_;
};

}  // namespace hai
