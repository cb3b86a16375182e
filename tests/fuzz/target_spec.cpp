// Job files, as YAML and as JSON: whatever comes is taken, or refused with errors that each name a
// field or a line; what is taken is valid and comes back unchanged from its own text.

#include "common/spec/job_spec_yaml.h"
#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hai;
  const std::string text(fuzz::text_of(data, size));
  JobSpec spec;
  std::vector<SpecError> errors;
  if (!parse_job_spec(text, &spec, &errors)) {
    if (errors.empty()) fuzz::broken("refused without a reason");
    for (const SpecError& error : errors) fuzz::judge_reason(to_string(error));
    return 0;
  }
  const std::string own = format_job_spec_yaml(spec);
  JobSpec again;
  if (!parse_job_spec(own, &again, &errors)) fuzz::broken("its own text is refused: " + own);
  if (!(again == spec)) fuzz::broken("comes back changed from " + own);
  return 0;
}
