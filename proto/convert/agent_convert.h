#pragma once
// common/agent_messages.h and common/log_messages.h ↔ protobuf. to_proto never fails; from_proto is
// total: whatever came over the network gives a value within the limits below or invalid_argument,
// never a crash. A program's own numbers (steps, save seconds) never make a report invalid: one odd
// program must not cut its node off.

#include "common/agent_messages.h"
#include "common/log_messages.h"
#include "common/status.h"

namespace hai {

namespace v1 {  // The generated types; include hai/v1/agent.pb.h where they are used.
class AgentMessage;
class AgentOrder;
class AgentReport;
class Hello;
class LaunchRank;
class LogChunk;
class ReadLog;
class ServerMessage;
}  // namespace v1

// The versions of the protocol between agent and server that a program speaks. A version is new
// only if what was right in the one before is wrong in it: fields that are added make none. The
// agent's hello says which it speaks, the server takes the newest that both do and names it in the
// stream's initial metadata; without one in common it refuses the agent.
struct ProtocolRange {
  int oldest = 0;
  int newest = 0;
  bool contains(int version) const { return oldest <= version && version <= newest; }
  bool operator==(const ProtocolRange&) const = default;
};
inline constexpr ProtocolRange kProtocols{.oldest = 1, .newest = 2};
// From this version on a launch names the nodes of its gang in short: cost and size of a gang's
// launches grew with the square of its ranks before.
inline constexpr int kProtocolOfGangs = 2;
// A stream without it is of a server of before there was a choice: it speaks 1.
inline constexpr const char* kProtocolMetadata = "hai-protocol";
// 0 = none in common.
int newest_in_common(ProtocolRange one, ProtocolRange other);
std::string to_string(ProtocolRange range);  // "1", "1 to 3"
inline constexpr int kMaxMessageBytes = 4 << 20;
// To this the life states of a report fill it; all else that is said of ranks fits beside them.
inline constexpr size_t kReportBytesMax = 3 << 20;

struct AgentLimits {
  static constexpr int kGpus = GpuSet::kMax;
  static constexpr int kCpus = 65'536;
  static constexpr int64_t kMemoryBytes = int64_t{1} << 50;
  static constexpr int kRanksOfNode = 4'096;
  static constexpr int kRanksOfAttempt = 100'000;
  static constexpr int kEnvironments = 4'096;
  static constexpr size_t kPeers = 64;
  static constexpr int kPort = 65'535;
  static constexpr size_t kNameBytes = 255;
  static constexpr size_t kProofBytes = 64;
  static constexpr size_t kTextBytes =
      1 << 20;  // each single text; the whole message has kMaxMessageBytes
};

// Writes and reads the places of an attempt once for all its orders: it remembers the last ones.
// Without it a gang of n ranks would cost n² conversions. One thread at a time.
class PlacesCodec {
 public:
  // All that is known of the places, as v1.RankPlaces.
  const std::string& encode(const RankPlaces& places);
  Result<RankPlaces> decode(const std::string& bytes);
  // What all ranks are told of each other, as v1.Gang: of each its node and its GPUs, of the first
  // its address. "" where a node's name cannot stand in a host list.
  const std::string& encode_gang(const RankPlaces& places);
  Result<RankPlaces> decode_gang(const std::string& bytes);

 private:
  struct Last {
    RankPlaces places;  // kept alive, so that being the same object means being equal
    std::string bytes;
    bool is_set = false;
    bool is_of(const RankPlaces& others) const { return is_set && places.is_same_object(others); }
  };
  Last places_;
  Last gang_;
};

struct AgentHello {
  ProtocolRange protocols = kProtocols;
  std::string agent_token;
  std::string node;
  AgentIdentity identity;  // its address is not sent: the server sees it
  bool operator==(const AgentHello&) const = default;
};

void to_proto(const AgentHello& hello, v1::Hello& out);
void to_proto(const AgentReport& report, v1::AgentReport& out);
// Leaves out life states, which programs choose, until the report has at most kReportBytesMax.
// Those of ended ranks go first, in the order of the report, then those of running ones from rank
// `next` on. An ended rank whose state has no room is told as running until it has. Returns the
// `next` of the report that follows, which has the rest.
int fit_life_states(v1::AgentReport& report, int next);
// For an agent that speaks this version of the protocol.
void to_proto(const AgentOrder& order, int protocol, PlacesCodec& codec, v1::AgentOrder& out);
void to_proto(int64_t request_id, const LogRequest& request, v1::ReadLog& out);
void to_proto(int64_t request_id, const LogChunk& chunk, v1::LogChunk& out);

Result<AgentHello> from_proto(const v1::Hello& message);
Result<AgentReport> from_proto(const v1::AgentReport& message);
Result<AgentOrder> from_proto(const v1::AgentOrder& message, PlacesCodec& codec);
Result<LogRequest> from_proto(const v1::ReadLog& message);  // request_id: message.request_id()
Result<LogChunk> from_proto(const v1::LogChunk& message);

}  // namespace hai
