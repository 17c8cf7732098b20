/* journal_fixture.h: a journal on a laboratory bench, in files or in memory: batches whose bytes follow from their LSN,
 * a clock that stands still, and one call that does what a server does at its start. */
#ifndef REEVE_JOURNAL_FIXTURE_H
#define REEVE_JOURNAL_FIXTURE_H

#include "clock.h"
#include "file.h"
#include "fold.h"
#include "ram.h"

struct journal_fixture_clock {
    struct clock clock;
    int64_t ms;
    uint64_t state;
};
void journal_fixture_clock_init(struct journal_fixture_clock *c, uint64_t seed);

struct journal_fixture {
    struct disk *disk;
    struct ram *ram; /* in place of the disk, when it is not NULL */
    struct journal_fixture_clock clock;
    struct file_options options;
    bool reads; /* start opens a reader and acquires nothing */
    struct journal *journal;
    struct journal_head head;
    uint64_t read_lsn;    /* last record handed out by the last reading */
    uint32_t read_count;  /* batches */
    struct why why;
};

/* Small segments, no reserve. */
void journal_fixture_init(struct journal_fixture *l, struct disk *disk, uint64_t segment_bytes);
enum err journal_fixture_open(struct journal_fixture *l);
/* Opens, reads and checks everything from record 1 (or from the newest snapshot), acquires. On failure nothing stays
 * open. */
enum err journal_fixture_start(struct journal_fixture *l);
void journal_fixture_stop(struct journal_fixture *l); /* closes without sealing; fine when not open */
enum err journal_fixture_read(struct journal_fixture *l, uint64_t from_lsn);
/* One batch of `records` LSNs and `bytes` bytes of payload. */
enum journal_outcome journal_fixture_append(struct journal_fixture *l, uint32_t records, size_t bytes);
/* Panics when it is not durable. */
void journal_fixture_append_ok(struct journal_fixture *l, uint32_t records, size_t bytes);

/* A snapshot whose bytes follow from its LSN, and the check of it. */
enum err journal_fixture_snapshot(struct journal_fixture *l, uint64_t lsn, size_t bytes);

/* What a reader of this disk answers, made for the one question. */
enum err journal_fixture_verify(struct disk *disk, struct journal_report *ret, struct why *why);
enum err journal_fixture_fold(struct disk *disk, uint64_t upto, struct fold *ret, struct why *why);
enum err journal_fixture_follow(struct disk *disk, fold_fn before, void *ctx, struct fold *ret, struct why *why);
enum err journal_fixture_dump(struct disk *disk, uint64_t from, uint64_t to, struct byte_sink *out, struct why *why);

void journal_fixture_fill(uint8_t *to, size_t len, uint64_t lsn);

#endif
