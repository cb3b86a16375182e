#include "cli/app.h"

int main(int count, char** words) {
  return hai::cli::run_app(std::vector<std::string>(words + 1, words + count));
}
