#include "server/api/image_pins.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "common/log.h"
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
  std::string said = "";  // by skopeo, where that is for the log alone
};

struct Refusal {
  std::string_view phrase;  // in what skopeo says; with a space, so that no name of an image has it
  std::string_view told;
};
// Those by which a registry shows that it is one.
constexpr Refusal kUnknownImages[] = {{"manifest unknown", "manifest unknown"},
                                      {"name unknown", "name unknown"},
                                      {"name not known to registry", "name unknown"}};
constexpr Refusal kForbiddenImages[] = {{"unauthorized: ", "unauthorized"},
                                        {"denied: ", "denied"},
                                        {": denied", "denied"},
                                        {"resource is denied", "denied"},
                                        {"toomanyrequests: ", "too many requests"}};

std::optional<std::string_view> refusal_in(std::span<const Refusal> refusals,
                                           std::string_view said) {
  for (const Refusal& refusal : refusals) {
    if (said.find(refusal.phrase) != std::string_view::npos) return refusal.told;
  }
  return std::nullopt;
}

Asked refused_by(const ImageName& image, const std::string& error) {
  const std::string name = to_string(image);
  std::optional<std::string_view> told = refusal_in(kUnknownImages, error);
  if (told) {
    return {not_found("resource.image: {}: {}, says its registry; check the name", name, *told)};
  }
  told = refusal_in(kForbiddenImages, error);
  if (told) {
    return {not_found(
        "resource.image: {}: {}, says its registry; check the name, or ask an administrator what "
        "the server may have there",
        name, *told)};
  }
  return {
      not_found("resource.image: {}: {} does not answer as a registry; check the name, or ask an "
                "administrator: the server's log says why",
                name, registry_of(image)),
      false, complaint_of(error)};
}

// Of an image that is named by its digest only this is of use: that its registry has no such one.
// What else goes wrong is the registry's trouble, and nodes may have the image already.
Asked judge_pinned(const ImageName& image, const Output& output) {
  const std::string name = to_string(image);
  const bool was_silent = output.exit_code == kTooLate || output.exit_code == 128 + SIGKILL;
  const bool is_unknown = refusal_in(kUnknownImages, output.error).has_value();
  if (output.exit_code == 0 || was_silent || !is_unknown) return {name, was_silent};
  return refused_by(image, output.error);
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
  if (output.exit_code != 0 || !is_image_digest(digest)) return refused_by(image, output.error);
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
      [this, key, image, user] {
        loop_.post([this, key, image, user, asked = ask_registry(image, settings_.patience)] {
          if (!asked.said.empty()) note_refusal(key, user, asked.said);
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

void ImagePins::note_refusal(const std::string& image, const std::string& user,
                             const std::string& said) {
  const std::optional<int64_t> left_out = refusals_.next();
  if (!left_out) return;
  log_warning("image_not_found",
              {{"image", image}, {"user", user}, {"reason", said}, {"left_out", *left_out}});
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
