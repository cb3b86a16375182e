#include "cli/help/help_text.h"

#include <algorithm>
#include <vector>

#include "cli/help/verb_doc.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

constexpr size_t kNarrowest = 40;
constexpr size_t kWidest = 100;  // longer lines are hard to read
constexpr size_t kLabelMax = 26;
constexpr size_t kGap = 2;

// How wide the labels are, but for those that are too long.
size_t label_column(const std::vector<OptionDoc>& items) {
  size_t column = 0;
  for (const OptionDoc& item : items) {
    const size_t label = display_width(item.label);
    if (label <= kLabelMax) column = std::max(column, label);
  }
  return column == 0 ? kLabelMax : column;
}

// Two columns; the text of a label that is too long stands below it.
std::string rows(const std::vector<OptionDoc>& items, size_t column, size_t width) {
  const size_t indent = kGap + column + kGap;
  std::string out;
  for (const OptionDoc& item : items) {
    std::string line = std::string(kGap, ' ') + item.label;
    const size_t label = display_width(item.label);
    if (!item.text.empty()) {
      line += label > column ? "\n" + std::string(indent, ' ')
                             : std::string(column - label + kGap, ' ');
      line += wrap(item.text, width - indent, indent);
    }
    out += line + "\n";
  }
  return out;
}

std::string section(const std::string& title, const std::vector<OptionDoc>& items, size_t width) {
  return items.empty() ? "" : "\n" + title + ":\n" + rows(items, label_column(items), width);
}

// Aligned with one another: they are one list in several parts.
std::string verb_sections(const std::vector<VerbGroup>& groups, size_t width) {
  std::vector<OptionDoc> all;
  for (const VerbGroup& group : groups) {
    for (const VerbLine& verb : group.verbs) all.push_back({verb.name, verb.text});
  }
  const size_t column = label_column(all);
  std::string out;
  for (const VerbGroup& group : groups) {
    std::vector<OptionDoc> lines;
    for (const VerbLine& verb : group.verbs) lines.push_back({verb.name, verb.text});
    out += "\n" + group.title + ":\n" + rows(lines, column, width);
  }
  return out;
}

std::string paragraphs(std::string_view text, size_t width) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find("\n\n"), text.size());
    out += "\n" + wrap(text.substr(0, end), width, 0) + "\n";
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out;
}

std::string examples(const std::vector<Example>& examples, size_t width) {
  if (examples.empty()) return "";
  std::string out = "\nExamples:\n";
  for (const Example& example : examples) {
    out += "  " + example.command + "\n";
    if (!example.does.empty()) out += "      " + wrap(example.does, width - 6, 6) + "\n";
  }
  return out;
}

}  // namespace

std::string wrap(std::string_view text, size_t width, size_t indent) {
  std::string out;
  size_t column = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const size_t length = display_width(word);
    if (column > 0 && column + 1 + length > width) {
      out += "\n" + std::string(indent, ' ');
      column = 0;
    }
    out += (column > 0 ? " " : "") + std::string(word);
    column += (column > 0 ? 1 : 0) + length;
  }
  return out;
}

std::string help_text(const VerbDoc& doc, int columns) {
  const size_t width =
      columns <= 0 ? 80 : std::clamp(static_cast<size_t>(columns), kNarrowest, kWidest);
  const bool is_top = doc.path.find(' ') == std::string::npos;
  std::string text = wrap((is_top ? doc.path + ": " : "") + doc.description, width, 0) + "\n";
  text += "\nUsage: " + wrap(doc.usage, width - 9, 9) + "\n";
  text += paragraphs(doc.help.details, width);
  text += section("Arguments", doc.operands, width);
  text += verb_sections(doc.groups, width);
  text += section("Options", doc.options, width);
  text += examples(doc.help.examples, width);
  if (!doc.help.exit_codes.empty()) {
    text += "\nExit codes:\n  " + wrap(doc.help.exit_codes, width - 2, 2) + "\n";
  }
  if (!doc.groups.empty()) text += "\n`" + doc.path + " VERB --help` tells more about one verb.\n";
  return text;
}

}  // namespace hai::cli
