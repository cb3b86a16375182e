#include "cli/help/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/help/verb_doc.h"

namespace hai::cli {
namespace {

// A text that roff must take as it is: no escapes, no commands, hyphens that can be copied.
std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '`' || c == '\'') {
      out += c == '`' ? "\\(ga" : "\\(aq";
    } else {
      out += c;
    }
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string trim_left(const std::string& text) {
  const size_t start = text.find_first_not_of(' ');
  return start == std::string::npos ? "" : text.substr(start);
}

// Names in bold, what stands for values in italics: the words with capitals.
std::string label(const std::string& text) {
  std::string out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    const bool is_name = word.starts_with('-');
    out +=
        (out.empty() ? "" : " ") + std::string(is_name ? "\\fB" : "\\fI") + escape(word) + "\\fR";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

std::string options(const std::vector<OptionDoc>& items) {
  std::string out;
  for (const OptionDoc& item : items) {
    const std::string text = item.text.empty() ? "\\&" : escape(item.text);
    out += ".TP\n" + label(trim_left(item.label)) + "\n" + text + "\n";
  }
  return out;
}

std::string options_of_inner(const VerbDoc& doc) {
  std::string out = ".SS " + escape(doc.path) + "\n" + escape(doc.description) + ".\n";
  out += ".PP\n\\fB" + escape(doc.usage) + "\\fR\n";
  return out + options(doc.operands) + options(doc.options);
}

std::string verbs(const std::vector<VerbGroup>& groups) {
  std::string out;
  for (const VerbGroup& group : groups) {
    out += ".SS " + escape(group.title) + "\n";
    for (const VerbLine& verb : group.verbs) {
      const std::string page = "hai-" + verb.name;
      out += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", escape(page), escape(verb.text));
    }
  }
  return out;
}

std::string paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find("\n\n"), text.size());
    out += ".PP\n" + escape(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return out;
}

std::string examples(const std::vector<VerbDoc>& docs) {
  std::string out;
  std::set<std::string> seen;  // a verb below has some of those above
  for (const VerbDoc& doc : docs) {
    for (const Example& example : doc.help.examples) {
      if (!seen.insert(example.command).second) continue;
      out += ".TP\n\\fB" + escape(example.command) + "\\fR\n" +
             (example.does.empty() ? "\\&" : escape(example.does)) + "\n";
    }
  }
  return out.empty() ? "" : ".SH EXAMPLES\n" + out;
}

constexpr std::string_view kExitStatus =
    ".TP\n\\fB0\\fR\ndone\n.TP\n\\fB1\\fR\nan error that is none of the others\n"
    ".TP\n\\fB2\\fR\nusage, or a job file that is not valid\n.TP\n\\fB3\\fR\nnot found\n"
    ".TP\n\\fB4\\fR\nrefused\n.TP\n\\fB5\\fR\nthe server was not reached\n";

std::string exit_status(const VerbDoc& doc) {
  std::string out = ".SH EXIT STATUS\n";
  const bool is_top = doc.path == "hai";
  if (is_top || doc.help.exit_codes.empty()) return out + std::string(kExitStatus);
  out += escape(doc.help.exit_codes) + "\n";
  const bool has_others = doc.help.exit_codes.find("hai --help") != std::string::npos;
  return has_others ? out + std::string(kExitStatus) : out;
}

}  // namespace

std::string man_name(const VerbDoc& doc) {
  std::string name = doc.path;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string man_page(const VerbDoc& doc, const std::vector<VerbDoc>& inner,
                     const std::string& version) {
  const bool is_top = doc.path == "hai";
  const std::string name = man_name(doc);
  std::string out = fmt::format(".TH {} 1 \"\" \"hai {}\" \"hai manual\"\n", upper(name), version);
  out += fmt::format(".SH NAME\n{} \\- {}\n", escape(name), escape(doc.description));
  out += ".SH SYNOPSIS\n\\fB" + escape(doc.usage) + "\\fR\n";
  for (const VerbDoc& each : inner) {
    if (!is_top) out += ".br\n\\fB" + escape(each.usage) + "\\fR\n";
  }
  out += ".SH DESCRIPTION\n" + escape(doc.description) + ".\n" + paragraphs(doc.help.details);
  if (is_top) out += ".SH VERBS\n" + verbs(doc.groups);
  out += ".SH OPTIONS\n" + options(doc.operands) + options(doc.options);
  if (!is_top) {
    for (const VerbDoc& each : inner) out += options_of_inner(each);
  }
  std::vector<VerbDoc> all = {doc};
  if (!is_top) all.insert(all.end(), inner.begin(), inner.end());
  out += examples(all) + exit_status(doc);
  out +=
      ".SH ENVIRONMENT\n.TP\n\\fBHAI_CONTEXT\\fR\nthe cluster to talk to, as "
      "\\fB\\-\\-context\\fR\n"
      ".TP\n\\fBHAI_CONFIG\\fR\nthe file of the contexts; "
      "\\fI~/.config/hai/config.json\\fR by default\n"
      ".TP\n\\fBNO_COLOR\\fR\nno colours on a terminal\n";
  if (!is_top) out += ".SH SEE ALSO\n\\fBhai\\fR(1)\n";
  return out;
}

}  // namespace hai::cli
