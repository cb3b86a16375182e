// Signing in and out.

#include "server/api/answers.h"
#include "server/api/operations.h"
#include "server/api/sign_in.h"
#include "server/auth/token.h"

namespace hai {

namespace {

void to_proto(const SignInDesk::Session& session, v1::SignInReply& reply) {
  reply.set_user(session.user);
  reply.set_role(std::string(to_string(session.role)));
  reply.set_expires_at_us(to_micros(session.expires_at));
  reply.set_secret(session.secret);
  if (!session.secret.empty()) reply.set_csrf(csrf_of(session.secret));
}

void to_proto(const SignInProvider::Device& device, v1::BeginSignInReply& reply) {
  reply.set_device_code(device.device_code);
  reply.set_user_code(device.user_code);
  reply.set_verification_uri(device.verification_uri);
  reply.set_interval_seconds(device.interval_seconds);
  reply.set_expires_at_us(to_micros(device.expires_at));
}

}  // namespace

Prepared<v1::SignInReply> OperationBodies::SignIn(const v1::SignInRequest& request) {
  return [this, request](const Caller& caller, const Answer<v1::SignInReply>& answer) {
    SignInDesk& sign_in = parts_.sign_in;
    auto done = answer_with<SignInDesk::Session>(
        answer, [](const SignInDesk::Session& session, v1::SignInReply& reply) {
          to_proto(session, reply);
        });
    switch (request.proof_case()) {
      case v1::SignInRequest::kToken:
        return sign_in.with_token(request.token(), done);
      case v1::SignInRequest::kMunge:
        return sign_in.with_munge(request.munge(), done);
      case v1::SignInRequest::kDeviceCode:
        return sign_in.with_device(request.device_code(), done);
      case v1::SignInRequest::PROOF_NOT_SET:
        return sign_in.resume(caller, done);
    }
  };
}

Prepared<v1::BeginSignInReply> OperationBodies::BeginSignIn(const v1::BeginSignInRequest& request) {
  return [this, is_device = request.device()](const Caller&,
                                              const Answer<v1::BeginSignInReply>& answer) {
    const SignInDesk& sign_in = parts_.sign_in;
    SignInProvider* provider = sign_in.provider();
    auto write = [methods = sign_in.methods(), name = provider == nullptr ? "" : provider->name()](
                     const SignInProvider::Device& device, v1::BeginSignInReply& reply) {
      for (const std::string& method : methods) reply.add_methods(method);
      reply.set_provider(name);
      if (!device.device_code.empty()) to_proto(device, reply);
    };
    auto done = answer_with<SignInProvider::Device>(answer, write);
    if (!is_device) return done(SignInProvider::Device{});
    if (provider == nullptr) {
      return done(failed_precondition("this server knows no identity provider"));
    }
    provider->begin_device(done);
  };
}

Prepared<v1::SignOutReply> OperationBodies::SignOut(const v1::SignOutRequest&) {
  return [this](const Caller& caller, const Answer<v1::SignOutReply>& answer) {
    parts_.sign_in.end(caller, answer_done(answer));
  };
}

}  // namespace hai
