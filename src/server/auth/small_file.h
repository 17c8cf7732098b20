/* small_file.h: small files of the data directory that are replaced as a whole: eight bytes of magic, a CRC-32C and one
 * described message. What was saved is durable; a crash in the middle leaves the file as it was. */
#ifndef REEVE_SMALL_FILE_H
#define REEVE_SMALL_FILE_H

#include "arena.h"
#include "disk.h"
#include "tlv.h"

#define SMALL_FILE_BYTES_MAX (16u << 20)

struct small_file {
    const char *name;
    const char *magic; /* eight bytes */
    const struct tlv_desc *desc;
    const char *damaged; /* what to tell who finds it damaged */
};

CHECKED enum err small_file_save(const struct small_file *f, struct disk *d, const void *message, struct why *why);
/* ERR_NOT_FOUND: there is none. */
CHECKED enum err small_file_load(const struct small_file *f, struct disk *d, struct arena *arena, void *ret,
                                 struct why *why);
/* Any bytes, in the same way. */
CHECKED enum err small_file_replace(struct disk *d, const char *name, struct slice bytes, struct why *why);

#endif
