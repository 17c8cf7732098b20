/* extract.h: the entries of an archive become files below a folder. Runs inside the jail; what entries may be is for
 * entry.h, how many and how large for the limits here. Writes only what is not there yet and follows no link, so that
 * nothing outside the folder is reached, whatever the archive says. What a refusal leaves behind is the caller's to
 * remove. */
#ifndef REEVE_EXTRACT_H
#define REEVE_EXTRACT_H

#include "archivelib.h"
#include "entry.h"

struct extract_limits {
    struct entry_rules rules;
    uint64_t bytes_max;   /* of all files together */
    uint64_t ratio_max;   /* of that to the bytes of the archive, once it is not small any more */
    uint64_t entries_max;
};

CHECKED enum err extract(const struct archivelib *lib, int archive, int folder, const struct extract_limits *limits,
                         struct why *why);

#endif
