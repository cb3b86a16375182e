// hai-image ensure --rank RANKDIR --user UID:GID:GROUPS: gets the image of a rank, for its shim,
// and says in RANKDIR/image.json where it is. hai-image list|prune --store DIR: for administrators.

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "agent/image/image_pull.h"
#include "agent/image/image_store.h"
#include "agent/os/launch_file.h"
#include "agent/os/rank_directory.h"
#include "common/bytes.h"

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
bool read_user(std::string_view text, ImageReader& out) {
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

int ensure(const RankDirectory& directory, const std::string& user) {
  ImageReader reader;
  if (!read_user(user, reader)) return kUsage;
  const Result<std::string> text = read_file(directory.launch_file(), kLaunchFileBytesMax);
  if (!text.is_ok()) return fail(text.status());
  const Result<LaunchFile> launch = launch_file_from_json(text.value());
  if (!launch.is_ok()) return fail(launch.status());
  reader.cgroups = launch.value().cgroups;
  const ImageFile image = get_image(launch.value().image, launch.value().images, reader, say);
  if (!image.error.empty()) say(image.error);
  const Status written = write_file_atomic(directory.image_file(), image_file_to_json(image), 0600,
                                           Durability::survives_crash_of_program);
  return written.is_ok() ? 0 : fail(written);
}

int list(const std::string& path) {
  const Result<ImageStore> store = ImageStore::open(path);
  if (!store.is_ok()) return fail(store.status());
  for (const StoredImage& image : store.value().list()) {
    fmt::print("{}  {:>10}  {}  {}\n", format_rfc3339(image.used_at), format_bytes(image.bytes),
               image.digest, image.name);
  }
  return 0;
}

int prune(const std::string& path, const std::string& size) {
  const Result<int64_t> bytes = parse_bytes(size);
  if (!bytes.is_ok()) return fail(bytes.status());
  const Result<ImageStore> store = ImageStore::open(path);
  if (!store.is_ok()) return fail(store.status());
  for (const std::string& name : store.value().prune(bytes.value())) {
    fmt::print("removed {}\n", name);
  }
  return 0;
}

}  // namespace
}  // namespace hai

int main(int argc, char** argv) {
  CLI::App app("The container images of a node.");
  app.require_subcommand(1);
  std::string rank, user, store, size = "0";
  CLI::App* ensure = app.add_subcommand("ensure", "get the image of a rank; called by its shim");
  ensure->add_option("--rank", rank, "the rank's directory")->required();
  ensure->add_option("--user", user, "UID:GID:GROUPS of its user")->required();
  CLI::App* list = app.add_subcommand("list", "the images that are kept, the least used first");
  list->add_option("--store", store, "their folder, DATA_DIR/images of the agent")->required();
  CLI::App* prune = app.add_subcommand("prune", "remove images that no rank uses");
  prune->add_option("--store", store, "their folder, DATA_DIR/images of the agent")->required();
  prune->add_option("--keep", size, "as many bytes of them may stay, as 100Gi; default: 0");
  CLI11_PARSE(app, argc, argv);
  if (*ensure) return hai::ensure({rank}, user);
  if (*list) return hai::list(store);
  return hai::prune(store, size);
}
