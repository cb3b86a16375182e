#pragma once
// People, what they may use, and the tokens they come with.

#include <string>
#include <vector>

#include "common/job_spec.h"
#include "server/model/states.h"

namespace hai {

// GPU time that decays by half every usage_half_life (a knob), as of `at`.
struct GpuUsage {
  int64_t gpu_seconds = 0;
  UnixTime at{};
  bool operator==(const GpuUsage&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("gpu_seconds", self.gpu_seconds);
    visit("at", self.at);
  }
};

struct User {
  std::string name;
  Role role = Role::user;
  bool active = true;
  std::vector<std::string> groups;  // user groups, for quotas; everybody is in "public"
  GpuUsage usage;                   // of the attempts that ended; no part of the account
  bool operator==(const User&) const = default;
  bool is_same_account(const User& other) const {
    return name == other.name && role == other.role && active == other.active &&
           groups == other.groups;
  }

  // The account: an event that sets a user leaves the usage as it is.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("name", self.name);
    visit("role", self.role);
    visit("active", self.active);
    visit("groups", self.groups);
  }
};

// Nodes `owner` (a user, a user group or "public") may have running at once in node group `group`
// at `priority`.
struct Quota {
  std::string owner;
  std::string group;
  Priority priority = Priority::low;
  int64_t nodes = 0;  // kUnlimited = no limit
  static constexpr int64_t kUnlimited = 1'000'000'000;
  bool operator==(const Quota&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("owner", self.owner);
    visit("group", self.group);
    visit("priority", self.priority);
    visit("nodes", self.nodes);
  }
};

struct Token {
  std::string hash;  // SHA-256 of the secret, hex; the secret itself is never kept
  std::string user;
  std::string label;
  UnixTime created_at{};
  bool operator==(const Token&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("hash", self.hash);
    visit("user", self.user);
    visit("label", self.label);
    visit("created_at", self.created_at);
  }
};

}  // namespace hai
