/* packed.h: an archived segment in its compressed form: file archive/<number>.seg.zst. Normative text:
 * docs/formats/journal.md.
 *
 * A head in clear (inside a skippable frame, so that `zstd -d` gives the segment back), then one zstd frame per MiB of
 * the segment's used part, each with its own checksum. Nothing of a frame is handed out before its checksum was
 * right, and a refusal names the byte at which the bad frame begins. */
#ifndef REEVE_PACKED_H
#define REEVE_PACKED_H

#include "block.h"
#include "disk.h"

#define PACKED_HEAD_BYTES 128u
#define PACKED_FRAME_BYTES (1024u * 1024u)

struct packed_head {
    struct segment_header segment;
    uint64_t used_bytes; /* of the segment: its header block and every block of the chain */
    uint64_t next_lsn;   /* last record in it + 1 */
    uint32_t last_crc;   /* of its last block: what the next segment's header continues from */
};

/* Writes `to` (which must not exist) from the segment file `from` and syncs it. Its name is the caller's to settle. */
CHECKED enum err packed_make(struct disk *d, const char *from, const char *to, const struct packed_head *h,
                             struct why *why);
/* The head alone. ERR_CORRUPT names file and byte. */
CHECKED enum err packed_head_load(struct disk *d, const char *name, struct packed_head *ret, struct why *why);

/* Reading: quick forwards; going back begins anew. */
struct packed;
CHECKED enum err packed_open(struct disk *d, const char *name, struct packed **ret, struct why *why);
void packed_close(struct packed *p);
const struct packed_head *packed_head(const struct packed *p);
/* Bytes of the segment as it was; fewer than asked only at its end. */
CHECKED enum err packed_read(struct packed *p, uint64_t offset, void *to, size_t len, size_t *ret, struct why *why);

#endif
