#include "server/api/sight.h"

#include <gmock/gmock.h>

#include "common/rng.h"
#include "server/api/event_feed.h"
#include "server/api/event_filter.h"
#include "server/api/event_view.h"
#include "server/api/job_list.h"
#include "server/api/sights.h"
#include "server/store/json_codec.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;

Cluster people() {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.emit(UserSet{{.name = "ann", .groups = {"vision", "all"}}});
  c.emit(UserSet{{.name = "bob", .groups = {"vision"}}});
  c.emit(UserSet{{.name = "eve", .groups = {"audio"}}});
  return c;
}
const Actor kAnn{.user = "ann"};

TEST(Sight, IsAsTheSiteSays) {
  const Cluster c = people();
  const auto seen = [&](Visibility visibility, const Actor& actor) {
    const Sight sight = Sights(visibility).of(c.state(), actor);
    std::vector<Seen> of;
    for (const char* user : {"ann", "bob", "eve", ""}) of.push_back(sight.of(user));
    return of;
  };
  using enum Seen;
  EXPECT_THAT(seen(Visibility::open, kAnn), ElementsAre(all, program, program, program));
  EXPECT_THAT(seen(Visibility::all, kAnn), ElementsAre(all, program, row, row));
  EXPECT_THAT(seen(Visibility::team, kAnn), ElementsAre(all, program, nothing, nothing));
  EXPECT_THAT(seen(Visibility::own, kAnn), ElementsAre(all, nothing, nothing, nothing));
  const Actor nobody{.user = "nobody"};
  EXPECT_THAT(seen(Visibility::team, nobody), ElementsAre(nothing, nothing, nothing, nothing))
      << "who is in no group has no team";
  for (const auto visibility :
       {Visibility::open, Visibility::all, Visibility::team, Visibility::own}) {
    EXPECT_THAT(seen(visibility, {.user = "ann", .role = Role::operator_}),
                ElementsAre(all, all, all, all));
  }
}

TEST(Sight, OfOneSelfIsNotEmptyWithoutGroups) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.emit(UserSet{{.name = "zoe"}});
  c.emit(UserSet{{.name = "yan"}});
  const Sight sight = Sights(Visibility::team).of(c.state(), {.user = "zoe"});
  EXPECT_TRUE(sight.sees("zoe"));
  EXPECT_FALSE(sight.sees("yan")) << "that both are in no group makes them no team";
}

// Each field of a spec has a word of its own, so that one that is not thought about is found.
JobSpec spec_of_words() {
  JobSpec spec;
  spec.name = "name";
  spec.workspace = "/secret-workspace";
  spec.entrypoint = "secret-entrypoint";
  spec.parameters = "secret-parameters";
  spec.environments = {{"A", "secret-environment"}};
  spec.secrets = {{"B", "secret-secret"}};
  spec.image = "secret-image";
  spec.tags = {"secret-tag"};
  spec.program.mounts = {"/secret-mount"};
  spec.program.services = {"secret-service:80"};
  spec.node_count = 3;
  spec.timeout = 1h;
  return spec;
}

// "ann", "bob" and "eve" look at a job of bob's.
TEST(Sight, OfASharedJobHasItsLogsForTheOwnersUserGroup) {
  const Cluster c = people();
  JobSpec spec = spec_of_words();
  const auto seen = [&](Visibility visibility) {
    std::vector<Seen> of;
    for (const char* user : {"ann", "bob", "eve"}) {
      of.push_back(Sights(visibility).of(c.state(), {.user = user}).of("bob", spec));
    }
    return of;
  };
  using enum Seen;
  EXPECT_THAT(seen(Visibility::all), ElementsAre(program, all, row));
  spec.is_shared_in_group = true;
  EXPECT_THAT(seen(Visibility::all), ElementsAre(logs, all, row));
  EXPECT_THAT(seen(Visibility::open), ElementsAre(logs, all, program));
  EXPECT_THAT(seen(Visibility::team), ElementsAre(logs, all, nothing));
  EXPECT_THAT(seen(Visibility::own), ElementsAre(nothing, all, nothing));
  EXPECT_EQ(check_sharing(Visibility::own, spec).code(), Code::failed_precondition);
  EXPECT_TRUE(check_sharing(Visibility::team, spec).is_ok());
  EXPECT_TRUE(check_sharing(Visibility::own, spec_of_words()).is_ok());
}

