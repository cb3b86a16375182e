#pragma once
// The founder's first words, said for him where `hai` is installed beside the server.

#include <string>
#include <vector>

#include "server/setup/setup_plan.h"

namespace hai {

struct SignedIn {
  bool is_in = false;     // this machine's root is the cluster's administrator for `hai`
  std::string context;    // by which `hai` knows the cluster then
  std::string join_line;  // for nodes that were named; "" = none
  std::string complaint;  // why the rest was not done; "" = it was
};

// After the server has started; or after a further one has, `address` then: `hai` of this machine's
// root asks that one, too, and so do nodes that join from now on.
SignedIn sign_in(const SetupPlan& plan);
SignedIn sign_in_beside(const SetupPlan& plan, const std::string& address);

// What `hai context list` tells of one.
struct KnownContext {
  std::string name;
  std::vector<std::string> servers;
};
// The name of the context for the cluster that has one of these servers: the cluster's own, or with
// -2, -3, … where that is the context of other servers, which is never written over.
std::string context_for(const std::string& cluster, const std::vector<std::string>& servers,
                        const std::vector<KnownContext>& known);

// "--ca FILE", or "" if the server's certificate is of a CA that machines believe anyway.
std::string trust_words(const SetupPlan& plan);

}  // namespace hai
