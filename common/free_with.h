#pragma once
// Objects of C libraries as owners: std::unique_ptr<BIGNUM, Free<BN_free>>.

namespace hai {

template <auto free_it>
struct Free {
  template <typename Object>
  void operator()(Object* object) const {
    free_it(object);
  }
};

}  // namespace hai
