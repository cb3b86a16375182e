#pragma once
// Mutations of messages that stay messages: bytes that protobuf refuses end at its parser, and
// would never reach what reads the fields. What comes out are the serialised bytes again.

#include <google/protobuf/message.h>

#include <algorithm>
#include <string>

#include "common/rng.h"
#include "tests/fuzz/fuzz_target.h"

// libFuzzer's, or that of the plain driver (corpus_main.cpp).
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t size_max);

namespace hai::fuzz {

// Changes one or some fields, anywhere in it: to values at the edges of their types, to texts that
// are long, empty or no UTF-8, to many elements, to none.
void mutate_message(Rng& rng, google::protobuf::Message& message);

// A custom mutator of libFuzzer: now and then its own, else `mutated` by a generator of that seed,
// unless that is too long.
template <typename Mutated>
size_t run_mutator(uint8_t* data, size_t size, size_t size_max, unsigned seed, Mutated mutated) {
  Rng rng(seed);
  if (rng.chance(0.1)) return LLVMFuzzerMutate(data, size, size_max);
  const std::string own = mutated(text_of(data, size), rng);
  if (own.size() > size_max) return LLVMFuzzerMutate(data, size, size_max);
  std::copy(own.begin(), own.end(), data);
  return own.size();
}

}  // namespace hai::fuzz
