#include "common/uid_min.h"

#include <fstream>
#include <sstream>

#include "common/whole_number.h"

namespace hai {

uid_t uid_min_of(const std::string& login_defs) {
  std::ifstream file(login_defs);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key;
    std::string value;
    if (words >> key >> value && key == "UID_MIN")
      return whole_number<uid_t>(value).value_or(kUidMin);
  }
  return kUidMin;
}

}  // namespace hai
