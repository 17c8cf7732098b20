/* packio.h: pack files by name, and reading them block by block. Holds no state of the store: a reader belongs to one
 * thread, and each thread may have its own. */
#ifndef REEVE_PACKIO_H
#define REEVE_PACKIO_H

#include "disk.h"
#include "packfmt.h"
#include "vec.h"

#define PACKIO_NAME_MAX 48u

/* <dir>/<16 hexadecimal digits>.pack, or .tmp for one that nobody may rely on yet */
void packio_name(char to[PACKIO_NAME_MAX], const char *dir, uint32_t number, bool unborn);
/* The number of such a file name (without its directory), or 0. */
uint32_t packio_number(const char *name, bool *ret_unborn);

/* One file open for reading. */
struct packio {
    struct disk *disk;
    disk_file file; /* v < 0: none */
    char name[PACKIO_NAME_MAX];
    uint64_t bytes; /* its size when it was opened */
    struct pack_header header;
    struct packfmt_zstd *zstd;
    struct buf stored; /* the block read last, as it is in the file */
};

void packio_init(struct packio *io, struct disk *disk);
void packio_fini(struct packio *io);
/* Opens and reads the header. A bad header is ERR_CORRUPT with the file left open: its blocks may still be read. */
CHECKED enum err packio_open(struct packio *io, const char *dir, uint32_t number, struct why *why);
void packio_close(struct packio *io); /* fine when not open */
/* Reads and verifies the block at `offset`. ERR_CORRUPT names file and byte. */
CHECKED enum err packio_block(struct packio *io, uint64_t offset, struct pack_block *ret, struct why *why);
/* The same, expanded into `raw`. */
CHECKED enum err packio_payload(struct packio *io, uint64_t offset, struct pack_block *ret, struct buf *raw,
                                struct why *why);
/* Finds and expands the footer. ERR_NOT_FOUND: the pack has none (it was not closed, or its end is unreadable). */
CHECKED enum err packio_footer(struct packio *io, struct pack_block *ret, uint64_t *ret_at, struct buf *raw,
                               struct why *why);

/* Where a body is: what the store hands to a reader. */
struct pack_spot {
    uint32_t pack;
    uint64_t offset;  /* of the block; 0 = the body of the first entry of block `chunk` is meant */
    uint32_t at, len; /* of the body in the block's payload */
    uint32_t chunk;
};

struct pack_reader {
    const char *dir;
    struct packio io;
    uint32_t pack;         /* that is open, 0 = none */
    struct u32vec offsets; /* of its blocks, read from its footer when asked for by ordinal */
    uint64_t raw_offset;   /* of the block in `raw`, 0 = none */
    struct buf raw;
};

void pack_reader_init(struct pack_reader *r, struct disk *disk, const char *dir);
void pack_reader_fini(struct pack_reader *r);
/* The bytes, valid until the next call. ERR_NOT_FOUND: the pack was rewritten meanwhile; ask the store again. */
CHECKED enum err pack_reader_get(struct pack_reader *r, const struct pack_spot *spot, struct slice *ret,
                                 struct why *why);

#endif
