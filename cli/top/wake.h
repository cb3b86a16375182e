#pragma once
// A bell that poll() hears, rung from any thread.

namespace hai::cli::top {

class Wake {
 public:
  Wake();
  ~Wake();
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;

  int descriptor() const { return descriptor_; }
  void ring() const;
  void quieten() const;

 private:
  int descriptor_;
};

}  // namespace hai::cli::top
