#include "agent/image/image_pull.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "agent/image/image_layout.h"
#include "agent/image/image_manifest.h"
#include "agent/image/image_store.h"
#include "agent/image/pull_watch.h"
#include "agent/os/cgroup.h"
#include "agent/os/launch_file.h"
#include "agent/shim/call_filter.h"
#include "agent/shim/rank_user.h"
#include "common/boot_clock.h"
#include "common/bytes.h"
#include "common/count_of.h"
#include "common/hex.h"
#include "common/machine/bounded_child.h"
#include "common/machine/skopeo.h"
#include "common/tls/peer_keys.h"

namespace hai {

namespace {

namespace fs = std::filesystem;

constexpr ChildLimits kLook = {.patience = 60s, .bytes_max = 1 << 20};
constexpr ChildLimits kWork = {.patience = 1h, .bytes_max = 8 << 20};
constexpr int kNoProgram = 127;
constexpr int64_t kRoom = 20LL << 30;  // with so much free a full disk is the image's fault

void set_environment(const Environment& environment) {
  ::clearenv();
  ::setenv("PATH", kDefaultPath, 1);
  ::setenv("LC_ALL", "C", 1);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
}

// With the site's proxies and credentials.
ChildOutput run_as_site(const std::vector<std::string>& words, const ImageSettings& settings,
                        const ChildLimits& limits, const std::function<bool()>& goes_on) {
  return run_in_child(
      [&](int) {
        set_environment(settings.environment);
        execute(words);
      },
      limits, goes_on);
}

// As a program of the rank, with nothing of the site's.
ChildOutput run_as_user(const std::vector<std::string>& words, const RankUser& reader,
                        const ChildLimits& limits, const std::function<bool()>& goes_on) {
  const Result<CallFilter> calls = CallFilter::make({});
  return run_in_child(
      [&](int) {
        set_environment({});
        if (!calls.is_ok() || !become_rank_user(reader, calls.value())) ::_exit(kNoProgram - 1);
        execute(words);
      },
      limits, goes_on);
}

// What unpacks what strangers packed can write into this folder only, and talk to nobody.
bool confine_to(const std::string& folder) {
  const char* path = folder.c_str();
  mount_attr read_only{};
  read_only.attr_set = MOUNT_ATTR_RDONLY;
  mount_attr writable{};
  writable.attr_clr = MOUNT_ATTR_RDONLY;
  return ::unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount(path, path, nullptr, MS_BIND, nullptr) == 0 &&
         ::mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof read_only) == 0 &&
         ::mount_setattr(AT_FDCWD, path, 0, &writable, sizeof writable) == 0 &&
         ::mount("tmpfs", "/dev", "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, nullptr) == 0;
}

ChildOutput run_confined(const std::vector<std::string>& words, const std::string& folder) {
  return run_in_child(
      [&](int) {
        set_environment({{"TMPDIR", folder}, {"HOME", folder}});
        if (!confine_to(folder)) {
          const std::string why = "cannot be confined: " + errno_text(errno) + "\n";
          static_cast<void>(!::write(STDERR_FILENO, why.data(), why.size()));
          ::_exit(kNoProgram - 1);
        }
        execute(words);
      },
      kWork);
}

bool is_full(std::string_view text) {
  return text.find("no space left") != std::string_view::npos ||
         text.find("quota exceeded") != std::string_view::npos;
}

int64_t free_bytes(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return 0;
  return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
}

bool is_of_node(const Status& status) {
  return status.code() == Code::resource_exhausted || status.code() == Code::internal ||
         status.code() == Code::failed_precondition;
}

ImageFile failed(const Status& status) {
  return {.folder = {},
          .lock = {},
          .environment = {},
          .devices = {},
          .error = status.message(),
          .is_of_the_node = is_of_node(status)};
}

class Pull {
 public:
  Pull(const ImageStore& store, const ImageName& image, const ImageSettings& settings,
       const RankUser& reader, const std::function<void(const std::string&)>& say)
      : store_(store), image_(image), settings_(settings), reader_(reader), say_(say) {}

