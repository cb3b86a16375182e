// The lies, by what they are about. A new field of a report belongs here.

#include <cmath>
#include <limits>

#include "common/health.h"
#include "common/tls/order_proofs.h"
#include "tests/security/liar.h"

namespace hai::test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

void add_many_checks(v1::AgentReport& report, int count, v1::CheckVerdict verdict) {
  for (int i = 0; i < count; ++i) {
    v1::CheckResult& check = *report.mutable_checks()->add_checks();
    check.set_name(fmt::format("check_{}", i));
    check.set_verdict(verdict);
    check.set_tier(v1::HEALTH_TIER_EVICT);
    check.set_summary("broken");
    check.set_evidence(std::string(kEvidenceBytesMax, 'e'));
  }
}

std::vector<Lie> lies_of_streams() {
  return {
      {"a second hello", [](Liar& liar) { liar.say(GatewayWorld::hello_of(kLiar)); }, Outcome::cut,
       "a second hello"},
      {"a report of another node",
       [](Liar& liar) { liar.say(GatewayWorld::report_of("node-1", 50)); }, Outcome::cut,
       "brought a report of node-1"},
      {"a report of a node without a name",
       [](Liar& liar) { liar.tell([](auto& report) { report.set_node(""); }); }, Outcome::cut,
       "node name"},
      {"a name that is no UTF-8",
       [](Liar& liar) { liar.tell([](auto& report) { report.set_node("\xff\xfe"); }); },
       Outcome::cut, "node"},
      {"a message that is too large",
       [](Liar& liar) {
         liar.tell_of_own([](auto& rank) { rank.set_message(std::string(5 << 20, 'x')); });
       },
       Outcome::cut, "bytes"},
      {"a log that nobody asked for",
       [](Liar& liar) {
         v1::AgentMessage message;
         message.mutable_log_chunk()->set_request_id(1);
         message.mutable_log_chunk()->set_data("secrets of others");
         liar.say(message);
       },
       Outcome::ignored},
      {"a log that goes backwards",
       [](Liar& liar) {
         v1::AgentMessage message;
         message.mutable_log_chunk()->set_offset(100);
         message.mutable_log_chunk()->set_next_offset(1);
         liar.say(message);
       },
       Outcome::cut, "next_offset"},
      {"a message of no kind", [](Liar& liar) { liar.say({}); }, Outcome::ignored},
      {"a clean hello, and silence", [](Liar&) {}, Outcome::ignored},
      {"a hundred streams, one after the other",
       [](Liar& liar) {
         for (int i = 0; i < 100; ++i) liar.dial();
       },
       Outcome::cut, "connects too often"},
  };
}

