// Throws mutations of good requests at a server and of good job files at the parser, and looks
// whether it still stands: every answer is HTTP with a status below 500 (503 and 504 apart), and a
// job file that is taken comes back from its own text. Plain mutations with a seed, so that a
// failure can be repeated; build it with a sanitizer to see more.
//
// usage: fuzz_http [SECONDS [SEED]]

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/log.h"
#include "common/rng.h"
#include "common/spec/job_spec_yaml.h"
#include "hai/v1/api.pb.h"
#include "proto/json/json_reader.h"
#include "server/http/gzip.h"
#include "server/http/http_message.h"
#include "server/http/negotiation.h"
#include "tests/support/live_server.h"
#include "tests/unit/http/http_client.h"

namespace hai {
namespace {

const std::vector<std::string> kSpecs = {
    "version: 2\nname: a\npriority: normal\nspec:\n  workspace: /data\n  entrypoint: train.py\n"
    "  parameters: --config 'x y'\n  environments: {A: b}\nresource:\n  group: training#A\n  "
    "node_count: 2\n"
    "  gpus_per_node: 4\n  memory_per_node: 64GiB\noptions:\n  launch: per_gpu\n"
    "  suspend: {grace: 60s, signal: SIGUSR1, exit_code: 85}\n  checkpoint: {period: 5m}\n"
    "  restart: {on_failure: true, max: 3}\n  tags: [a, b]\n  depends_on: [x, 7]\n"
    "  begin_at: 2026-11-20T08:00:00Z\n",
    R"({"version": 2, "name": "b", "spec": {"workspace": "/w", "entrypoint": "e.sh"}})"};

const std::vector<std::string> kRequests = {
    "GET /api/v1/jobs?state=running&limit=5&sort=-priority&q=a%20b&fields=id,name HTTP/1.1\r\n",
    "GET /api/v1/jobs?cursor=1.2.6162&sort=name HTTP/1.1\r\n",
    "GET /api/v1/events?format=list&after=0&kind=job_submitted HTTP/1.1\r\n",
    "GET /api/v1/cluster/series?window=7d HTTP/1.1\r\nIf-None-Match: W/\"abc\", *\r\n",
    "GET /jobs/%37/x HTTP/1.1\r\nAccept-Encoding: gzip;q=0.5, *;q=0\r\n",
    "HEAD /api/v1/nodes?leaf=a HTTP/1.1\r\n",
    "PUT /api/v1/quotas/ann/training/high HTTP/1.1\r\n",
    "PUT /api/v1/users/ann HTTP/1.1\r\n",
    "POST /api/v1/tokens HTTP/1.1\r\n",
    "POST /api/v1/jobs/dry_run HTTP/1.1\r\nContent-Type: application/yaml\r\n",
    "POST /api/v1/jobs/actions HTTP/1.1\r\n",
    "POST /api/v1/whatif HTTP/1.1\r\n",
    "DELETE /api/v1/tokens/0123456789ab HTTP/1.1\r\n",
    "POST /api/v1/nodes/n1/cordon HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"};

const std::vector<std::string> kBodies = {
    "",
    "{}",
    R"({"nodes": 3})",
    R"({"role": "user", "groups": ["a"], "active": true})",
    R"({"verb": "hold", "jobs": [1, "a"], "reason": "r"})",
    R"({"verb": "cordon", "nodes": ["n[1-4]"]})",
    R"({"submit": {"version": 2, "name": "c"}})",
    R"({"quota": {"owner": "a", "group": "g", "priority": "high", "nodes": null}})",
    "5\r\n{\"rea\r\n0\r\n\r\n"};

const std::vector<std::string> kPieces = {"\r\n",
                                          "\r\n\r\n",
                                          "%",
                                          "%00",
                                          "%zz",
                                          "\"",
                                          "\\",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          ":",
                                          ",",
                                          "&",
                                          "=",
                                          "?",
                                          "/..",
                                          "//",
                                          "null",
                                          "true",
                                          "1e999",
                                          "-1",
                                          "99999999999999999999",
                                          "\xff",
                                          "\xed\xa0\x80",
                                          "\t",
                                          "- ",
                                          "&a",
                                          "*a",
                                          "!!",
                                          "---\n",
                                          "Content-Length: 5\r\n",
                                          "Transfer-Encoding: chunked\r\n",
                                          "Expect: 100-continue\r\n",
                                          "Range: bytes=0-\r\n"};

const std::string& pick(Rng& rng, const std::vector<std::string>& from) {
  return from[rng.below(from.size())];
}

std::string mutated(Rng& rng, std::string text) {
  for (uint64_t changes = rng.below(6); changes > 0; --changes) {
    const size_t at = rng.below(text.size() + 1);
    switch (rng.below(6)) {
      case 0:
        text.insert(at, pick(rng, kPieces));
        break;
      case 1:
        text.erase(at, rng.below(20));
        break;
      case 2:
        text.insert(at, text.substr(at, rng.below(40)));
        break;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(rng.below(256));
        break;
      case 4:
        text.insert(at, std::string(rng.below(3'000), rng.below(2) == 0 ? '[' : 'a'));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

[[noreturn]] void fail(uint64_t seed, int64_t round, const std::string& what,
                       const std::string& input) {
  fmt::print(stderr, "seed {} round {}: {}\ninput: {}\n", seed, round, what,
             nlohmann::json(input).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  std::exit(1);
}

void try_spec(Rng& rng, uint64_t seed, int64_t round) {
  const std::string text = mutated(rng, pick(rng, kSpecs));
  JobSpec spec;
  std::vector<SpecError> errors;
  if (!parse_job_spec(text, &spec, &errors)) {
    if (errors.empty()) fail(seed, round, "refused without a reason", text);
    return;
  }
  JobSpec again;
  if (!parse_job_spec(format_job_spec_yaml(spec), &again, &errors) || !(again == spec)) {
    fail(seed, round, "does not come back from its own text", text);
  }
}

void try_parts(Rng& rng) {
  HttpRequest request;
  parse_target(mutated(rng, pick(rng, kRequests)), request);
  percent_decode(mutated(rng, "a%20b+c"), true);
  accepts_gzip(mutated(rng, "gzip;q=0.5, br"));
  matches_etag(mutated(rng, "W/\"a\", \"b\""), "\"a\"");
  v1::ControlJobRequest control;
  (void)read_json(mutated(rng, pick(rng, kBodies)), {}, control);
  v1::SetQuotaRequest quota;
  (void)read_json(mutated(rng, pick(rng, kBodies)), {"owner"}, quota);
}

void try_request(Rng& rng, int port, uint64_t seed, int64_t round) {
  const std::string body = mutated(rng, rng.below(3) == 0 ? pick(rng, kSpecs) : pick(rng, kBodies));
  std::string head = pick(rng, kRequests) +
                     fmt::format("Host: t\r\nConnection: close\r\nAuthorization: Bearer {}\r\n",
                                 LiveServer::kAdminToken);
  if (head.find("chunked") == std::string::npos)
    head += fmt::format("Content-Length: {}\r\n", body.size());
  std::string text = head + "\r\n" + body;
  if (rng.below(3) == 0) text = mutated(rng, text);
  const std::string answer = http_exchange(port, text, "", /*half_close=*/true);
  if (answer.empty()) return;  // it may hang up on what is no HTTP
  if (!answer.starts_with("HTTP/1."))
    fail(seed, round, "the answer is no HTTP: " + answer.substr(0, 200), text);
  const int status = std::atoi(answer.substr(9, 3).c_str());
  if (status < 200 || (status >= 500 && status != 503 && status != 504)) {
    fail(seed, round, "answered " + answer.substr(0, 400), text);
  }
}

int run(int seconds, uint64_t seed) {
  set_log_level(LogLevel::error);
  LiveServer server;
  Rng rng(seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int64_t round = 0;
  while (std::chrono::steady_clock::now() < end) {
    ++round;
    for (int i = 0; i < 20; ++i) try_spec(rng, seed, round);
    for (int i = 0; i < 20; ++i) try_parts(rng);
    try_request(rng, server.http_port(), seed, round);
  }
  // It still does its work.
  const std::string answer = http_get(server.http_port(), "/readyz");
  if (answer.find("leading") == std::string::npos)
    fail(seed, round, "does not lead any more", answer);
  fmt::print("{} requests, {} job files, seed {}: nothing found\n", round, 20 * round, seed);
  return 0;
}

}  // namespace
}  // namespace hai

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 10;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return hai::run(seconds, seed);
}
