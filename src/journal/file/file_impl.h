/* file_impl.h: the object of the file engine, shared by file.c (append path), keep.c (housekeeping) and reader.c
 * (reading) only.
 *
 * Threads: append, seal, acquire, read and close belong to the one owner, one at a time (the owner may hand them from
 * thread to thread, as the writer does). prepare, trim, space and the snapshot calls may run beside an append on
 * another thread; `lock` guards what they share and is never held across a disk call. What a loop asks often (space,
 * wants_prepare) is read without it. `prepare_lock` is held while a
 * segment is made, so that an append that needs one waits for it instead of making a second. */
#ifndef REEVE_FILE_IMPL_H
#define REEVE_FILE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "arena.h"
#include "chain.h"
#include "file.h"
#include "seen.h"

#define FILE_LOCK_NAME "LOCK"

struct file {
    struct journal journal; /* first: the interface's pointer is ours */
    struct arena birth; /* holds this object */
    struct disk *disk;
    struct clock *clock;
    struct file_options options;
    bool is_reader;
    bool locked;   /* LOCK is ours */
    bool acquired; /* its tail can be appended to */
    bool lost;     /* acquired, but fenced since */
    atomic_bool dead;
    uint32_t shard;
    uint64_t epoch;
    struct chain tail;             /* of the owner */
    struct segment_header header;  /* of the segment appended to */
    disk_file current;
    struct buf out;
    struct scan scan;
    pthread_mutex_t prepare_lock;
    pthread_mutex_t lock;
    struct segment_table table;    /* live segments; under `lock` */
    _Atomic uint64_t spare;        /* a blank segment ready for use, 0 = none; changed under `lock` */
    uint64_t next_number;          /* of the next segment to be made; under `lock` */
    uint64_t head_lsn;             /* durable; under `lock` */
    struct seen seen;              /* what journal.seen says; of the owner until acquired, then under `prepare_lock` */
    _Atomic uint64_t room_bytes;   /* left in the segment appended to; changed under `lock` */
};

static inline struct file *file_of(struct journal *j) {
    return (struct file *)j;
}

/* Takes the spare segment or makes one. */
CHECKED enum err keep_take_spare(struct file *f, uint64_t *ret_number, struct why *why);
/* Notes the newest segment in journal.seen. Its header is durable. */
void keep_seen(struct file *f);
/* Looks for a usable spare among the blank segments and removes unusable ones. */
CHECKED enum err keep_adopt_spare(struct file *f, struct why *why);

enum err keep_snapshot_put(struct journal *j, const struct snapshot_info *info, struct byte_source *from,
                           struct why *why);
enum err keep_snapshot_get(struct journal *j, uint64_t lsn, struct snapshot_info *ret, struct byte_sink *to,
                           struct why *why);
enum err keep_trim(struct journal *j, uint64_t upto_lsn, struct why *why);
enum err keep_space(struct journal *j, uint64_t *ret_free_bytes, struct why *why);
bool keep_wants_prepare(struct journal *j);
enum err keep_prepare(struct journal *j, struct why *why);

enum err reader_shard(struct journal *j, uint32_t *ret, struct why *why);
enum err reader_read(struct journal *j, uint64_t from_lsn, uint64_t to_lsn, journal_batch_fn each, void *ctx,
                     struct why *why);
enum err reader_pieces(struct journal *j, uint64_t upto_lsn, uint64_t *ret_first_lsns, uint32_t most,
                       uint32_t *ret_count, struct why *why);
enum err reader_snapshots(struct journal *j, struct snapshot_list *ret, struct why *why);
enum err reader_verify(struct journal *j, struct journal_report *ret, struct why *why);

#endif