std::vector<Lie> lies_of_reports() {
  const auto with = [](auto lie) { return [lie](Liar& liar) { liar.tell(lie); }; };
  return {
      {"an epoch that cannot be", with([](auto& report) { report.set_seen_epoch(kMost / 2); }),
       Outcome::ignored, "not believed", Outcome::cut},
      {"an epoch above the present one", with([](auto& report) { report.set_seen_epoch(5); }),
       Outcome::ignored, "", Outcome::term},
      {"a negative epoch", with([](auto& report) { report.set_seen_epoch(-1); }), Outcome::cut,
       "seen_epoch"},
      {"a log that is longer than the server's", with([](auto& report) {
         report.set_seen_epoch(1);
         report.set_seen_seq(kMost);
       }),
       Outcome::ignored, "", Outcome::pause},
      {"that it has seen what another node was told", with([](auto& report) {
         const OrderProofs proofs(GatewayWorld::kSecret);
         report.set_seen_epoch(1);
         report.set_seen_seq(kMost);
         report.set_seen_proof(proofs.of_position("node-1", {Epoch{1}, kMost}));
       }),
       Outcome::ignored, "", Outcome::pause},
      {"a proof that is too long",
       with([](auto& report) { report.set_seen_proof(std::string(65, 'p')); }), Outcome::cut,
       "seen_proof"},
      {"a negative place in the log", with([](auto& report) { report.set_seen_seq(-7); }),
       Outcome::cut, "seen_seq"},
      {"the same report again",
       [](Liar& liar) {
         for (int i = 0; i < 50; ++i, --liar.sequence) liar.tell_truth();
       },
       Outcome::ignored},
      {"a sequence that goes back", with([](auto& report) { report.set_sequence(1); }),
       Outcome::ignored},
      {"a negative sequence", with([](auto& report) { report.set_sequence(-1); }), Outcome::cut,
       "sequence"},
      {"the last of all sequences",
       [](Liar& liar) {
         liar.tell([](auto& report) { report.set_sequence(kMost); });
         liar.tell_truth();
       },
       Outcome::ignored},
      {"grants that were never sent",
       with([](auto& report) { report.set_granted_sequence(kMost); }), Outcome::ignored},
      {"a list of peers that it was not given",
       with([](auto& report) { report.set_peers_version(int64_t{1} << 40); }), Outcome::ignored},
      {"a negative list of peers", with([](auto& report) { report.set_peers_version(-1); }),
       Outcome::cut, "peers_version"},
      {"that it ran what nobody ordered", with([](auto& report) {
         report.mutable_hook()->set_id(99);
         report.mutable_hook()->set_message("rebooted");
       }),
       Outcome::ignored},
      {"a report that asks for nothing, a thousand times",
       [](Liar& liar) {
         for (int i = 0; i < 1'000; ++i)
           liar.tell([](auto& report) { report.set_is_news_only(true); });
       },
       Outcome::ignored},
  };
}

std::vector<Lie> lies_of_facts() {
  const auto with = [](auto lie) {
    return [lie](Liar& liar) {
      liar.tell([&](v1::AgentReport& report) {
        GatewayWorld::add_facts(kLiar, report);
        lie(*report.mutable_facts());
      });
    };
  };
  return {
      {"facts of another node", with([](auto& facts) { facts.set_name("node-1"); }), Outcome::cut,
       "carries facts of node-1"},
      {"GPUs that no node has", with([](auto& facts) { facts.set_gpus(65); }), Outcome::cut,
       "gpus"},
      {"fewer GPUs than a job has there", with([](auto& facts) { facts.set_gpus(1); }),
       Outcome::cut, "has 1 GPU now and had 8"},
      {"a negative number of CPUs", with([](auto& facts) { facts.set_cpus(-1); }), Outcome::cut,
       "cpus"},
      {"no group", with([](auto& facts) { facts.set_group(""); }), Outcome::cut, "group"},
      {"a name of a megabyte",
       with([](auto& facts) { facts.set_gpu_model(std::string(1 << 20, 'H')); }), Outcome::cut,
       "gpu_model"},
      {"another address in each of a hundred reports",
       [with](Liar& liar) {
         for (int i = 0; i < 100; ++i) {
           with([i](auto& facts) { facts.set_address(fmt::format("10.0.0.{}", i)); })(liar);
         }
       },
       Outcome::cut, "only with a new connection"},
      {"a text that is no UTF-8", with([](auto& facts) { facts.set_gpu_model("\xff\xfe\x80"); }),
       Outcome::cut, "only with a new connection"},
  };
}

std::vector<Lie> lies_of_ranks() {
  const auto with = [](auto lie) { return [lie](Liar& liar) { liar.tell(lie); }; };
  const auto claims = [with](RankKey key, v1::RankPhase phase = v1::RANK_PHASE_RUNNING) {
    return with([=](v1::AgentReport& report) { Liar::add_rank(report, key, phase); });
  };
  const RankKey others = {JobId{1}, 1, 0};
  return {
      {"that it runs another node's rank", claims(others), Outcome::ignored},
      {"that another node's rank has failed",
       with([=](v1::AgentReport& report) { Liar::exit_of(Liar::add_rank(report, others), 1); }),
       Outcome::ignored},
      {"that another node's rank could not start", with([=](v1::AgentReport& report) {
         v1::RankStatus& rank = Liar::add_rank(report, others, v1::RANK_PHASE_EXITED);
         rank.set_cause(v1::EXIT_CAUSE_LAUNCH_FAILED);
       }),
       Outcome::ignored},
      {"a rank beyond the job's", claims({JobId{1}, 1, 77}), Outcome::ignored},
      {"a job that does not exist", claims({JobId{4'000'000'000}, 1, 0}), Outcome::ignored, "",
       Outcome::pause},
      {"an attempt that is to come", claims({JobId{1}, 2, 0}), Outcome::ignored, "",
       Outcome::pause},
      {"the last of all attempts", claims({JobId{1}, 2'147'483'647, 0}), Outcome::ignored, "",
       Outcome::pause},
      {"that its own rank's launch was another's",
       [](Liar& liar) {
         liar.tell([&](v1::AgentReport& report) {
           Liar::add_rank(report, {JobId{1}, 2, 0}).set_proof(liar.own_proof);
         });
       },
       Outcome::ignored, "", Outcome::pause},
      {"that what another node was told to run was its own", with([](v1::AgentReport& report) {
         const OrderProofs proofs(GatewayWorld::kSecret);
         const RankKey key{JobId{1}, 2, 0};
         Liar::add_rank(report, key).set_proof(proofs.of_launch("node-1", key));
       }),
       Outcome::ignored, "", Outcome::pause},
      {"a negative job", claims({JobId{-1}, 1, 0}), Outcome::cut, "job"},
      {"a negative attempt", claims({JobId{1}, -1, 0}), Outcome::cut, "attempt"},
      {"a negative rank", claims({JobId{1}, 1, -1}), Outcome::cut, "rank"},
      {"one rank twice",
       [](Liar& liar) { liar.tell([&](auto& report) { Liar::add_rank(report, *liar.own); }); },
       Outcome::cut, "twice"},
      {"more ranks than a node has", with([](v1::AgentReport& report) {
         for (int i = 0; i < 5'000; ++i) Liar::add_rank(report, {JobId{1'000 + i}, 1, 0});
       }),
       Outcome::cut, "ranks of the report"},
      {"as many ranks of nobody as a report holds", with([](v1::AgentReport& report) {
         for (int i = 0; i < 4'000; ++i) Liar::add_rank(report, {JobId{1'000 + i}, 1, 0});
       }),
       Outcome::ignored, "", Outcome::pause},
      {"a phase that there is not", with([](v1::AgentReport& report) {
         Liar::add_rank(report, {JobId{1}, 1, 0}, static_cast<v1::RankPhase>(77));
       }),
       Outcome::cut, "phase"},
  };
}

std::vector<Lie> lies_of_own_rank() {
  const auto with = [](auto lie) { return [lie](Liar& liar) { liar.tell_of_own(lie); }; };
  return {
      {"that it ended, and runs again",
       [](Liar& liar) {
         liar.tell_of_own([](auto& rank) { Liar::exit_of(rank, 0); });
         liar.tell_truth();
         liar.tell_of_own([](auto& rank) { rank.set_phase(v1::RANK_PHASE_STARTING); });
       },
       Outcome::ignored},
      {"a phase that goes backwards",
       with([](auto& rank) { rank.set_phase(v1::RANK_PHASE_STARTING); }), Outcome::ignored},
      {"an exit code that there is not",
       with([](auto& rank) { Liar::exit_of(rank, std::numeric_limits<int>::min()); }),
       Outcome::ignored},
      {"that the server had it killed", with([](auto& rank) {
         rank.set_phase(v1::RANK_PHASE_EXITED);
         rank.set_cause(v1::EXIT_CAUSE_KILLED);
       }),
       Outcome::ignored},
      {"that it was told to suspend", with([](auto& rank) { rank.set_suspend_notified(true); }),
       Outcome::ignored},
      {"a start before all time", with([](auto& rank) { rank.set_started_at_us(-kMost); }),
       Outcome::cut, "started_at_us"},
      {"an end after all time", with([](auto& rank) { rank.set_ended_at_us(kMost); }), Outcome::cut,
       "ended_at_us"},
      {"that it ended before it began", with([](auto& rank) {
         rank.set_started_at_us(4'000'000'000'000'000);
         rank.set_ended_at_us(1);
         Liar::exit_of(rank, 0);
       }),
       Outcome::ignored},
      {"a megabyte of reasons", with([](auto& rank) {
         Liar::exit_of(rank, 1);
         rank.set_message(std::string((1 << 20) - 100, 'x'));
       }),
       Outcome::ignored},
      {"reasons that are no UTF-8", with([](auto& rank) {
         Liar::exit_of(rank, 1);
         rank.set_message("\xff\xfe\x80\x1b[2J");
       }),
       Outcome::ignored},
      {"progress without end",
       [](Liar& liar) {
         for (int64_t step : {kMost, int64_t{-1}, -kMost, int64_t{0}}) {
           liar.tell_of_own([step](auto& rank) { rank.set_progress_step(step); });
         }
       },
       Outcome::ignored},
      {"a checkpoint from the future that took no number of seconds", with([](auto& rank) {
         rank.mutable_checkpoint()->set_path("/ckpt");
         rank.mutable_checkpoint()->set_step(-kMost);
         rank.mutable_checkpoint()->set_save_seconds(std::nan(""));
         rank.mutable_checkpoint()->set_at_us(4'000'000'000'000'000);
       }),
       Outcome::ignored},
      {"a life state of 64 KiB in each of a hundred reports",
       [](Liar& liar) {
         for (int i = 0; i < 100; ++i) {
           liar.tell_of_own([i](auto& rank) {
             rank.set_whole_life_state(std::to_string(i) + std::string(65'000, 's'));
           });
         }
       },
       Outcome::ignored},
      {"more CPU time than there is",
       with([](auto& rank) { rank.mutable_usage()->set_cpu_time_us(kMost); }), Outcome::cut,
       "cpu_time_us"},
      {"less memory than none",
       with([](auto& rank) { rank.mutable_usage()->set_peak_memory_bytes(-1); }), Outcome::cut,
       "peak_memory_bytes"},
      {"signs of a hang without end", with([](auto& rank) {
         for (int i = 0; i < 10'000; ++i) rank.add_signs()->set_kind(v1::HANG_SIGN_KIND_GPU_IDLE);
       }),
       Outcome::cut, "signs"},
      {"a GPU that works more than it can", with([](auto& rank) { rank.set_gpu_percent(101); }),
       Outcome::cut, "gpu_percent"},
      {"measurements that are no numbers", with([](auto& rank) {
         Liar::exit_of(rank, 0);
         for (double value : {std::nan(""), std::numeric_limits<double>::infinity(), -1e308}) {
           v1::Measurement& measured = *rank.add_measurements();
           measured.set_test("gpu");
           measured.set_metric("tflops");
           measured.set_value(value);
           measured.set_verdict(v1::CHECK_VERDICT_FAIL);
         }
       }),
       Outcome::cut, "is no number"},
  };
}

std::vector<Lie> lies_of_health() {
  const auto with = [](auto lie) { return [lie](Liar& liar) { liar.tell(lie); }; };
  return {
      {"a hundred thousand checks", with([](v1::AgentReport& report) {
         for (int i = 0; i < 100'000; ++i) report.mutable_checks()->add_checks()->set_name("c");
       }),
       Outcome::cut, "checks of the report"},
      {"that everything is broken",
       with([](v1::AgentReport& report) { add_many_checks(report, 500, v1::CHECK_VERDICT_FAIL); }),
       Outcome::ignored},
      {"that everything is broken, and whole, in turn",
       [](Liar& liar) {
         for (int i = 0; i < 50; ++i) {
           liar.tell([i](auto& report) {
             add_many_checks(report, 20,
                             i % 2 == 0 ? v1::CHECK_VERDICT_FAIL : v1::CHECK_VERDICT_OK);
           });
         }
       },
       Outcome::ignored},
      {"a check without a verdict", with([](v1::AgentReport& report) {
         add_many_checks(report, 1, static_cast<v1::CheckVerdict>(99));
       }),
       Outcome::cut, "verdict"},
      {"readings of GPUs that it has not", with([](v1::AgentReport& report) {
         for (int i = 0; i < 64; ++i)
           report.mutable_gpu_readings()->add_gpus()->set_temperature_celsius(60);
       }),
       Outcome::ignored},
      {"readings of more GPUs than there are", with([](v1::AgentReport& report) {
         for (int i = 0; i < 1'000; ++i) report.mutable_gpu_readings()->add_gpus();
       }),
       Outcome::cut, "gpu_readings"},
      {"a GPU as hot as the sun", with([](v1::AgentReport& report) {
         report.mutable_gpu_readings()->add_gpus()->set_temperature_celsius(5'500);
       }),
       Outcome::cut, "temperature_celsius"},
  };
}

}  // namespace

std::vector<Lie> all_lies() {
  std::vector<Lie> all;
  for (auto part : {lies_of_streams(), lies_of_reports(), lies_of_facts(), lies_of_ranks(),
                    lies_of_own_rank(), lies_of_health()}) {
    for (Lie& lie : part) all.push_back(std::move(lie));
  }
  return all;
}

}  // namespace hai::test
