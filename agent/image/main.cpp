// hai-image ensure --rank RANKDIR --user UID:GID:GROUPS: gets the image of a rank, for its shim,
// and says in RANKDIR/image.json where it is. hai-image list|pull|prune --store DIR: for
// administrators. hai-image look: what a job names by a path, for the server. hai-image asked: one
// of these, for a visitor of the agent's.

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <tuple>

#include "agent/image/image_pull.h"
#include "agent/image/image_store.h"
#include "agent/image/launch_look.h"
#include "agent/image/rank_devices.h"
#include "agent/os/launch_file.h"
#include "agent/os/rank_directory.h"
#include "agent/os/shell_file.h"
#include "common/bytes.h"
#include "common/shell_messages.h"

namespace hai {
namespace {

constexpr int kError = 1;
constexpr int kUsage = 2;

int fail(const Status& status) {
  fmt::print(stderr, "hai-image: {}\n", status.message());
  return kError;
}

void say(const std::string& line) {
  fmt::print("hai: {}\n", line);
  std::fflush(stdout);
}

// "1000:1000:1000,27"
bool read_user(std::string_view text, RankUser& out) {
  std::vector<unsigned> numbers;
  while (!text.empty()) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return false;
    numbers.push_back(number);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (!text.empty()) text.remove_prefix(1);
  }
  if (numbers.size() < 2) return false;
  out.uid = numbers[0];
  out.gid = numbers[1];
  out.groups.assign(numbers.begin() + 2, numbers.end());
  return true;
}

// What its GPUs need first: a node that cannot give it must not fetch an image for it.
ImageFile find_all(const LaunchFile& launch, const RankUser& reader) {
  Result<ImageDevices> devices = find_devices(launch.images, launch.gpus, say);
  if (!devices.is_ok()) {
    return {.folder = {},
            .lock = {},
            .environment = {},
            .devices = {},
            .error = devices.status().message(),
            .is_of_the_node = true};
  }
  ImageFile image = get_image(launch.image, launch.images, reader, say);
  image.devices = std::move(devices).value();
  return image;
}

int ensure(const RankDirectory& directory, const std::string& user) {
  RankUser reader;
  if (!read_user(user, reader)) return kUsage;
  const Result<std::string> text = read_file(directory.launch_file(), kLaunchFileBytesMax);
  if (!text.is_ok()) return fail(text.status());
  const Result<LaunchFile> launch = launch_file_from_json(text.value());
  if (!launch.is_ok()) return fail(launch.status());
  reader.cgroups = launch.value().cgroups;
  const ImageFile image = find_all(launch.value(), reader);
  if (!image.error.empty()) say(image.error);
  const Status written = write_file_atomic(directory.image_file(), image_file_to_json(image), 0600,
                                           Durability::survives_crash_of_program);
  return written.is_ok() ? 0 : fail(written);
}

// For `hai images` a line each of JSON: the server passes on what the node says.
int list(const std::string& path, bool is_json) {
  const Result<ImageStore> store = ImageStore::open(path);
  if (!store.is_ok()) return fail(store.status());
  for (const StoredImage& image : store.value().list()) {
    if (is_json) {
      fmt::print("{}\n", stored_image_to_json(image));
      continue;
    }
    fmt::print("{}  {:>10}  {}  {}\n", format_rfc3339(image.used_at), format_bytes(image.bytes),
               image.digest, image.name);
  }
  return 0;
}

struct PullWords {
  std::string image;
  ImageSettings settings;
  int64_t patience_seconds = 300;
  std::vector<std::string> environment;  // NAME=VALUE
};

// Ahead of any job: of a registry, and so nobody's.
int pull(PullWords words) {
  for (const std::string& text : words.environment) {
    const size_t equals = text.find('=');
    if (equals != std::string::npos)
      words.settings.environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  words.settings.patience = words.patience_seconds * Duration(1s);
  const Result<ImageName> name = parse_image(words.image);
  if (!name.is_ok()) return fail(name.status());
  if (name.value().kind != ImageName::Kind::registry)
    return fail(invalid_argument("only images of registries are pulled ahead"));
  const ImageFile image = get_image(words.image, words.settings, {}, say);
  return image.error.empty() ? 0 : fail(internal("{}", image.error));
}

int prune(const std::string& path, const std::string& size) {
  const Result<int64_t> bytes = parse_bytes(size);
  if (!bytes.is_ok()) return fail(bytes.status());
  const Result<ImageStore> store = ImageStore::open(path);
  if (!store.is_ok()) return fail(store.status());
  for (const StoredImage& image : store.value().prune(bytes.value())) {
    fmt::print("removed {}\n", image.name);
  }
  return 0;
}

int look_at(const LaunchLook& look) {
  const Status seen = look_before_launch(look);
  if (!seen.is_ok()) fmt::print(stderr, "{}\n", seen.message());
  return seen.is_ok() ? 0 : kLookRefused;
}

// What a visitor of the agent's asked for (agent/shell/shells.cpp), as the words of a command line.
// The agent is told so that it runs by the end of a pipe.
bool read_asked(std::vector<std::string>& words) {
  const Result<std::string> text =
      read_file(fmt::format("/proc/self/fd/{}", kShellRequestFd), kShellFileBytesMax);
  for (const int fd : {kShellRequestFd, kShellComplaintFd}) ::close(fd);
  if (!text.is_ok()) return false;
  const Result<ShellProgram> program = shell_program_from_json(text.value());
  if (program.is_ok()) words = program.value().argv;
  return program.is_ok();
}

int run(std::vector<std::string> given) {
  const bool is_asked = given == std::vector<std::string>{"asked"};
  if (is_asked && !read_asked(given)) return kUsage;
  CLI::App app("The container images of a node.");
  app.require_subcommand(1);
  std::string rank, user, store, size = "0";
  LaunchLook launch;
  PullWords words;
  CLI::App* ensure = app.add_subcommand("ensure", "get the image of a rank; called by its shim");
  ensure->add_option("--rank", rank, "the rank's directory")->required();
  ensure->add_option("--user", user, "UID:GID:GROUPS of its user")->required();
  CLI::App* list = app.add_subcommand("list", "the images that are kept, the least used first");
  CLI::App* pull = app.add_subcommand("pull", "get an image of a registry");
  pull->add_option("IMAGE", words.image, "NAME[:TAG] or NAME@DIGEST")->required();
  pull->add_option("--bytes-max", words.settings.bytes_max, "as many bytes may be kept unused");
  pull->add_option("--patience", words.patience_seconds, "with a silent registry, in seconds")
      ->check(CLI::Range(1, 3'600));
  pull->add_option("--environment", words.environment, "NAME=VALUE of skopeo's")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  CLI::App* look = app.add_subcommand("look", "what of a job could not be launched here");
  look->add_option("--user", launch.user, "whose job it is")->required();
  look->add_option("--image", launch.image, "the job's image")->required();
  for (const auto& [name, into, text] :
       {std::tuple("--mount", &launch.mounts, "a folder it wants to see: FROM[:TO][:ro]"),
        std::tuple("--allowed", &launch.allowed, "a folder of which those may be"),
        std::tuple("--system-user", &launch.system_users, "may have jobs, whatever his uid")}) {
    look->add_option(name, *into, text)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  CLI::App* prune = app.add_subcommand("prune", "remove images that no rank uses");
  for (CLI::App* verb : {list, pull, prune})
    verb->add_option("--store", store, "their folder, DATA_DIR/images of the agent")->required();
  prune->add_option("--keep", size, "as many bytes of them may stay, as 100Gi; default: 0");
  try {
    std::reverse(given.begin(), given.end());  // as CLI11 wants it
    app.parse(given);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  words.settings.store = store;
  if (*ensure) return hai::ensure({rank}, user);
  if (*look) return look_at(launch);
  if (*list) return hai::list(store, is_asked);
  return *pull ? hai::pull(std::move(words)) : hai::prune(store, size);
}

}  // namespace
}  // namespace hai

int main(int argc, char** argv) { return hai::run({argv + 1, argv + argc}); }
