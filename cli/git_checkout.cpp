#include "cli/git_checkout.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "cli/child.h"
#include "cli/context_config.h"
#include "cli/session.h"
#include "common/config/yaml_tree.h"
#include "common/unique_fd.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRepositoryKey = "spec.git_remote_repo";
constexpr const char* kRevisionKey = "spec.git_target_revision";
constexpr size_t kCommitLetters = 40;  // of SHA-1; of SHA-256 64

std::string text_at(const YamlNode& root, std::string_view key) {
  const YamlEntry* spec = root.find("spec");
  const YamlEntry* entry = spec == nullptr ? nullptr : spec->value.find(key);
  return entry == nullptr || entry->value.kind != YamlNode::Kind::scalar ? "" : entry->value.text;
}

bool is_commit(std::string_view text) {
  return (text.size() == kCommitLetters || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// What git says; what it complains of goes to our standard error.
Result<std::string> run_git(std::vector<std::string> words) {
  words.insert(words.begin(), "git");
  std::string said;
  const int code = run_child(words, said);
  if (code == 0) return said;
  if (code == 127)
    return failed_precondition("{}: there is no git on this machine", kRepositoryKey);
  const std::string& verb = words[1] == "-C" ? words[5] : words[1];
  return failed_precondition("{}: git {} failed, as it says above", kRepositoryKey, verb);
}

Result<std::string> find_commit(const GitSource& source) {
  if (is_commit(source.revision)) return source.revision;
  const std::string wanted = source.revision.empty() ? "HEAD" : source.revision;
  // A tag that is an object of its own is followed by the commit it is of.
  Result<std::string> listed =
      run_git({"ls-remote", "--", source.repository, wanted, wanted + "^{}"});
  RETURN_IF_ERROR(listed.status());
  std::string commit;
  std::string_view rest = listed.value();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string_view found = line.substr(0, line.find('\t'));
    if (is_commit(found) && (commit.empty() || line.ends_with("^{}"))) commit = found;
  }
  if (!commit.empty()) return commit;
  return not_found("{}: {} has no branch or tag {}; a commit is written out in full",
                   source.revision.empty() ? kRepositoryKey : kRevisionKey, source.repository,
                   wanted);
}

// "llm" of "https://git.example/team/llm.git".
std::string name_of(std::string repository) {
  while (repository.ends_with('/')) repository.pop_back();
  std::string name = repository.substr(repository.find_last_of("/:") + 1);
  if (name.ends_with(".git")) name.resize(name.size() - 4);
  const auto is_odd = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_';
  };
  std::ranges::replace_if(name, is_odd, '_');
  return name.empty() ? "repository" : name.substr(0, 64);
}

// Next to the folder first, so that it is whole or not there, and of two who do it at once the
// first wins.
Status clone(const GitSource& source, const std::string& commit, const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  std::string part = folder.string() + ".XXXXXX";
  if (error || ::mkdtemp(part.data()) == nullptr) {
    return failed_precondition("cannot make a folder in {}: {}", folder.parent_path().string(),
                               error ? error.message() : errno_text(errno));
  }
  fs::permissions(part, fs::perms(0755), error);
  say(fmt::format("checking out {} at {}", source.repository, commit.substr(0, 12)));
  Status status =
      run_git({"clone", "--quiet", "--no-checkout", "--", source.repository, part}).status();
  if (status.is_ok()) {
    status = run_git({"-C", part, "-c", "advice.detachedHead=false", "checkout", "--quiet",
                      "--detach", commit})
                 .status();
  }
  if (status.is_ok()) {
    fs::rename(part, folder, error);
    if (error && !fs::is_directory(folder))
      status = failed_precondition("{}: {}", folder.string(), error.message());
  }
  std::error_code ignored;
  fs::remove_all(part, ignored);
  return status;
}

}  // namespace

std::optional<GitSource> git_source_of(const JobFile& file, std::vector<FieldError>& errors) {
  YamlNode root;
  if (parse_yaml(file.text, &root)) return std::nullopt;
  GitSource source = {.repository = text_at(root, "git_remote_repo"),
                      .revision = text_at(root, "git_target_revision")};
  if (source.repository.empty()) return std::nullopt;
  std::erase_if(errors, [](const FieldError& error) {
    return error.path == kRepositoryKey || error.path == kRevisionKey;
  });
  if (text_at(root, "workspace").empty()) {
    std::erase_if(errors, [](const FieldError& error) { return error.path == "spec.workspace"; });
  } else {
    errors.push_back({file.line_of(kRepositoryKey), kRepositoryKey,
                      "goes without spec.workspace: what is checked out is the workspace"});
  }
  if (source.revision.starts_with('-')) {
    errors.push_back({file.line_of(kRevisionKey), kRevisionKey, "is no branch, tag or commit"});
  }
  return source;
}

Status check_out(const GitSource& source, bool is_dry, JobSpec& spec) {
  const Result<std::string> commit = find_commit(source);
  RETURN_IF_ERROR(commit.status());
  const fs::path folder = fs::path(home_directory()) / ".hai" / "repositories" /
                          (name_of(source.repository) + "-" + commit.value().substr(0, 12));
  std::error_code error;
  if (!is_dry && !fs::is_directory(folder, error))
    RETURN_IF_ERROR(clone(source, commit.value(), folder));
  spec.workspace = folder.string();
  spec.environments.emplace("MARSV2_GIT_REMOTE_REPO", source.repository);
  spec.environments.emplace("MARSV2_GIT_TARGET_REVISION", source.revision);
  spec.environments.emplace("MARSV2_GIT_COMMIT_SHA", commit.value());
  spec.environments.emplace("MARSV2_GIT_REPO_AS_WORKSPACE", "1");
  return ok();
}

}  // namespace hai::cli
