#include "agent/login_config.h"

#include <algorithm>

namespace hai {

void read_login(YamlReader& reader, LoginSettings* out) {
  reader.strings("login.admin_users", &out->admin_users);
  reader.strings("login.admin_groups", &out->admin_groups);
  for (const auto& [key, names] : {std::pair("login.admin_users", &out->admin_users),
                                   std::pair("login.admin_groups", &out->admin_groups)}) {
    if (std::ranges::find(*names, "") != names->end()) {
      reader.fail(key, "must be names, has an empty one");
    }
  }
}

}  // namespace hai
