#pragma once
// The name under which a shared library asks to be found, its DT_SONAME: "libcuda.so.1" of
// libcuda.so.550.54.15. What ldconfig makes links of.

#include <string>
#include <string_view>

namespace hai {

// "" of what is no library of this machine's kind or has no such name. Looks at a few pages only.
std::string soname_of(std::string_view elf);

}  // namespace hai
