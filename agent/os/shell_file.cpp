#include "agent/os/shell_file.h"

#include <nlohmann/json.hpp>

#include "agent/os/whole_json.h"

namespace hai {

using Json = nlohmann::json;

// Words need not be UTF-8, so they go as numbers of their bytes.
std::string shell_program_to_json(const ShellProgram& program) {
  Json argv = Json::array();
  for (const std::string& word : program.argv) {
    argv.push_back(std::vector<uint8_t>(word.begin(), word.end()));
  }
  return Json{{"argv", argv},
              {"has_terminal", program.terminal.has_value()},
              {"term", program.term},
              {"port", program.port},
              {"is_own", program.is_own}}
      .dump();
}

Result<ShellProgram> shell_program_from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    ShellProgram program;
    for (const Json& word : json.at("argv")) {
      const auto bytes = word.get<std::vector<uint8_t>>();
      program.argv.emplace_back(bytes.begin(), bytes.end());
    }
    if (json.at("has_terminal").get<bool>()) program.terminal = TerminalSize{};
    program.term = json.at("term").get<std::string>();
    program.port = whole_int(json.at("port"));
    program.is_own = json.value("is_own", false);  // an agent of before
    return program;
  } catch (const std::exception& error) {
    return invalid_argument("not a request for a shell: {}", error.what());
  }
}

}  // namespace hai
