// Signing in and out.

#include "server/api/answers.h"
#include "server/api/operations.h"

namespace hai {

Prepared<v1::SignInReply> Operations::SignIn(const v1::SignInRequest&) {
  return unavailable("not there yet");
}

Prepared<v1::BeginSignInReply> Operations::BeginSignIn(const v1::BeginSignInRequest&) {
  return unavailable("not there yet");
}

Prepared<v1::SignOutReply> Operations::SignOut(const v1::SignOutRequest&) {
  return unavailable("not there yet");
}

}  // namespace hai
