#include "server/api/image_pins.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "common/machine/skopeo.h"
#include "common/machine/spawn.h"
#include "common/unique_fd.h"

extern char** environ;

namespace hai {

namespace {

constexpr Duration kHolds = 30s;
constexpr size_t kPinnedMax = 1'000;
constexpr size_t kOutputBytesMax = 64 << 10;
constexpr int kNoProgram = 127;
constexpr int kTooLate = 124;  // says timeout(1)

struct Output {
  int exit_code = -1;
  std::string text;   // standard output
  std::string error;  // standard error
};

std::string read_all(int fd) {
  std::string text;
  char piece[4096];
  for (ssize_t got; (got = ::read(fd, piece, sizeof piece)) != 0;) {
    if (got < 0 && errno != EINTR) break;
    if (got > 0 && text.size() < kOutputBytesMax) text.append(piece, static_cast<size_t>(got));
  }
  return text;
}

Result<pid_t> start(const std::vector<std::string>& words, const UniqueFd& out,
                    const UniqueFd& err) {
  Spawn spawn;
  spawn.open("/dev/null", O_RDONLY, STDIN_FILENO);
  spawn.give(out.get(), STDOUT_FILENO);
  spawn.give(err.get(), STDERR_FILENO);
  return spawn.run(words, environ);
}

// Waits for it: beside the loop only. What the program says as an error is little, so that reading
// one after the other cannot block it.
Output run(const std::vector<std::string>& words) {
  int out[2];
  int err[2];
  if (::pipe2(out, O_CLOEXEC) != 0) return {};
  const UniqueFd out_reader(out[0]);
  UniqueFd out_writer(out[1]);
  if (::pipe2(err, O_CLOEXEC) != 0) return {};
  const UniqueFd err_reader(err[0]);
  UniqueFd err_writer(err[1]);
  const Result<pid_t> pid = start(words, out_writer, err_writer);
  if (!pid.is_ok()) return {.exit_code = kNoProgram, .text = {}, .error = pid.status().message()};
  out_writer.reset();
  err_writer.reset();
  Output output;
  output.text = read_all(out_reader.get());
  output.error = read_all(err_reader.get());
  int status = 0;
  while (::waitpid(pid.value(), &status, 0) < 0 && errno == EINTR) {
  }
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

Status no_answer(const std::string& registry, Duration patience) {
  return failed_precondition(
      "resource.image: {} did not answer within {}; try again later, or name the image with its "
      "digest",
      registry, format_duration(patience));
}

struct Asked {
  Result<std::string> pinned;
  bool was_silent = false;
};

// Of an image that is named by its digest only this is of use: that its registry has no such one.
// What else goes wrong is the registry's trouble, and nodes may have the image already.
Asked judge_pinned(const ImageName& image, const Output& output) {
  const std::string name = to_string(image);
  const bool was_silent = output.exit_code == kTooLate || output.exit_code == 128 + SIGKILL;
  const bool is_unknown = output.error.find("manifest unknown") != std::string::npos ||
                          output.error.find("name unknown") != std::string::npos;
  if (output.exit_code == 0 || was_silent || !is_unknown) return {name, was_silent};
  return {not_found("resource.image: {}: {}", name, complaint_of(output.error))};
}

Asked ask_registry(ImageName image, Duration patience) {
  const std::string seconds = std::to_string(std::max<int64_t>(1, patience / 1s));
  const Output output = run({"/usr/bin/timeout", "-k", "1", seconds, "skopeo", "inspect",
                             "--no-tags", "--format", "{{.Digest}}", skopeo_name(image)});
  if (!image.digest.empty()) return judge_pinned(image, output);
  const std::string name = to_string(image);
  if (output.exit_code == kNoProgram) {
    return {failed_precondition(
        "resource.image: hai-server has no skopeo(1), which finds {}; install it, or name the "
        "image with its digest",
        name)};
  }
  if (output.exit_code == kTooLate || output.exit_code == 128 + SIGKILL) {
    return {no_answer(registry_of(image), patience), true};
  }
  std::string digest = output.text;
  digest.erase(std::find_if(digest.begin(), digest.end(), [](char c) { return c <= ' '; }),
               digest.end());
  if (output.exit_code != 0 || !is_image_digest(digest)) {
    return {not_found("resource.image: {}: {}", name, complaint_of(output.error))};
  }
  image.digest = digest;
  return {to_string(image)};
}

}  // namespace

ImagePins::ImagePins(Loop& loop, Settings settings) : loop_(loop), settings_(std::move(settings)) {}

const ImagePins::Pinned* ImagePins::recent(const std::string& image) const {
  const auto found = pinned_.find(image);
  const bool holds = found != pinned_.end() && loop_.now() < found->second.at + kHolds;
  return holds ? &found->second : nullptr;
}

void ImagePins::pin(const std::string& image, const std::string& user, Done<std::string> done) {
  const Result<ImageName> name = parse_image(image);
  if (!name.is_ok()) return done(name.status());
  if (name.value().kind != ImageName::Kind::registry) return done(to_string(name.value()));
  const std::vector<std::string>& allowed = settings_.registries;
  const std::string registry = registry_of(name.value());
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), registry) == allowed.end()) {
    return done(permission_denied("resource.image: no images of {} here; of {}", registry,
                                  fmt::join(allowed, ", ")));
  }
  const std::string key = to_string(name.value());
  if (is_silent(registry)) {
    if (!name.value().digest.empty()) return done(key);
    return done(no_answer(registry, settings_.patience));
  }
  if (const Pinned* pinned = recent(key)) return done(pinned->name);
  std::vector<Done<std::string>>& waiting = waiting_[key];
  waiting.push_back(std::move(done));
  if (waiting.size() == 1) ask(name.value(), user);
}

// Who asks it again at once would hold up others.
bool ImagePins::is_silent(const std::string& registry) const {
  const auto found = silent_until_.find(registry);
  return found != silent_until_.end() && loop_.now() < found->second;
}

void ImagePins::ask(const ImageName& image, const std::string& user) {
  const std::string key = to_string(image);
  const size_t worker = std::hash<std::string>()(registry_of(image)) % workers_.size();
  const bool is_taken = workers_[worker].post(
      [this, key, image] {
        loop_.post([this, key, image, asked = ask_registry(image, settings_.patience)] {
          if (asked.was_silent) {
            std::erase_if(silent_until_,
                          [this](const auto& each) { return !is_silent(each.first); });
            silent_until_[registry_of(image)] = loop_.now() + kHolds;
          }
          answer(key, asked.pinned);
        });
      },
      user);
  if (is_taken) return;
  loop_.post([this, key] {
    answer(key, resource_exhausted(
                    "resource.image: too many images are asked for already; try again soon"));
  });
}

void ImagePins::answer(const std::string& image, const Result<std::string>& pinned) {
  if (pinned.is_ok()) {
    std::erase_if(pinned_, [this](const auto& each) { return !recent(each.first); });
    if (pinned_.size() < kPinnedMax) pinned_[image] = {pinned.value(), loop_.now()};
  }
  const auto found = waiting_.find(image);
  const std::vector<Done<std::string>> waiting = std::move(found->second);
  waiting_.erase(found);
  for (const Done<std::string>& done : waiting) done(pinned);
}

}  // namespace hai
