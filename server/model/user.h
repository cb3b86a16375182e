#pragma once
// People, what they may use, and the tokens they come with.

#include <optional>
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

// What somebody shows to prove who he is.
struct Token {
  std::string hash;  // SHA-256 of the secret, hex; the secret itself is never kept
  std::string user;  // whose it is; of a join token, who made it
  std::string label;
  UnixTime created_at{};
  TokenKind kind = TokenKind::api;
  TokenScope scope = TokenScope::admin;
  std::optional<UnixTime> expires_at = {};
  std::optional<UnixTime> last_used_at = {};  // to the hour, of a session to some minutes
  // Of a join token: the nodes that may join with it (a host list), and how many still.
  std::string nodes;
  int uses_left = 0;
  bool is_over(UnixTime now) const { return expires_at && *expires_at <= now; }
  bool operator==(const Token&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("hash", self.hash);
    visit("user", self.user);
    visit("label", self.label);
    visit("created_at", self.created_at);
    visit("kind", self.kind);
    visit("scope", self.scope);
    visit("expires_at", self.expires_at);
    visit("last_used_at", self.last_used_at);
    visit("nodes", self.nodes);
    visit("uses_left", self.uses_left);
  }
};

// What a job may be given without anybody else seeing it. Its value is sealed with a key that the
// store does not have (server/auth/seal.h).
struct Secret {
  std::string user;
  std::string name;
  std::string sealed;  // base64
  UnixTime set_at{};
  int version = 0;  // how often it was set
  bool operator==(const Secret&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("user", self.user);
    visit("name", self.name);
    visit("sealed", self.sealed);
    visit("set_at", self.set_at);
    visit("version", self.version);
  }
};

// The certificates that were made for a node's name.
struct NodeIdentity {
  std::string node;
  std::string serial;  // of the latest, hex
  UnixTime issued_at{};
  UnixTime expires_at{};
  std::optional<UnixTime> revoked_at = {};  // nothing issued until then is believed
  std::string joined_with;                  // the id of the join token
  bool operator==(const NodeIdentity&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("node", self.node);
    visit("serial", self.serial);
    visit("issued_at", self.issued_at);
    visit("expires_at", self.expires_at);
    visit("revoked_at", self.revoked_at);
    visit("joined_with", self.joined_with);
  }
};

}  // namespace hai
