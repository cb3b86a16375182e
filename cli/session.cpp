#include "cli/session.h"

#include <cstdio>

#include "cli/client.h"
#include "cli/context_config.h"
#include "cli/exit_code.h"
#include "cli/munge_session.h"
#include "cli/suggest.h"
#include "cli/table.h"

namespace hai::cli {

void say(std::string_view text) {
  const std::string line = "hai: " + printable(text) + "\n";
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void say_lines(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    clean += printable(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::fflush(stdout);
  std::fprintf(stderr, "hai: %s", clean.c_str());
}

Session::Session() : terminal(stdout_terminal()) {}
Session::~Session() = default;

Result<Client*> Session::client() {
  if (client_) return client_.get();
  const Result<ContextConfig> config = load_contexts(context_config_path());
  RETURN_IF_ERROR(config.status());
  const Result<Context> chosen = choose_context(config.value(), context);
  RETURN_IF_ERROR(chosen.status());
  if (chosen.value().servers.empty()) {
    return failed_precondition("context {} has no server", chosen.value().name);
  }
  if (!chosen.value().dev_data.empty()) dev_cluster_ = chosen.value().name;
  Result<TlsTexts> tls = tls_of(chosen.value());
  RETURN_IF_ERROR(tls.status());
  std::string token = chosen.value().token;
  if (token.empty() && !chosen.value().munge.empty()) {
    Result<std::string> session = munge_session(chosen.value(), tls.value());
    if (!session.is_ok()) return session.status();
    token = std::move(session).value();
    forget_session_ = [context = chosen.value()] { forget_munge_session(context); };
  }
  client_ = std::make_unique<Client>(chosen.value().servers, token, std::move(tls).value());
  client_->set_notice([](const std::string& line) { say(line); });
  return client_.get();
}

int Session::fail(const Status& status) const {
  std::string text(status.message().empty() ? to_string(status.code()) : status.message());
  if (text.starts_with("cannot reach") && !dev_cluster_.empty()) {
    text +=
        fmt::format("; `hai dev up --name {0}` starts it, `hai dev status --name {0}` tells more",
                    dev_cluster_);
  }
  if (status.code() == Code::unauthenticated && forget_session_) {
    forget_session_();
    text += "; the session that was kept here is over, try again for a new one";
  }
  if (status.code() == Code::not_found && client_ != nullptr && suggestions_left_ > 0) {
    --suggestions_left_;
    const std::string meant = suggestion(*client_, text);
    const bool has_colon = text.find(": ") != std::string::npos;
    if (!meant.empty()) text += (has_colon ? "; " : ": ") + meant;
  }
  say(text);
  return exit_code_of(status);
}

int Session::usage_error(std::string_view text) const {
  say(text);
  return kUsage;
}

}  // namespace hai::cli