  // As long as this object lives nobody removes the image.
  Result<ImageFile> get() {
    free_at_first_ = free_bytes(settings_.store);
    RETURN_IF_ERROR(find_digest());
    const auto waits = [this] { say_("waits for image " + name() + ", which another rank gets"); };
    for (int tries = 0; tries < kTriesMax; ++tries) {
      Result<UniqueFd> shared = store_.share(id_, waits);
      RETURN_IF_ERROR(shared.status());
      lock_ = std::move(shared).value();
      if (std::optional<ImageFile> found = store_.find(id_)) return *found;
      lock_.reset();
      const Result<UniqueFd> lock = store_.lock(copy_, waits);
      RETURN_IF_ERROR(lock.status());
      if (store_.find(id_)) continue;
      const Status made = make();
      if (!made.is_ok()) store_.drop(copy_);
      RETURN_IF_ERROR(made);
    }
    return internal("image {} is not there although it was made", name());
  }

 private:
  static constexpr int kTriesMax = 5;

  std::string name() const { return to_string(image_); }
  bool is_of_registry() const { return image_.kind == ImageName::Kind::registry; }

  ChildOutput run(const std::vector<std::string>& words, const ChildLimits& limits,
                  const std::function<bool()>& goes_on = nullptr) const {
    return is_of_registry() ? run_as_site(words, settings_, limits, goes_on)
                            : run_as_user(words, reader_, limits, goes_on);
  }

  // So many bytes are to come; 0 = nobody knows, as of what lies at a path.
  Result<int64_t> ask_size() const {
    if (!is_of_registry()) return 0;
    ImageName asked = source_;
    ImageManifest manifest;
    for (int level = 0; level < 2; ++level) {  // of several architectures, or of this one
      const ChildOutput said = run({"skopeo", "inspect", "--raw", skopeo_name(asked)},
                                   {.patience = settings_.patience, .bytes_max = kLook.bytes_max});
      if (said.is_late) return nothing_came("");
      if (said.exit_code != 0) return failure("skopeo", said);
      manifest = read_manifest(said.text, own_architecture());
      if (manifest.digest.empty()) break;
      asked.digest = manifest.digest;
    }
    return manifest.bytes;
  }

  Status nothing_came(const std::string& progress) const {
    const std::string from = is_of_registry() ? registry_of(image_) : "its file";
    return deadline_exceeded("image {}: nothing came from {} for {}{}", name(), from,
                             format_duration(settings_.patience),
                             progress.empty() ? "" : " after " + progress);
  }

  // resource_exhausted, internal and failed_precondition are the node's, all else is the image's.
  Status failure(const std::string& program, const ChildOutput& output) const {
    const std::string why = complaint_of(output.text);
    if (output.exit_code == kNoProgram)
      return failed_precondition("this node has no {}, which images need", program);
    if (output.exit_code == kNoProgram - 1)
      return internal("image {}: {} could not be started as it is to be: {}", name(), program, why);
    if (output.is_late) return deadline_exceeded("image {}: {} took too long", name(), program);
    const bool had_room = free_at_first_ >= kRoom;
    if (is_full(output.text) && had_room) {
      return not_found("image {}: needs more than the {} that were free: {}", name(),
                       format_bytes(free_at_first_), why);
    }
    if (is_full(output.text)) return resource_exhausted("image {}: {}", name(), why);
    return not_found("image {}: {}", name(), why);
  }

  // Which image it is. Of one that a user named by a path it is what he says: it is his alone.
  Status find_digest() {
    digest_ = image_.digest;
    if (digest_.empty()) {
      const ChildOutput looked =
          run({"skopeo", "inspect", "--format", "{{.Digest}}", skopeo_name(image_)}, kLook);
      if (looked.exit_code != 0) return failure("skopeo", looked);
      const size_t end = looked.text.find_last_not_of(" \n");
      const size_t begin = looked.text.rfind('\n', end);
      digest_ = looked.text.substr(begin + 1, end - begin);
      if (!is_image_digest(digest_)) return not_found("image {} has no digest", name());
    }
    const std::string digits = digest_.substr(digest_.find(':') + 1);
    id_ = is_of_registry() ? digits : fmt::format("{}-{}", reader_.uid, digits);
    source_ = image_;
    if (is_of_registry()) source_.digest = digest_;
    // Of a length that a file's name may have, and nobody finds another name that gives the same.
    copy_ = id_ + "-" + to_hex(hmac_sha256(digest_, skopeo_name(source_)));
    return ok();
  }

