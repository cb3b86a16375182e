#pragma once
// Lists of host names in the short form that clusters use: "node-[1-4,7],gpu01" is node-1, node-2,
// node-3, node-4, node-7 and gpu01. Ranges keep zero padding: "n[08-10]" is n08, n09, n10.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai {

inline constexpr size_t kHostlistNamesMax = 100'000;

// Whether a name can stand in such a list, and in a table: 1 to 255 of letters, digits and ". _ -".
bool is_node_name(std::string_view name);

// The names in the order written, repeats included; several brackets in one name multiply. "" is
// the empty list.
Result<std::vector<std::string>> parse_hostlist(std::string_view text,
                                                size_t names_max = kHostlistNamesMax);
// Of several lists, one after the other; names_max in all of them together.
Result<std::vector<std::string>> parse_hostlists(const std::vector<std::string>& texts,
                                                 size_t names_max = kHostlistNamesMax);

// Whether the name is one of a list that parse_hostlist() takes, without writing the list out.
bool is_in_hostlist(std::string_view name, std::string_view list);

// The same names in the same order, repeats included, with runs of neighbours as ranges: what
// parse_hostlist() makes the same list of, if they are node names.
std::string fold_hostlist(const std::vector<std::string>& names);

// The shortest form of this code: sorted by prefix and number, repeats dropped, runs of the last
// number in a name as ranges.
std::string format_hostlist(std::vector<std::string> names);

}  // namespace hai
