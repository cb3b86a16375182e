#pragma once
// Where this installation keeps the Python modules that programs import as `hai` and `hfai`.

#include <string>

namespace hai {

// ../share/hai/python beside the running program when installed, sdk/python of the source tree it
// was built in otherwise; "" if neither is there, and programs must find the modules themselves.
std::string default_python_dir();

}  // namespace hai
