#pragma once
// Man pages, as roff: one for hai, one for each verb with the verbs below it. Made of the same
// documents as --help.

#include <string>
#include <vector>

namespace hai::cli {

struct VerbDoc;

// `inner`: of the verbs below it, in their order.
std::string man_page(const VerbDoc& doc, const std::vector<VerbDoc>& inner,
                     const std::string& version);
// "hai-list" of "hai list".
std::string man_name(const VerbDoc& doc);

}  // namespace hai::cli
