/* store_fixture.h: blobs and logs on a laboratory bench: content that follows from a number, a memory of what was
 * promised, and one call that compares the two. */
#ifndef REEVE_STORE_FIXTURE_H
#define REEVE_STORE_FIXTURE_H

#include "blob_log_store.h"
#include "journal_fixture.h"
#include "limit.h"

#define STORE_FIXTURE_BLOBS 64u
#define STORE_FIXTURE_LOGS 16u

struct store_fixture {
    struct disk *disk;
    struct journal_fixture_clock clock;
    struct limits limits;
    struct blob_log_store vault;
    bool open;
    struct why why;
    struct blob_put *puts[STORE_FIXTURE_BLOBS]; /* streams under way */
    uint64_t blob_bytes[STORE_FIXTURE_BLOBS];   /* 0 = never put */
    blob_hash blob_hash[STORE_FIXTURE_BLOBS];
    uint64_t blob_ticket[STORE_FIXTURE_BLOBS];
    bool blob_acked[STORE_FIXTURE_BLOBS];
    uint64_t log_tried[STORE_FIXTURE_LOGS]; /* highest offset ever handed in */
    uint64_t log_acked[STORE_FIXTURE_LOGS];
    uint64_t log_cap;              /* for all of them; 0 = none */
    uint64_t bytes_checked;        /* by store_fixture_check, so that a test can see that it looked at something */
};

void store_fixture_init(struct store_fixture *l, struct disk *disk); /* small packs, no reserve, no grace time */
enum err store_fixture_start(struct store_fixture *l);
void store_fixture_stop(struct store_fixture *l); /* as a kill: what was not flushed is lost; fine when not open */

/* Blob `i`, whose content follows from `i` and its size, whole when small, else as a stream. Not yet durable. */
enum err store_fixture_blob(struct store_fixture *l, uint32_t i, uint64_t bytes);
/* The next bytes of log `i`, in pieces. */
enum err store_fixture_log(struct store_fixture *l, uint32_t i, uint64_t bytes);
/* Flushes until nothing is left to do; what was durable then is remembered as promised. */
enum err store_fixture_flush(struct store_fixture *l);
/* Everything promised is there, and what is there is right; panics otherwise. What is found is promised from now on. */
void store_fixture_check(struct store_fixture *l);

uint8_t store_fixture_byte(uint64_t of, uint64_t at);
struct log_key store_fixture_key(uint32_t i);
extern const struct slice store_fixture_tenant;

#endif
