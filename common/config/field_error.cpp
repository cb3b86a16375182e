#include "common/config/field_error.h"

namespace hai {

std::string to_string(const FieldError& error) {
  std::string text;
  if (error.line > 0) text += fmt::format("line {}: ", error.line);
  if (!error.path.empty()) text += error.path + ": ";
  return text + error.message;
}

Status to_status(const std::vector<FieldError>& errors, std::string_view source) {
  if (errors.empty()) return ok();
  std::string text;
  for (const FieldError& error : errors) {
    if (!text.empty()) text += '\n';
    if (!source.empty()) text += fmt::format("{}: ", source);
    text += to_string(error);
  }
  return {Code::invalid_argument, std::move(text)};
}

}  // namespace hai
