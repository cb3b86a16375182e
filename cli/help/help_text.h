#pragma once
// --help for people at a terminal: wrapped at its width, in two columns.

#include <string>
#include <string_view>

namespace hai::cli {

struct VerbDoc;

// `width` 0 = not known: 80 columns.
std::string help_text(const VerbDoc& doc, int width);

// Lines of at most `width` columns, each after the first beginning with `indent` blanks.
std::string wrap(std::string_view text, size_t width, size_t indent);

}  // namespace hai::cli
