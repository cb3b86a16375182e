#include "cli/output.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace hai::cli {
namespace {

// Foreign bytes that are no UTF-8 must not stop the output.
std::string dump(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void add_output_option(CLI::App& verb, OutputFormat& format) {
  const std::map<std::string, OutputFormat> words = {{"table", OutputFormat::table},
                                                     {"wide", OutputFormat::wide},
                                                     {"json", OutputFormat::json},
                                                     {"jsonl", OutputFormat::jsonl}};
  verb.add_option_function<std::string>(
          "-o,--output", [&format, words](const std::string& word) { format = words.at(word); },
          "form of what is printed")
      ->check(CLI::IsMember({"table", "wide", "json", "jsonl"}));
}

std::string format_json(const Json& value, OutputFormat format) {
  return dump(value, format == OutputFormat::jsonl ? -1 : 2) + "\n";
}

std::string format_json_list(const std::vector<Json>& values, OutputFormat format) {
  if (format != OutputFormat::jsonl) return dump(Json(values), 2) + "\n";
  std::string out;
  for (const Json& value : values) out += dump(value, -1) + "\n";
  return out;
}

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace hai::cli
