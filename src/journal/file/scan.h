/* scan.h: one segment file, packed or not, read block by block, through a window of large sequential reads. */
#ifndef REEVE_SCAN_H
#define REEVE_SCAN_H

#include "block.h"
#include "disk.h"
#include "packed.h"

struct scan {
    struct disk *disk;
    disk_file file;
    struct packed *packed; /* instead of `file`, when the segment is packed */
    uint64_t bytes;    /* of the file; of the used part when packed */
    uint64_t nonce;
    bool any_nonce;    /* believe the nonce a block names: for segments whose header is unreadable */
    struct buf memory; /* of the window; kept from one segment to the next */
    uint8_t *window;   /* begins on a page */
    size_t room;       /* of the window */
    uint64_t start;    /* it holds bytes [start, start + len) of the file */
    size_t len;
};

void scan_init(struct scan *s, struct disk *disk);
void scan_fini(struct scan *s);
CHECKED enum err scan_open(struct scan *s, const char *name, uint64_t nonce, bool any_nonce, struct why *why);
/* The same for a packed one; its nonce is in its head. */
CHECKED enum err scan_open_packed(struct scan *s, const char *name, struct why *why);
void scan_close(struct scan *s);

/* Is there a valid block at `offset`? The block's records stay readable until the next call. */
CHECKED enum err scan_block(struct scan *s, uint64_t offset, bool *ret_valid, struct block *ret, struct why *why);
/* The first valid block at or after `offset`; ret_offset = UINT64_MAX when there is none. */
CHECKED enum err scan_find(struct scan *s, uint64_t offset, uint64_t *ret_offset, struct block *ret, struct why *why);
/* Is the 4 KiB at `offset` inside the file and all zero? */
CHECKED enum err scan_is_zero(struct scan *s, uint64_t offset, bool *ret, struct why *why);
void scan_forget(struct scan *s); /* the file may have grown or changed: read again */

#endif
