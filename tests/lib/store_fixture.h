/* store_fixture.h: blobs and logs on a laboratory bench: content that follows from a number, a memory of what was
 * promised, and one call that compares the two. */
#ifndef REEVE_STORE_FIXTURE_H
#define REEVE_STORE_FIXTURE_H

#include "blob_log_store.h"
#include "journal_fixture.h"

#define VLAB_BLOBS 64u
#define VLAB_LOGS 16u

struct vlab {
    struct disk *disk;
    struct jlab_clock clock;
    struct limits limits;
    struct vault vault;
    bool open;
    struct why why;
    struct blob_put *puts[VLAB_BLOBS]; /* streams under way */
    uint64_t blob_bytes[VLAB_BLOBS];   /* 0 = never put */
    blob_hash blob_hash[VLAB_BLOBS];
    uint64_t blob_ticket[VLAB_BLOBS];
    bool blob_acked[VLAB_BLOBS];
    uint64_t log_tried[VLAB_LOGS]; /* highest offset ever handed in */
    uint64_t log_acked[VLAB_LOGS];
    uint64_t log_cap;              /* for all of them; 0 = none */
    uint64_t bytes_checked;        /* by vlab_check, so that a test can see that it looked at something */
};

void vlab_init(struct vlab *l, struct disk *disk); /* small packs, no reserve, no grace time */
enum err vlab_start(struct vlab *l);
void vlab_stop(struct vlab *l); /* as a kill: what was not flushed is lost; fine when not open */

/* Blob `i`, whose content follows from `i` and its size, whole when small, else as a stream. Not yet durable. */
enum err vlab_blob(struct vlab *l, uint32_t i, uint64_t bytes);
/* The next bytes of log `i`, in pieces. */
enum err vlab_log(struct vlab *l, uint32_t i, uint64_t bytes);
/* Flushes until nothing is left to do; what was durable then is remembered as promised. */
enum err vlab_flush(struct vlab *l);
/* Everything promised is there, and what is there is right; panics otherwise. What is found is promised from now on. */
void vlab_check(struct vlab *l);

uint8_t vlab_byte(uint64_t of, uint64_t at);
struct log_key vlab_key(uint32_t i);
extern const struct slice vlab_tenant;

#endif
