#pragma once
// Replaces the files of a certificate and its key, which must never be seen, or left by a machine
// that was cut off, as two that do not belong together for good.

#include "common/tls/tls_files.h"

namespace hai {

// Of one file that is named twice: at once, so that there is no moment between. Of two, the key
// first; both new ones are on the disk before, so that finish_replacing() can bring it to an end.
Status replace_pair(const TlsFiles& files, const std::string& key, const std::string& certificate);

// If replace_pair() was cut off between its two files: the other one. To be called before they are
// read for the first time.
void finish_replacing(const TlsFiles& files);

}  // namespace hai
