#include "agent/site_hook.h"

#include <fmt/core.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <thread>

#include "common/log.h"

namespace hai {

namespace {

constexpr size_t kLineMax = 500;
constexpr int kNoCommand = 127;

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The last line that is not empty.
void keep_last_line(std::string& last, const char* line) {
  std::string text(line);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (!text.empty()) last = text.substr(0, kLineMax);
}

HookResult run(int64_t id, const std::string& command) {
  HookResult result{.id = id};
  FILE* output = ::popen(command.c_str(), "re");
  if (output == nullptr) return {id, kNoCommand, "the site's hook could not be started"};
  std::array<char, 4'096> line{};
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    keep_last_line(result.message, line.data());
  }
  const int status = ::pclose(output);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace

void run_site_hook(Loop& loop, const SiteHooks& hooks, const RunHook& order,
                   const std::string& node, std::function<void(HookResult)> done) {
  const bool is_reset = order.action == HookAction::reset_gpus;
  const std::string& command = is_reset ? hooks.reset_gpus : hooks.reboot;
  const std::string action(to_string(order.action));
  if (command.empty()) {
    loop.post([done = std::move(done), id = order.id, action] {
      done({id, kNoCommand, fmt::format("the agent's config has no repair.{}", action)});
    });
    return;
  }
  log_info("hook_started", {{"action", action}, {"reason", order.reason}, {"command", command}});
  const std::string line =
      fmt::format("HAI_REPAIR={} HAI_REASON={} HAI_NODE_NAME={} /bin/sh -c {} 2>&1", action,
                  quoted(order.reason), quoted(node), quoted(command));
  std::thread([&loop, id = order.id, line, done = std::move(done)] {
    HookResult result = run(id, line);
    loop.post([done, result = std::move(result)] {
      log_info("hook_ended", {{"exit_code", result.exit_code}, {"message", result.message}});
      done(result);
    });
  }).detach();
}

}  // namespace hai
