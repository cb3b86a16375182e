// What libraries that include fmt/core.h alone want of fmt's own: Debian's libfmt has it under the
// name that g++ gives it, which is not clang's.
#define FMT_HEADER_ONLY
#include <fmt/format.h>

template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view,
                                            fmt::basic_format_args<FMT_BUFFER_CONTEXT(char)>,
                                            fmt::detail::locale_ref);
