/* archivelib.h: libarchive, loaded when it is needed: the program runs without it, and no process but the one that
 * unpacks has it in its memory. */
#ifndef REEVE_ARCHIVELIB_H
#define REEVE_ARCHIVELIB_H

#include <archive.h>
#include <archive_entry.h>

#include "err.h"

#define ARCHIVELIB_FUNCTIONS(X)        \
    X(archive_read_new)                \
    X(archive_read_free)               \
    X(archive_read_support_format_tar) \
    X(archive_read_support_format_zip) \
    X(archive_read_support_filter_gzip) \
    X(archive_read_support_filter_bzip2) \
    X(archive_read_support_filter_xz)  \
    X(archive_read_support_filter_zstd) \
    X(archive_read_open_fd)            \
    X(archive_read_next_header)        \
    X(archive_read_data)               \
    X(archive_error_string)            \
    X(archive_filter_count)            \
    X(archive_entry_pathname)          \
    X(archive_entry_symlink)           \
    X(archive_entry_hardlink)          \
    X(archive_entry_filetype)          \
    X(archive_entry_perm)              \
    X(archive_entry_is_encrypted)

struct archivelib { /* each function under its own name */
#define X(name) __typeof__(name) *name;
    ARCHIVELIB_FUNCTIONS(X)
#undef X
};

CHECKED enum err archivelib_load(struct archivelib *ret, struct why *why);

#endif
