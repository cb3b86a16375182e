#include "server/setup/sign_in.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/hostlist.h"
#include "common/machine/bounded_child.h"
#include "common/text_check.h"
#include "server/setup/setup_files.h"

namespace hai {
namespace {

constexpr Duration kPatience = 60s;  // until a server leads

ChildOutput hai(std::vector<std::string> words, const std::string& input = "/dev/null") {
  words.insert(words.begin(), "hai");
  const auto become = [&](int) {
    ::dup2(::open(input.c_str(), O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    execute(words);
  };
  return run_in_child(become, {.patience = kPatience});
}

std::string why(const ChildOutput& said) {
  return said.is_late ? "no answer within 1 min" : printable(said.text);
}

// `hai` of that cluster: root's current one, and $HAI_CONTEXT, may be another.
ChildOutput hai_of(const std::string& context, std::vector<std::string> words) {
  words.insert(words.begin(), {"--context", context});
  return hai(std::move(words));
}

void sign_in_anew(const SetupPlan& plan, const std::vector<std::string>& servers, SignedIn& done) {
  std::vector<std::string> words{"init", "-"};
  for (const std::string& server : servers) {
    words.insert(words.end(), {"--url", "https://" + server});
  }
  if (!trust_words(plan).empty()) words.insert(words.end(), {"--ca", plan.config.tls.ca});
  if (done.context != plan.config.cluster) words.insert(words.end(), {"--name", done.context});
  if (!is_file(plan.config.admin_token_file)) {
    done.complaint = fmt::format(
        "{} is gone, by which root would sign in: run `hai {}` as root with the token of an "
        "administrator (`hai token create`), and then this again",
        plan.config.admin_token_file, fmt::join(words, " "));
    return;
  }
  const ChildOutput in = hai(std::move(words), plan.config.admin_token_file);
  done.is_in = in.exit_code == 0;
  if (!done.is_in) done.complaint = "hai init: " + why(in);
}

bool has_hai() { return hai({"--version"}).exit_code == 0; }

void let_join(const std::string& nodes, SignedIn& done) {
  const size_t uses = parse_hostlist(nodes).value().size();  // judged with the options
  const ChildOutput said = hai_of(done.context, {"node", "token", "create", nodes, "--ttl", "24h",
                                                 "--uses", std::to_string(uses)});
  const size_t begin = said.text.find("hai-agent join ");
  if (said.exit_code == 0 && begin != std::string::npos) {
    done.join_line = said.text.substr(begin, said.text.find('\n', begin) - begin);
  } else {
    done.complaint = "hai node token create: " + why(said);
  }
}

std::vector<KnownContext> known_contexts() {
  const auto contexts =
      nlohmann::json::parse(hai({"context", "list", "-o", "json"}).text, nullptr, false);
  std::vector<KnownContext> known;
  for (const auto& context : contexts.is_array() ? contexts : nlohmann::json::array()) {
    if (!context.is_object()) continue;
    known.push_back({.name = context.value("name", ""),
                     .servers = context.value("servers", std::vector<std::string>())});
  }
  return known;
}

const KnownContext* find_context(const std::vector<KnownContext>& known, const std::string& name) {
  const auto found = std::ranges::find(known, name, &KnownContext::name);
  return found == known.end() ? nullptr : &*found;
}

bool has_one_of(const KnownContext& context, const std::vector<std::string>& servers) {
  return std::ranges::find_first_of(context.servers, servers) != context.servers.end();
}

}  // namespace

std::string context_for(const std::string& cluster, const std::vector<std::string>& servers,
                        const std::vector<KnownContext>& known) {
  std::string name = cluster;
  for (size_t number = 2; number <= known.size() + 1; ++number) {
    const KnownContext* there = find_context(known, name);
    if (there == nullptr || has_one_of(*there, servers)) break;
    name = fmt::format("{}-{}", cluster, number);
  }
  return name;
}

std::string trust_words(const SetupPlan& plan) {
  const bool is_issued = plan.config.tls.certificate == plan.folder + "/server.crt";
  return is_issued ? "--ca " + plan.config.tls.ca : "";
}

SignedIn sign_in(const SetupPlan& plan) {
  SignedIn done;
  if (!has_hai()) return done;
  const std::vector<std::string> servers{plan.config.advertise.grpc};
  done.context = context_for(plan.config.cluster, servers, known_contexts());
  const bool is_wanted = plan.is_first_setup() || !plan.nodes.empty();
  // What has the cluster's name may have its servers by another name.
  if (!is_wanted && done.context != plan.config.cluster) return done;
  done.is_in = !plan.is_founding && hai_of(done.context, {"whoami"}).exit_code == 0;
  if (!done.is_in) sign_in_anew(plan, servers, done);
  if (done.is_in && !plan.nodes.empty()) let_join(plan.nodes, done);
  return done;
}

SignedIn sign_in_beside(const SetupPlan& plan, const std::string& address) {
  SignedIn done;
  if (!has_hai()) return done;
  const std::vector<KnownContext> known = known_contexts();
  const std::string& first = plan.config.advertise.grpc;
  done.context = context_for(plan.config.cluster, {first, address}, known);
  const KnownContext* there = find_context(known, done.context);
  std::vector<std::string> servers = there == nullptr ? std::vector{first} : there->servers;
  done.is_in = std::ranges::count(servers, address) > 0;
  if (!done.is_in) {
    servers.push_back(address);
    sign_in_anew(plan, servers, done);
  }
  if (done.is_in && !plan.nodes.empty()) let_join(plan.nodes, done);
  return done;
}

}  // namespace hai
