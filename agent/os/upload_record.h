#pragma once
// Which ranks' logs still have to go to the log store, on this node's disk: DATA/log_uploads/17.2.0
// from the rank's launch until its log is whole in the store, however often the agent starts in
// between. It says whose log it is, which no path and no program of the rank may say.

#include <map>
#include <string>

#include "common/id.h"
#include "common/status.h"

namespace hai {

Status make_upload_records(const std::string& data_dir);  // the folder, mode 0700
Status keep_upload_record(const std::string& data_dir, const RankKey& key, const std::string& user);
void drop_upload_record(const std::string& data_dir, const RankKey& key);
// The user of each. One that cannot be read is left out.
std::map<RankKey, std::string> list_upload_records(const std::string& data_dir);

}  // namespace hai
