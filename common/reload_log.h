#pragma once
// What SIGHUP does to the log of a program that has a config.

#include <string>

#include "common/config/config_change.h"
#include "common/log.h"

namespace hai {

// To the level and the file that the config names now (after an error the old file stays), and says
// which keys were taken and which wait for a restart.
void reload_log(LogLevel level, const std::string& file, const ConfigChange& change);

}  // namespace hai
