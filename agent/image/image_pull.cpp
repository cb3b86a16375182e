#include "agent/image/image_pull.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "agent/image/image_store.h"
#include "common/bytes.h"
#include "common/machine/bounded_child.h"
#include "common/machine/skopeo.h"

namespace hai {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Kind = ImageName::Kind;

constexpr ChildLimits kLook = {.patience = 60s, .bytes_max = 1 << 20};
constexpr ChildLimits kWork = {.patience = 1h, .bytes_max = 8 << 20};
constexpr int kNoProgram = 127;
constexpr size_t kConfigBytesMax = 4 << 20;
constexpr const char* kPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

[[noreturn]] void execute(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(kNoProgram);
}

void set_environment(const Environment& environment) {
  ::clearenv();
  ::setenv("PATH", kPath, 1);
  ::setenv("LC_ALL", "C", 1);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
}

// With the site's proxies and credentials.
ChildOutput run_as_site(const std::vector<std::string>& words, const ImageSettings& settings,
                        const ChildLimits& limits) {
  return run_in_child(
      [&](int) {
        set_environment(settings.environment);
        execute(words);
      },
      limits);
}

// With the user's rights, and nothing of the site's.
ChildOutput run_as_user(const std::vector<std::string>& words, const ImageReader& reader,
                        const ChildLimits& limits) {
  return run_in_child(
      [&](int) {
        set_environment({});
        const bool is_other = ::geteuid() == 0 && reader.uid != 0;
        if (is_other && (::setgroups(reader.groups.size(), reader.groups.data()) != 0 ||
                         ::setresgid(reader.gid, reader.gid, reader.gid) != 0 ||
                         ::setresuid(reader.uid, reader.uid, reader.uid) != 0))
          ::_exit(kNoProgram - 1);
        execute(words);
      },
      limits);
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
         ::mount_setattr(AT_FDCWD, path, 0, &writable, sizeof writable) == 0;
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

// resource_exhausted, internal and failed_precondition are the node's, all else is the image's.
Status failure(const std::string& program, const std::string& what, const ChildOutput& output) {
  if (output.exit_code == kNoProgram)
    return failed_precondition("this node has no {}, which images need", program);
  if (output.exit_code == kNoProgram - 1) return internal("{} {}", program, output.text);
  if (output.is_late) return deadline_exceeded("image {}: {} took too long", what, program);
  if (is_full(output.text))
    return resource_exhausted("image {}: {}", what, complaint_of(output.text));
  return not_found("image {}: {}", what, complaint_of(output.text));
}

bool is_of_node(const Status& status) {
  return status.code() == Code::resource_exhausted || status.code() == Code::internal ||
         status.code() == Code::failed_precondition;
}

ImageFile failed(const Status& status) {
  return {.folder = {},
          .lock = {},
          .environment = {},
          .error = status.message(),
          .is_of_the_node = is_of_node(status)};
}

class Pull {
 public:
  Pull(const ImageStore& store, const ImageName& image, const ImageSettings& settings,
       const ImageReader& reader, const std::function<void(const std::string&)>& say)
      : store_(store), image_(image), settings_(settings), reader_(reader), say_(say) {}

  Result<ImageFile> get() {
    RETURN_IF_ERROR(find_digest());
    const Result<UniqueFd> lock = store_.lock(
        id_, [this] { say_("waits for image " + name() + ", which another rank gets"); });
    RETURN_IF_ERROR(lock.status());
    if (std::optional<ImageFile> found = store_.find(id_)) return *found;
    RETURN_IF_ERROR(make());
    std::optional<ImageFile> made = store_.find(id_);
    if (!made) return internal("image {} is not there although it was made", name());
    return *made;
  }

 private:
  std::string name() const { return to_string(image_); }
  bool is_of_registry() const { return image_.kind == Kind::registry; }

  ChildOutput run(const std::vector<std::string>& words, const ChildLimits& limits) const {
    return is_of_registry() ? run_as_site(words, settings_, limits)
                            : run_as_user(words, reader_, limits);
  }

  // Which image it is. Of one that a user named by a path it is what he says: it is his alone.
  Status find_digest() {
    digest_ = image_.digest;
    if (digest_.empty()) {
      const ChildOutput looked =
          run({"skopeo", "inspect", "--format", "{{.Digest}}", skopeo_name(image_)}, kLook);
      if (looked.exit_code != 0) return failure("skopeo", name(), looked);
      const size_t end = looked.text.find_last_not_of(" \n");
      const size_t begin = looked.text.rfind('\n', end);
      digest_ = looked.text.substr(begin + 1, end - begin);
      if (!is_image_digest(digest_)) return not_found("image {} has no digest", name());
    }
    const std::string digits = digest_.substr(digest_.find(':') + 1);
    id_ = is_of_registry() ? digits : fmt::format("{}-{}", reader_.uid, digits);
    return ok();
  }

  Status make() {
    const auto began = std::chrono::steady_clock::now();
    say_("gets image " + name());
    const Result<std::string> folder = store_.begin(id_);
    RETURN_IF_ERROR(folder.status());
    RETURN_IF_ERROR(copy(folder.value() + "/layout"));
    const std::string root = folder.value() + "/work";
    RETURN_IF_ERROR(unpack(folder.value(), root));
    Environment environment;
    RETURN_IF_ERROR(read_environment(root + "/bundle/config.json", environment));
    std::error_code error;
    fs::rename(root + "/bundle/rootfs", folder.value() + "/rootfs", error);
    if (error) return internal("image {}: {}", name(), error.message());
    fs::remove_all(root, error);
    const int64_t bytes = bytes_on_disk(folder.value());
    RETURN_IF_ERROR(store_.keep({id_, name(), digest_, bytes, {}}, environment));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    say_(fmt::format("has image {}: {} in {:.1f} s", name(), format_bytes(bytes), took.count()));
    return ok();
  }

  // Into a folder of who reads it; then it is ours.
  Status copy(const std::string& layout) const {
    const bool is_ours = is_of_registry() || ::geteuid() != 0;
    if (::mkdir(layout.c_str(), 0700) != 0 ||
        (!is_ours && ::chown(layout.c_str(), reader_.uid, reader_.gid) != 0))
      return internal("{}: {}", layout, errno_text(errno));
    const ChildOutput copied =
        run({"skopeo", "copy", "--quiet", skopeo_name(image_), "oci:" + layout + ":image"}, kWork);
    return copied.exit_code == 0 ? ok() : failure("skopeo", name(), copied);
  }

  Status unpack(const std::string& folder, const std::string& root) const {
    std::error_code error;
    if (::mkdir(root.c_str(), 0700) != 0) return internal("{}: {}", root, errno_text(errno));
    fs::rename(folder + "/layout", root + "/layout", error);
    if (error || ::chown((root + "/layout").c_str(), ::geteuid(), ::getegid()) != 0)
      return internal("{}: {}", root, error ? error.message() : errno_text(errno));
    const ChildOutput unpacked = run_confined(
        {"umoci", "unpack", "--image", root + "/layout:image", root + "/bundle"}, root);
    if (unpacked.exit_code != 0) return failure("umoci", name(), unpacked);
    fs::remove_all(root + "/layout", error);
    return ok();
  }

  Status read_environment(const std::string& path, Environment& out) const {
    const Result<std::string> text = read_file(path, kConfigBytesMax);
    RETURN_IF_ERROR(text.status());
    const Json json = Json::parse(text.value(), nullptr, false);
    if (!json.is_object() || !json.contains("process")) return ok();
    for (const Json& variable : json["process"].value("env", Json::array())) {
      if (!variable.is_string()) continue;
      const std::string word = variable.get<std::string>();
      const size_t equals = word.find('=');
      if (equals == 0 || equals == std::string::npos) continue;
      out[word.substr(0, equals)] = word.substr(equals + 1);
    }
    out.erase("TERM");  // umoci's own
    return ok();
  }

  const ImageStore& store_;
  const ImageName& image_;
  const ImageSettings& settings_;
  const ImageReader& reader_;
  const std::function<void(const std::string&)>& say_;
  std::string digest_;
  std::string id_;
};

}  // namespace

ImageFile get_image(const std::string& name, const ImageSettings& settings,
                    const ImageReader& reader, const std::function<void(const std::string&)>& say) {
  const Result<ImageName> image = parse_image(name);
  if (!image.is_ok()) return failed(not_found("image {}", image.status().message()));
  if (image.value().kind == Kind::root_folder) {
    return {.folder = image.value().name,
            .lock = {},
            .environment = {},
            .error = {},
            .is_of_the_node = false};
  }
  const Result<ImageStore> store = ImageStore::open(settings.store);
  if (!store.is_ok()) return failed(store.status());
  Result<ImageFile> got = Pull(store.value(), image.value(), settings, reader, say).get();
  if (!got.is_ok()) return failed(got.status());
  for (const std::string& gone : store.value().prune(settings.bytes_max))
    say("removed image " + gone + ", which was not used for longest");
  return std::move(got).value();
}

}  // namespace hai
