#include "cli/complete/complete.h"

#include <cstdlib>

#include "cli/client.h"
#include "cli/complete/candidates.h"
#include "cli/context_config.h"
#include "cli/exit_code.h"
#include "cli/output.h"

namespace hai::cli {
namespace {

constexpr Duration kDeadline = 500ms;

std::shared_ptr<Client> connect_to(const std::string& name) {
  const Result<ContextConfig> config = load_contexts(context_config_path());
  if (!config.is_ok()) return nullptr;
  const char* environment = std::getenv("HAI_CONTEXT");
  const std::string wanted = name.empty() && environment != nullptr ? environment : name;
  const Result<Context> context = choose_context(config.value(), wanted);
  if (!context.is_ok() || context.value().servers.empty()) return nullptr;
  const Result<TlsTexts> tls = tls_of(context.value());
  if (!tls.is_ok()) return nullptr;
  auto client =
      std::make_shared<Client>(context.value().servers, context.value().token, tls.value());
  client->hurry(kDeadline);
  return client;
}

}  // namespace

int complete(const CLI::App& app, const std::vector<std::string>& words) {
  const Cursor cursor = find_cursor(app, words);
  const Connect connect = [&] { return connect_to(cursor.context); };
  print(format_candidates(candidates(cursor, connect)));
  return kOk;
}

}  // namespace hai::cli
