#include "server/model/state_digest.h"

#include <fmt/core.h>

#include <cstring>

#include "server/model/field_hasher.h"
#include "server/model/job_fields.h"

namespace hai {
namespace {

// Eight bytes at a time: the state may have a million jobs, and a server answers with it.
struct DigestWords {
  uint64_t hash = 0x9e3779b97f4a7c15ULL;

  void bytes(std::string_view text) {
    number(static_cast<int64_t>(text.size()));
    while (!text.empty()) {
      unsigned char word[8] = {};
      const size_t size = std::min(text.size(), sizeof(word));
      std::memcpy(word, text.data(), size);
      uint64_t value = 0;  // the same on every machine
      for (int i = 7; i >= 0; --i) value = value << 8 | word[i];
      number(static_cast<int64_t>(value));
      text.remove_prefix(size);
    }
  }
  void number(int64_t value) {
    hash ^= static_cast<uint64_t>(value);
    hash *= 0xff51afd7ed558ccdULL;
    hash ^= hash >> 32;
  }
};
using Hasher = FieldHasher<DigestWords>;

template <typename Row>
void add(Hasher& hasher, const Row& row) {
  hasher.add(row);
}

void add(Hasher& hasher, const User& user) {
  const auto& [name, role, active, groups, usage] = user;  // all of them
  hasher.add_all(name, role, active, groups, usage);
}

template <typename Key, typename Value>
void add(Hasher& hasher, const std::map<Key, Value>& values) {
  hasher.add(values.size());
  for (const auto& [key, value] : values) add(hasher, value);
}

}  // namespace

uint64_t state_digest(const ClusterState& state) {
  DigestWords words;
  Hasher hasher{words};
  hasher.add_all(state.epoch(), state.last_seq(), state.last_job(), state.last_incident());
  int64_t unfinished = 0;
  for (const auto& [id, job] : state.jobs()) {
    if (job.is_terminal()) continue;
    ++unfinished;
    add(hasher, job);
  }
  hasher.add(unfinished);
  add(hasher, state.nodes());
  add(hasher, state.users());
  add(hasher, state.quotas());
  add(hasher, state.tokens());
  add(hasher, state.secrets());
  add(hasher, state.identities());
  add(hasher, state.knobs());
  add(hasher, state.incidents());
  return words.hash;
}

std::string digest_text(uint64_t digest) { return fmt::format("{:016x}", digest); }

}  // namespace hai