  Status make() {
    const auto began = std::chrono::steady_clock::now();
    say_("gets image " + name());
    const Result<std::string> folder = store_.begin(copy_);
    RETURN_IF_ERROR(folder.status());
    const std::string layout = folder.value() + "/layout";
    RETURN_IF_ERROR(copy(folder.value()));
    Environment environment;
    RETURN_IF_ERROR(read_image_environment(layout, environment));
    say_("unpacks image " + name());
    RETURN_IF_ERROR(unpack(folder.value()));
    std::error_code error;
    fs::remove_all(layout, error);
    const int64_t bytes = bytes_on_disk(folder.value());
    RETURN_IF_ERROR(store_.keep(copy_, {id_, name(), digest_, bytes, {}}, environment));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    say_(fmt::format("has image {}: {} in {:.1f} s", name(), format_bytes(bytes), took.count()));
    return ok();
  }

  // To FOLDER/layout, and from then on nobody but root enters the folder.
  Status copy(const std::string& folder) const {
    const std::string layout = folder + "/layout";
    const std::string his = folder + "/his";
    const bool is_ours = is_of_registry() || ::geteuid() != 0;
    const std::string& to = is_ours ? layout : his;
    if (::mkdir(to.c_str(), 0700) != 0 ||
        (!is_ours && ::chown(to.c_str(), reader_.uid, reader_.gid) != 0))
      return internal("{}: {}", to, errno_text(errno));
    const Result<int64_t> bytes_total = ask_size();
    RETURN_IF_ERROR(bytes_total.status());
    PullWatch watch(
        bytes_total.value(), settings_.patience, [&to] { return bytes_on_disk(to); },
        [this](const std::string& text) { say_(fmt::format("image {}: {}", name(), text)); });
    const ChildOutput copied =
        run({"skopeo", "copy", "--quiet", skopeo_name(source_), "oci:" + to + ":image"}, kWork,
            [&watch] { return watch.goes_on(boot_now()); });
    if (copied.is_given_up) return nothing_came(watch.text());
    if (copied.exit_code != 0) return failure("skopeo", copied);
    if (::chmod(folder.c_str(), 0700) != 0) return internal("{}: {}", folder, errno_text(errno));
    if (is_ours) return ok();
    const Status taken = take_layout(his, layout);
    std::error_code ignored;
    fs::remove_all(his, ignored);
    return taken.is_ok() ? ok() : not_found("image {}: {}", name(), taken.message());
  }

  // Into FOLDER/rootfs.
  Status unpack(const std::string& folder) const {
    const ChildOutput unpacked = run_confined(
        {"umoci", "raw", "unpack", "--image", folder + "/layout:image", folder + "/rootfs"},
        folder);
    return unpacked.exit_code == 0 ? ok() : failure("umoci", unpacked);
  }

  const ImageStore& store_;
  const ImageName& image_;
  const ImageSettings& settings_;
  const RankUser& reader_;
  const std::function<void(const std::string&)>& say_;
  int64_t free_at_first_ = 0;
  std::string digest_;
  ImageName source_;  // with its digest, of a registry
  std::string id_;    // of the image, wherever it comes from
  std::string copy_;  // of the one that is made from there
  UniqueFd lock_;
};

}  // namespace

ImageFile get_image(const std::string& name, const ImageSettings& settings, const RankUser& reader,
                    const std::function<void(const std::string&)>& say) {
  const Result<ImageName> image = parse_image(name);
  if (!image.is_ok()) return failed(not_found("image {}", image.status().message()));
  if (image.value().kind == ImageName::Kind::root_folder) {
    return {.folder = image.value().name,
            .lock = {},
            .environment = {},
            .devices = {},
            .error = {},
            .is_of_the_node = false};
  }
  const Result<ImageStore> store = ImageStore::open(settings.store);
  if (!store.is_ok()) return failed(store.status());
  Pull pull(store.value(), image.value(), settings, reader, say);
  Result<ImageFile> got = pull.get();
  if (!got.is_ok()) return failed(got.status());
  // Whose log this is need not know what others run.
  const std::vector<StoredImage> gone = store.value().prune(settings.bytes_max);
  int64_t bytes = 0;
  for (const StoredImage& image : gone) bytes += image.bytes;
  if (!gone.empty())
    say(fmt::format("removed {} ({}) to make room", count_of(std::ssize(gone), "unused image"),
                    format_bytes(bytes)));
  return std::move(got).value();
}

}  // namespace hai
