#pragma once
// -o table|wide|json|jsonl of the reading commands, and lists in those forms.

#include <string>
#include <vector>

#include "proto/json/json_writer.h"

namespace CLI {
class App;
}

namespace hai::cli {

using Json = nlohmann::ordered_json;

enum class OutputFormat { table, wide, json, jsonl };

inline bool is_json(OutputFormat format) {
  return format == OutputFormat::json || format == OutputFormat::jsonl;
}

void add_output_option(CLI::App& verb, OutputFormat& format);

// json: one indented value; jsonl: one line.
std::string format_json(const Json& value, OutputFormat format);
// json: an array; jsonl: one line each.
std::string format_json_list(const std::vector<Json>& values, OutputFormat format);

// To standard output, at once: a reader of a pipe must not wait for a buffer to fill.
void print(const std::string& text);

}  // namespace hai::cli