// What is kept from the events is what a look at all users would find, whatever happens to them.
TEST(Sights, OfAFeedAreWhatTheStateSays) {
  Cluster c = people();
  EventFeed feed;
  Sights followed(Visibility::team);
  followed.follow(feed);
  const Sights looks(Visibility::team);
  int64_t seq = 0;
  const auto tell = [&](const EventBody& body) {
    c.emit(body);
    feed.durable({{.seq = ++seq, .body = body}}, c.state());
  };
  const auto user = [](uint64_t number) { return "user-" + std::to_string(number); };
  EXPECT_EQ(followed.of(c.state(), kAnn), looks.of(c.state(), kAnn)) << "nobody has told it yet";
  tell(EpochStarted{Epoch{2}});
  EXPECT_TRUE(followed.of(c.state(), kAnn).sees("bob"));
  const Sight before = followed.of(c.state(), kAnn);
  Rng random(7);
  int teams = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string name = user(random.below(8));
    if (random.below(4) == 0 && c.state().find_user(name) != nullptr) {
      tell(UserRemoved{name});
    } else {
      User one{.name = name};
      for (uint64_t left = random.below(3); left > 0; --left) {
        one.groups.push_back("group-" + std::to_string(random.below(5)));
      }
      tell(UserSet{one});
    }
    for (uint64_t number = 0; number < 9; ++number) {
      const Actor actor{.user = user(number)};
      const Sight sight = followed.of(c.state(), actor);
      const Sight found = looks.of(c.state(), actor);
      ASSERT_EQ(sight, found) << "after change " << i << ", of " << actor.user;
      for (uint64_t other = 0; other < 9; ++other) {
        ASSERT_EQ(sight.sees(user(other)), found.sees(user(other)));
      }
      teams += sight.team.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(teams, 100);
  EXPECT_TRUE(before.sees("bob")) << "it is of its moment";
  tell(UserSet{{.name = "bob"}});
  EXPECT_TRUE(before.sees("bob"));
  EXPECT_FALSE(followed.of(c.state(), kAnn).sees("bob"));
}

TEST(Sight, CleansSentencesOfOthersJobs) {
  const Sight ann{.of_others = Seen::nothing, .self = "ann"};
  EXPECT_EQ(ann.clean("makes room for job 17 (secret-plan) of eve, priority high"),
            "makes room for a job of somebody else, priority high");
  EXPECT_EQ(ann.clean("makes room for job 18 (mine) of ann, priority high"),
            "makes room for job 18 (mine) of ann, priority high");
  EXPECT_EQ(ann.clean("job 17 (secret-plan) hangs since 10:00"), "job 17 hangs since 10:00");
  EXPECT_EQ(ann.clean("job 1 (a) of eve and job 2 (b) of ann and job 3 (c) of bob"),
            "a job of somebody else and job 2 (b) of ann and a job of somebody else");
  EXPECT_EQ(ann.clean("makes room for job 17_3 (secret-plan) of eve, priority high"),
            "makes room for a job of somebody else, priority high");
  EXPECT_EQ(ann.clean("job 17_3 (secret-plan) hangs"), "job 17_3 hangs");
  EXPECT_EQ(ann.clean("job (x) job 5 job 6 ("), "job (x) job 5 job 6 (");
  EXPECT_EQ(ann.clean(R"({"reason":"for job 17 (secret-plan) of eve"})"),
            R"({"reason":"for a job of somebody else"})");
  const Sight row{.of_others = Seen::row, .self = "ann"};
  EXPECT_EQ(row.clean("for job 17 (plan) of eve"), "for job 17 (plan) of eve");
  EXPECT_EQ(Sight{}.clean("job 17 (secret-plan) of eve"), "job 17 (secret-plan) of eve");
}

TEST(Sight, ChecksNumbersOnly) {
  Cluster c = people();
  const JobId job = c.submit(hai::test::job("plan").user("eve"));
  const Sight ann = Sights(Visibility::own).of(c.state(), kAnn);
  const std::string number = std::to_string(job.value);
  EXPECT_EQ(ann.check(c.state(), {number}).code(), Code::not_found);
  EXPECT_TRUE(ann.check(c.state(), {"plan", "99"}).is_ok());
  EXPECT_TRUE(Sight{}.check(c.state(), {number}).is_ok());
}

std::string words_of(const JobSpec& spec) {
  return to_json(EventBody(JobSubmitted{.spec = std::make_shared<JobSpec>(spec)}));
}

TEST(Sight, OfARowHasNoWordOfTheProgram) {
  const auto spec = std::make_shared<const JobSpec>(spec_of_words());
  const auto row = shown_spec(spec, Seen::row);
  EXPECT_EQ(words_of(*row).find("secret-"), std::string::npos) << words_of(*row);
  EXPECT_EQ(row->name, "name");
  EXPECT_EQ(row->node_count, 3);
  EXPECT_EQ(row->timeout, 1h);
  const std::string program = words_of(*shown_spec(spec, Seen::program));
  EXPECT_EQ(program.find("secret-environment"), std::string::npos) << program;
  EXPECT_EQ(program.find("secret-secret"), std::string::npos) << program;
  EXPECT_NE(program.find("secret-parameters"), std::string::npos) << program;
  EXPECT_EQ(words_of(*shown_spec(spec, Seen::logs)), program) << "logs may be shared, these not";
  EXPECT_EQ(shown_spec(spec, Seen::all), spec);
}

TEST(Sight, OfARowIsWhatAViewAndAListHave) {
  Cluster c = people();
  const JobId id = c.submit(hai::test::job("plan").user("eve"));
  Job job = c.job(id);
  job.spec = std::make_shared<const JobSpec>(spec_of_words());
  JobView view = view_job(c.state(), job, {});
  view.end_reason = view.last_attempt_reason = view.whole_life_state = "secret-words";
  view.checkpoint = CheckpointInfo{.path = "/secret-checkpoint"};
  view.progress_step = 7;
  const Sight ann = Sights(Visibility::all).of(c.state(), kAnn);
  const JobView row = visible_view(view, ann);
  EXPECT_EQ(row.end_reason + row.last_attempt_reason + row.whole_life_state, "");
  EXPECT_FALSE(row.checkpoint || row.progress_step);
  EXPECT_EQ(row.spec->parameters, "");
  EXPECT_TRUE(row.pending_reason) << "why it waits stays";
  EXPECT_EQ(visible_view(view, Sight{}).end_reason, "secret-words");

  const auto finds = [&](const JobListRequest& request, const Sight& sight) {
    return matches(job, request, "", sight);
  };
  EXPECT_TRUE(finds({}, ann));
  EXPECT_TRUE(finds({.text = "nam"}, ann));
  EXPECT_FALSE(finds({.text = "secret-tag"}, ann));
  EXPECT_FALSE(finds({.tags = {"secret-tag"}}, ann));
  EXPECT_TRUE(finds({.text = "secret-tag"}, Sight{}));
  EXPECT_TRUE(finds({.tags = {"secret-tag"}}, Sight{}));
  EXPECT_FALSE(finds({}, Sights(Visibility::own).of(c.state(), kAnn)));
}

TEST(Sight, OfARowIsWhatEventsSay) {
  Cluster c = people();
  const JobId id = c.submit(hai::test::job("plan").user("eve"));
  const std::string word = "secret-words";
  const auto spec = std::make_shared<const JobSpec>(spec_of_words());
  const std::vector<EventBody> bodies = {
      JobSubmitted{.job = id, .user = "eve", .request_id = word, .spec = spec},
      JobEdited{.job = id, .tags = {{word}}},
      JobStopRequested{id, word},
      JobFinished{.job = id, .reason = word},
      RankEnded{.job = id, .message = word},
      AttemptEnding{.job = id, .end = {.reason = word}},
      AttemptEnded{.job = id, .reason = word},
      JobRequeued{.job = id, .reason = word},
      JobReopened{.job = id, .reason = word},
      CheckpointReported{.job = id, .checkpoint = {.path = word}},
      LifeStateSet{.job = id, .value = word},
      IncidentOpened{.incident = IncidentId{1},
                     .kind = "hang",
                     .subject = fmt::format("job/{}", id.value),
                     .summary = fmt::format("job {} (plan) hangs since noon: {}", id.value, word)}};
  const auto told = [&](const EventBody& body, Visibility visibility, const std::string& user) {
    const Actor actor{.user = user};
    const Sight sight = Sights(visibility).of(c.state(), actor);
    const EventFilter filter{.sight = sight};
    const Event event{.body = body};
    if (!filter.passes(c.state(), event)) return std::string();
    const EventView view = view_event(c.state(), event, sight, filter.owner_of(c.state(), event));
    return view.text + view.body_json;
  };
  for (const EventBody& body : bodies) {
    const std::string row = told(body, Visibility::all, "ann");
    EXPECT_EQ(row.find("secret-"), std::string::npos) << row;
    EXPECT_EQ(row.empty(), is_program_word(body)) << row;
    EXPECT_NE(told(body, Visibility::open, "ann").find("secret-"), std::string::npos);
    EXPECT_NE(told(body, Visibility::all, "eve").find("secret-"), std::string::npos);
    EXPECT_EQ(told(body, Visibility::own, "ann"), "");
  }
  EXPECT_NE(told(bodies.back(), Visibility::all, "ann").find("(plan) hangs\""), std::string::npos);
  const IncidentOpened of_node{IncidentId{2}, "node_fault", "node/n1", "n1: gpu_xid", {}};
  EXPECT_NE(told(of_node, Visibility::all, "ann").find("n1: gpu_xid"), std::string::npos)
      << "it is about no job";
  EXPECT_NE(told(JobHeld{id, "later"}, Visibility::all, "ann").find("later"), std::string::npos)
      << "it is why the job waits";
}

TEST(Sight, OfARowAsksWhoseTheJobOfAFilterIs) {
  Cluster c = people();
  const Event gone{.body = JobFinished{.job = JobId{9'999}, .reason = "secret-words"}};
  EventFilter filter{
      .job = JobId{9'999}, .sight = Sights(Visibility::all).of(c.state(), kAnn), .owner = "ann"};
  EXPECT_EQ(filter.owner_of(c.state(), gone), "ann") << "though it has left memory";
  EXPECT_TRUE(filter.passes(c.state(), gone));
  filter.owner = "eve";
  filter.sight = Sights(Visibility::own).of(c.state(), kAnn);
  EXPECT_FALSE(filter.passes(c.state(), gone));
}

}  // namespace
}  // namespace hai::test
