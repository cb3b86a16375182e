#pragma once
// Several lambdas as one visitor.

namespace hai {

template <typename... Fs>
struct Overloads : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloads(Fs...) -> Overloads<Fs...>;

}  // namespace hai
