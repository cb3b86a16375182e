#pragma once
// What the node's CDI files (cdi.h) say of the GPUs of one rank, looked up on this machine.

#include <functional>
#include <string>

#include "agent/os/image_file.h"
#include "common/gpu_set.h"
#include "common/status.h"

namespace hai {

// Nothing for a rank without GPUs, and where no file has GPUs. All errors are the node's. `say` is
// told, in a line, what is left out.
Result<ImageDevices> find_devices(const ImageSettings& settings, const GpuSet& gpus,
                                  const std::function<void(const std::string&)>& say);

}  // namespace hai
