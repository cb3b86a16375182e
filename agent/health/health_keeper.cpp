#include "agent/health/health_keeper.h"

#include "agent/health/merge_results.h"
#include "agent/health/results.h"

namespace hai {

void HealthKeeper::open(const std::string& path, const std::string& boot_id, Keeping keeping,
                        HealthRecordWriter::StartWork start_work) {
  Result<HealthRecord> record = read_health_record(path, boot_id);
  if (record.is_ok()) {
    record_ = std::move(record).value();
  } else if (record.status().code() != Code::not_found) {
    record_.damage = record.status().message();
  }
  record_.boot_id = boot_id;
  if (keeping == Keeping::writes)
    writer_ = std::make_unique<HealthRecordWriter>(path, std::move(start_work));
}

void HealthKeeper::note(const std::string& check, std::vector<CheckResult> faults,
                        std::optional<CheckMemory> memory) {
  CheckRecord& kept = known_of(check);
  CheckRecord fresh{.memory = memory ? std::move(*memory) : kept.memory,
                    .faults = std::move(faults)};
  // A reading that moves is no news.
  if (digest_of(fresh.faults) == digest_of(kept.faults)) fresh.faults = kept.faults;
  const bool is_news = !(fresh == kept);
  kept = std::move(fresh);
  if (writer_ == nullptr) return;
  if (is_news || !is_written_ || !writer_->status().is_ok()) writer_->write(record_);
  is_written_ = true;
}

std::optional<CheckResult> HealthKeeper::complaint() const {
  const CheckSubject about{.name = "health_record", .subject = {}, .gpus = {}};
  const Status status = writer_ == nullptr ? ok() : writer_->status();
  if (!status.is_ok()) {
    return make_warn(about,
                     {.summary = fmt::format("a restart of the agent will forget what is found: {}",
                                             status.message()),
                      .remedy = "look at the disk of the agent's data_dir"});
  }
  if (record_.damage.empty()) return std::nullopt;
  return make_warn(about,
                   {.summary = "what was found before the agent's start was damaged",
                    .remedy = "hai validate the node; look at the disk of the agent's data_dir",
                    .evidence = record_.damage + "\n"});
}

}  // namespace hai
