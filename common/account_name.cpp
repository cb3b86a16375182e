#include "common/account_name.h"

#include "common/text_check.h"

namespace hai {

Status check_account_name(std::string_view what, std::string_view name) {
  constexpr size_t kNameMax = 128;
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@+";
  if (!name.empty() && name.size() <= kNameMax && name.front() != '-' &&
      name.find_first_not_of(kAllowed) == std::string_view::npos) {
    return ok();
  }
  return invalid_argument("{}: must be 1..{} of the characters A-Z a-z 0-9 . _ - @ +, is '{}'",
                          what, kNameMax, printable(name.substr(0, kNameMax)));
}

}  // namespace hai
