/* segment.h: the segment files of a journal: their names, the table of them, and making new ones.
 *
 *   journal/<number>.seg   a segment; whole (full size, zeroes, name synced) before it ever gets this name
 *   journal/<number>.new   one being made; worthless after a crash
 *   archive/<number>.seg   a trimmed one
 *   archive/<number>.seg.zst   a trimmed one, packed (packed.h); the plain one, if both are there, counts
 *
 * A .seg without a header of its own number is *blank*: prepared (zeroes) or recycled (bytes of an earlier life). */
#ifndef REEVE_SEGMENT_H
#define REEVE_SEGMENT_H

#include "block.h"
#include "disk.h"
#include "vec.h"

#define SEGMENT_DIR "journal"
#define SEGMENT_ARCHIVE "archive"
#define SEGMENT_NAME_MAX 40u

struct segment {
    uint64_t number;
    uint64_t bytes;      /* of the file; of the used part when packed */
    bool archived;
    bool packed;         /* only the packed form is there */
    bool twin;           /* the packed form is there too: packing was interrupted */
    bool used;           /* the header below is valid and of this number */
    bool recycled;       /* blank, with a whole header of an earlier life */
    struct segment_header header;
};

/* Ordered by number, each number once. */
struct segment_table {
    struct vec rows; /* struct segment */
};

void segment_name(char to[SEGMENT_NAME_MAX], uint64_t number, bool archived);
void segment_packed_name(char to[SEGMENT_NAME_MAX], uint64_t number);
void segment_file_name(char to[SEGMENT_NAME_MAX], const struct segment *g); /* where the table found it */

void segment_table_init(struct segment_table *t);
void segment_table_fini(struct segment_table *t);
/* Reads names and headers. Refuses files that were never a whole segment and formats it does not know. */
CHECKED enum err segment_table_load(struct segment_table *t, struct disk *d, bool with_archive, struct why *why);
/* One row's header, by its number and place. */
CHECKED enum err segment_load(struct segment *row, struct disk *d, struct why *why);
static inline struct segment *segment_at(const struct segment_table *t, uint32_t i) {
    return vec_at(&t->rows, i);
}

/* Makes a blank segment of this number, durable with its name. ERR_NO_SPACE leaves nothing behind. */
CHECKED enum err segment_make(struct disk *d, uint64_t number, uint64_t bytes, struct why *why);
/* Gives a segment that is no longer needed a new number: blank again, because its header names the old one. */
CHECKED enum err segment_recycle(struct disk *d, uint64_t old_number, uint64_t number, struct why *why);
/* These two are durable when they return: names let go one after the other may reach the disk in any order, and a
 * crash would leave a gap that looks like damage. */
CHECKED enum err segment_archive(struct disk *d, uint64_t number, struct why *why);
CHECKED enum err segment_remove(struct disk *d, uint64_t number, struct why *why);
/* Removes what makers that crashed left behind. */
CHECKED enum err segment_sweep(struct disk *d, struct why *why);
/* Writes the header into a blank segment and syncs it. The file stays open for appending. */
CHECKED enum err segment_begin(struct disk *d, const struct segment_header *h, disk_file *ret, struct why *why);

#endif
