#include "common/log_store/log_store.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/log_store/layout.h"

namespace hai {

namespace {

constexpr size_t kMarkBytesMax = 4096;

Status check_owner(const std::string& path, const struct stat& info) {
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return failed_precondition("log store {}: others may write there; chmod 0700 it", path);
  }
  const uid_t self = ::geteuid();
  if (self != 0 && info.st_uid != self) {
    return failed_precondition("log store {}: belongs to uid {}, and this program runs as uid {}",
                               path, info.st_uid, self);
  }
  return ok();
}

Result<std::string> mark_of(const LogStore& store) {
  const FileUser user = store.use();
  Result<std::string> mark = store.root().read(kStoreMark, kMarkBytesMax);
  if (!mark.is_ok()) return mark;
  std::string text = std::move(mark).value();
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Status mark_empty(const LogStore& store, const std::string& cluster) {
  const FileUser user = store.use();
  const Result<std::vector<std::string>> names = store.root().list();
  RETURN_IF_ERROR(names.status());
  if (!names.value().empty()) {
    return failed_precondition(
        "log store {}: is neither empty nor a log store (no {} in it); give it a folder of its own",
        store.root().path(), kStoreMark);
  }
  return store.root().replace(kStoreMark, cluster + "\n");
}

}  // namespace

FileUser::FileUser(uid_t uid, gid_t gid) {
  if (::geteuid() != 0 || (uid == 0 && gid == 0)) return;
  ::setfsgid(gid);
  ::setfsuid(uid);  // Last: with it goes the right to change them, but for going back.
  is_changed_ = true;
}

FileUser::~FileUser() {
  if (!is_changed_) return;
  ::setfsuid(::geteuid());
  ::setfsgid(::getegid());
}

Result<LogStore> LogStore::open_folder(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat info {};
  if (!fd.is_open() || ::fstat(fd.get(), &info) != 0) {
    return failed_precondition(
        "log store {}: {}; make the folder, or mount the file system that it is on", path,
        errno_text(errno));
  }
  RETURN_IF_ERROR(check_owner(path, info));
  // As its owner: what only he may read is closed to a root that is squashed.
  const FileUser user(info.st_uid, info.st_gid);
  UniqueFd readable(::openat(fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable.is_open()) {
    return failed_precondition("log store {}: {}", path, errno_text(errno));
  }
  return LogStore(Folder(std::move(readable), path), info.st_uid, info.st_gid);
}

Result<LogStore> LogStore::open(const std::string& path) {
  Result<LogStore> store = open_folder(path);
  if (!store.is_ok()) return store;
  const Result<std::string> mark = mark_of(store.value());
  if (mark.is_ok()) return store;
  if (mark.status().code() != Code::not_found) return mark.status();
  return failed_precondition(
      "log store {}: has no {}; its file system is not mounted, or no hai-server has begun it yet",
      path, kStoreMark);
}

Result<LogStore> LogStore::open_as_server(const std::string& path, const std::string& cluster) {
  Result<LogStore> store = open_folder(path);
  if (!store.is_ok()) return store;
  const Result<std::string> mark = mark_of(store.value());
  if (mark.is_ok() && mark.value() != cluster) {
    return failed_precondition("log store {}: is that of cluster {}, not of {}; each needs its own",
                               path, mark.value(), cluster);
  }
  if (mark.is_ok()) return store;
  if (mark.status().code() != Code::not_found) return mark.status();
  RETURN_IF_ERROR(mark_empty(store.value(), cluster));
  return store;
}

Result<Folder> LogStore::open_rank(const RankKey& key) const {
  const Result<Folder> thousand = root_.open(thousand_folder(key.job));
  if (!thousand.is_ok()) return thousand.status();
  const Result<Folder> job = thousand.value().open(job_folder(key.job));
  if (!job.is_ok()) return job.status();
  return job.value().open(rank_folder(key));
}

Result<Folder> LogStore::open_or_make_rank(const RankKey& key) const {
  const Result<Folder> thousand = root_.open_or_make(thousand_folder(key.job));
  if (!thousand.is_ok()) return thousand.status();
  const Result<Folder> job = thousand.value().open_or_make(job_folder(key.job));
  if (!job.is_ok()) return job.status();
  return job.value().open_or_make(rank_folder(key));
}

Status LogStore::remove_rank(const RankKey& key) const {
  const Result<Folder> thousand = root_.open(thousand_folder(key.job));
  if (!thousand.is_ok()) return thousand.status();
  const Result<Folder> job = thousand.value().open(job_folder(key.job));
  if (!job.is_ok()) return job.status();
  {
    const Result<Folder> rank = job.value().open(rank_folder(key));
    if (!rank.is_ok()) return rank.status();
    const Result<std::vector<std::string>> names = rank.value().list();
    if (!names.is_ok()) return names.status();
    // The record last: what a killed sweep leaves still says whose it is.
    for (const std::string& name : names.value()) {
      if (name != kRankRecord) RETURN_IF_ERROR(rank.value().remove(name));
    }
    RETURN_IF_ERROR(rank.value().remove(kRankRecord));
  }
  RETURN_IF_ERROR(job.value().remove_folder(rank_folder(key)).status());
  const Result<bool> is_empty = thousand.value().remove_folder(job_folder(key.job));
  RETURN_IF_ERROR(is_empty.status());
  if (!is_empty.value()) return ok();
  return root_.remove_folder(thousand_folder(key.job)).status();
}

}  // namespace hai
