#pragma once
// Python environments of whoever sits here: those that `hai env` keeps by name, and the one that is
// active in this shell.

#include <string>

#include "common/job_spec.h"

namespace hai::cli {

// Where named ones are: $HAIENV_PATH, as HAI calls it, or ~/.hai/envs.
std::string environments_folder();

// That of `venv` or conda which is active here; "" if none is.
std::string active_environment();

// What --venv says: a name, a folder, or none; "" changes nothing.
Status set_python_environment(const std::string& text, JobSpec& spec);

// The active one goes with a program that is submitted as it would run here, unless something else
// was chosen or an image has its own. One line says so.
void keep_active_environment(JobSpec& spec);

}  // namespace hai::cli
