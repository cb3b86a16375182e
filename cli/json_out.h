#pragma once
// What the reading commands print for programs. Keys, words and order are those of the REST
// interface; times are RFC 3339 (UTC), and what has not happened yet is null.

#include <nlohmann/json_fwd.hpp>

namespace hai::v1 {
class Attempt;
class Cluster;
class Event;
class Job;
class Node;
class Quota;
class Token;
class User;
class WhatIfReply;
class WhoAmIReply;
class WhyJobReply;
}  // namespace hai::v1

namespace hai::cli {

using Json = nlohmann::ordered_json;

Json to_json(const v1::Job& job);
Json to_json(const v1::Attempt& attempt);
Json to_json(const v1::WhyJobReply& why);
Json to_json(const v1::WhatIfReply& reply);
Json to_json(const v1::Event& event);
Json to_json(const v1::Node& node);
Json to_json(const v1::Cluster& cluster);
Json to_json(const v1::WhoAmIReply& who);
Json to_json(const v1::Quota& quota);
Json to_json(const v1::User& user);
Json to_json(const v1::Token& token);

}  // namespace hai::cli
