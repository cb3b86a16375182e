// What sbatch and srun send of a job.

#include "cli/slurm/submit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/client.h"
#include "common/spec/sealed_value.h"
#include "tests/unit/cli/fake_api.h"

namespace hai::cli::slurm {
namespace {

using testing::ElementsAre;
using testing::MatchesRegex;

MappedJob of_two_nodes() {
  const auto words = parse_words(Command::sbatch, {"-N2"});
  EXPECT_TRUE(words.is_ok()) << words.status().message();
  return map_job(words.value(), "train.sh",
                 {.directory = "/",
                  .host = "login",
                  .environment = {{"PATH", "/bin"}},
                  .runner = "/opt/hai/bin/hai-slurm"})
      .value();
}

// Keeps the keys that were sent, and refuses sealed ones with `refusal` if there is one.
struct KeyTaker {
  explicit KeyTaker(std::string refusal) {
    server.on_submit = [this, refusal](const v1::SubmitJobRequest& request,
                                       v1::SubmitJobReply* reply) {
      EXPECT_EQ(request.spec().node_count(), 2);
      keys.push_back(request.spec().environments().at(kKeyVariable));
      if (!refusal.empty() && keys.back().starts_with(kToSealMark)) {
        return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, refusal);
      }
      reply->set_job_id(17);
      return grpc::Status::OK;
    };
  }
  Result<int64_t> submit() {
    Client client({server.address()}, "");
    return submit_job(Command::sbatch, client, of_two_nodes(), "#!/bin/sh\n");
  }

  FakeApi server;
  std::vector<std::string> keys;
};

TEST(SlurmSubmit, SendsTheKeyToBeSealed) {
  KeyTaker taker("");
  EXPECT_EQ(taker.submit().value(), 17);
  EXPECT_THAT(taker.keys, ElementsAre(MatchesRegex("hai-to-seal:[0-9a-f]{32}")));
}

TEST(SlurmSubmit, SendsTheKeyPlainWhereNothingIsSealed) {
  KeyTaker taker(
      "spec.environments.HAI_SLURM_KEY: this server seals nothing: its config names no "
      "secrets.key_file; an administrator makes one (docs/operations/secrets.md)");
  EXPECT_EQ(taker.submit().value(), 17);
  ASSERT_EQ(taker.keys.size(), 2u);
  EXPECT_EQ(taker.keys[0], std::string(kToSealMark) + taker.keys[1]);
}

TEST(SlurmSubmit, OtherRefusalsStand) {
  KeyTaker taker("64 nodes asked, training has 4");
  EXPECT_EQ(taker.submit().status(), failed_precondition("64 nodes asked, training has 4"));
  EXPECT_THAT(taker.keys, ElementsAre(MatchesRegex("hai-to-seal:.*")));
}

}  // namespace
}  // namespace hai::cli::slurm
