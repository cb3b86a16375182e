#pragma once
// The WHERE of a question whose conditions depend on what is asked for.

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/store/pg_session.h"

namespace hai {

// Conditions joined by AND; `$` in a condition stands for its parameter. The name tells prepared
// statements with different conditions apart.
class PgFilter {
 public:
  explicit PgFilter(std::string name) : name_(std::move(name)) {}

  void add(std::string_view condition, std::string parameter) {
    params_.push_back(std::move(parameter));
    text_ += text_.empty() ? " WHERE " : " AND ";
    for (char byte : condition) {
      text_ += byte;
      if (byte == '$') text_ += std::to_string(params_.size());
    }
  }
  // Throws PgError.
  PgResult select(PgSession& session, std::string_view columns, std::string_view table,
                  std::string_view order, int limit) {
    params_.push_back(std::to_string(limit));
    const std::string sql = fmt::format("SELECT {} FROM {}{} ORDER BY {} LIMIT ${}::integer",
                                        columns, table, text_, order, params_.size());
    const std::string name = fmt::format("{}{}{}", name_, text_, order);
    return session.call({name.c_str(), sql.c_str()}, params_);
  }

 private:
  std::string name_;
  std::string text_;
  std::vector<std::string> params_;
};

}  // namespace hai
