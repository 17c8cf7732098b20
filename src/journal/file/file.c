/* file.c: the file engine's append path: open, acquire, append, seal, release.
 *
 * Guarantees: an append that returned DURABLE is there after any crash; an append is one write and one sync, without
 * allocation once the buffer has grown; after a failed write or sync nothing is tried again. Must not: write into a
 * block that was ever handed to the disk (save for the identical bytes of settle), or read a clock for decisions. */
#include "file.h"

#include "diskio.h"
#include "file_impl.h"
#include "mutant.h"
#include "panic.h"

#define SEGMENT_BYTES (64u * 1024u * 1024u)
#define RESERVE_BYTES (256u * 1024u * 1024u)
#define ARCHIVE_DAYS 30u /* a month of audit and of looking back */
#define FILL_BYTES 3900u /* a batch of so many nearly fills its first block */

void file_options_default(struct file_options *o) {
    *o = (struct file_options){
        .segment_bytes = SEGMENT_BYTES, .reserve_bytes = RESERVE_BYTES, .archive_days = ARCHIVE_DAYS};
}

static enum err die(struct file *f, enum err e) {
    f->dead = true;
    return e;
}

static void share_progress(struct file *f) {
    pthread_mutex_lock(&f->lock);
    f->head_lsn = f->tail.next_lsn - 1;
    f->room_bytes = f->header.bytes - f->tail.offset;
    pthread_mutex_unlock(&f->lock);
}

/* ---- blocks out ---- */

/* Goes on in a fresh segment. ERR_NO_SPACE harms nothing; anything else is the end of this object. */
static enum err rotate(struct file *f, struct why *why) {
    uint64_t number = 0;
    enum err e = keep_take_spare(f, &number, why);
    if (e == ERR_NO_SPACE) return e;
    if (e != ERR_OK) return die(f, e);
    struct segment_header h = {.shard = f->shard,
                               .number = number,
                               .nonce = f->clock->random(f->clock),
                               .first_lsn = f->tail.next_lsn,
                               .epoch = f->epoch,
                               .bytes = f->options.segment_bytes,
                               .time = f->tail.time,
                               .prev_crc = f->tail.crc};
    disk_file file;
    e = segment_begin(f->disk, &h, &file, why);
    if (e != ERR_OK) return die(f, e == ERR_NO_SPACE ? ERR_IO : e);
    if (f->current.v >= 0) f->disk->ops->close(f->disk, f->current);
    f->current = file;
    f->header = h;
    f->tail.segment = number;
    f->tail.offset = BLOCK_FIRST_OFFSET;
    pthread_mutex_lock(&f->lock);
    struct segment *row = vec_push(&f->table.rows);
    *row = (struct segment){.number = number, .bytes = h.bytes, .used = true, .header = h};
    pthread_mutex_unlock(&f->lock);
    return ERR_OK;
}

static enum err write_and_sync(struct file *f, struct why *why) {
    enum err e = diskio_write(f->disk, f->current, f->tail.offset, f->out.at, f->out.len, why);
    if (e != ERR_OK) return e;
    e = f->disk->ops->sync(f->disk, f->current, why);
    if (e != ERR_OK && MUTANT(sync_error_ignored)) return ERR_OK;
    return e;
}

/* Makes one block durable. ERR_NO_SPACE: there is no segment for it, nothing happened. */
static enum err append_block(struct file *f, enum block_kind kind, const struct batch *batch, struct why *why) {
    uint64_t total = block_total(batch->records.len);
    REQUIRE(f->current.v >= 0 || f->tail.segment == 0);
    REQUIRE(total <= f->options.segment_bytes - BLOCK_FIRST_OFFSET); /* segment_bytes is set to hold any batch */
    REQUIRE(batch->first_lsn == f->tail.next_lsn);
    if (f->tail.offset + total > f->header.bytes) {
        enum err e = rotate(f, why);
        if (e != ERR_OK) return e;
    }
    struct block b = {.kind = kind, .nonce = f->header.nonce, .prev_crc = f->tail.crc, .batch = *batch};
    buf_clear(&f->out);
    uint32_t crc = block_encode(&b, f->tail.offset, &f->out);
    ENSURE(f->out.len == total);
    enum err e = write_and_sync(f, why);
    if (e != ERR_OK) return die(f, e == ERR_NO_SPACE ? ERR_IO : e);
    f->tail.crc = crc;
    f->tail.next_lsn = batch->last_lsn + 1;
    f->tail.epoch = batch->epoch;
    f->tail.last_kind = kind;
    f->tail.last_bytes = (uint32_t)total;
    f->tail.last_segment = f->tail.segment;
    f->tail.last_offset = f->tail.offset;
    f->tail.offset += total;
    if (kind == BLOCK_BATCH) f->tail.time = batch->time;
    ENSURE(f->tail.offset <= f->header.bytes);
    share_progress(f);
    return ERR_OK;
}

static enum err append_mark(struct file *f, enum block_kind kind, struct why *why) {
    REQUIRE(kind != BLOCK_BATCH);
    struct batch mark = {.first_lsn = f->tail.next_lsn,
                         .last_lsn = f->tail.next_lsn - 1,
                         .epoch = f->epoch,
                         .shard = f->shard,
                         .rules = RULES_VERSION,
                         .time = f->tail.time};
    return append_block(f, kind, &mark, why);
}

static enum journal_outcome op_append(struct journal *j, uint64_t epoch, uint64_t expected_head,
                                      const struct batch *batch, struct why *why) {
    struct file *f = file_of(j);
    if (f->dead) {
        (void)why_set(why, ERR_IO, "the journal failed before");
        return JOURNAL_FAILED;
    }
    if (!f->acquired || f->lost) {
        (void)why_set(why, ERR_FENCED, "the journal is not owned");
        return JOURNAL_FENCED;
    }
    if (epoch != f->epoch || expected_head != f->tail.next_lsn - 1) {
        f->lost = true;
        (void)why_set(why, ERR_FENCED, "epoch %llu and head %llu expected, the journal has %llu and %llu",
                      (unsigned long long)epoch, (unsigned long long)expected_head, (unsigned long long)f->epoch,
                      (unsigned long long)(f->tail.next_lsn - 1));
        return JOURNAL_FENCED;
    }
    REQUIRE(batch->epoch == epoch && batch->shard == f->shard);
    REQUIRE(batch->records.len <= j->limits.batch_bytes_max);
    REQUIRE(batch->last_lsn >= batch->first_lsn);
    enum err e = append_block(f, BLOCK_BATCH, batch, why);
    if (e == ERR_OK) return JOURNAL_DURABLE;
    ENSURE(f->dead == (e != ERR_NO_SPACE));
    return e == ERR_NO_SPACE ? JOURNAL_FULL : JOURNAL_FAILED;
}

static enum err op_seal(struct journal *j, struct why *why) {
    struct file *f = file_of(j);
    if (f->dead) return why_set(why, ERR_IO, "the journal failed before");
    if (!f->acquired || f->lost) return why_set(why, ERR_FENCED, "the journal is not owned");
    if (f->tail.last_kind != BLOCK_BATCH) return ERR_OK; /* a mark already follows the last batch */
    return append_mark(f, BLOCK_SEAL, why);
}

/* ---- taking over ---- */

/* Writes the same bytes again and syncs them. What the last process wrote may be readable and yet not be on the disk
 * (it was killed before its sync, or its sync failed and the kernel forgot): before anyone builds on the last block,
 * it and its segment's header become durable for certain. */
static enum err settle_segment(struct file *f, const struct segment_header *h, uint64_t offset, uint32_t bytes,
                               struct why *why) {
    disk_file file;
    enum err e = segment_begin(f->disk, h, &file, why);
    if (e != ERR_OK) return e;
    buf_clear(&f->out);
    if (bytes > 0) {
        uint8_t *to = buf_space(&f->out, bytes);
        ENSURE(to != NULL);
        size_t have = 0;
        e = diskio_read(f->disk, file, offset, to, bytes, &have, why);
        if (e == ERR_OK && have != bytes) e = why_set(why, ERR_CORRUPT, "the last block vanished");
        if (e == ERR_OK) e = diskio_write(f->disk, file, offset, to, bytes, why);
        if (e == ERR_OK) e = f->disk->ops->sync(f->disk, file, why);
    }
    f->disk->ops->close(f->disk, file);
    return e;
}

static const struct segment *row_of(const struct file *f, uint64_t number) {
    for (uint32_t i = 0; i < f->table.rows.count; i++)
        if (segment_at(&f->table, i)->number == number) return segment_at(&f->table, i);
    return NULL;
}

static enum err settle(struct file *f, struct why *why) {
    const struct chain *c = &f->tail;
    enum err e = f->disk->ops->sync_dir(f->disk, SEGMENT_DIR, why);
    if (e == ERR_OK && c->last_kind != 0) {
        const struct segment *row = row_of(f, c->last_segment);
        ENSURE(row != NULL && row->used);
        e = settle_segment(f, &row->header, c->last_offset, c->last_bytes, why);
    }
    if (e == ERR_OK && c->segment != c->last_segment) {
        const struct segment *row = row_of(f, c->segment);
        ENSURE(row != NULL && row->used);
        e = settle_segment(f, &row->header, 0, 0, why);
    }
    return e;
}

/* Appends go on in the newest segment if the block that comes next was never touched; else in a fresh one, so that a
 * torn tail stays as evidence. */
static enum err continue_segment(struct file *f, struct why *why) {
    const struct segment *row = row_of(f, f->tail.segment);
    ENSURE(row != NULL && row->used);
    char name[SEGMENT_NAME_MAX];
    segment_name(name, row->number, false);
    bool clean = false;
    enum err e = scan_open(&f->scan, name, row->header.nonce, false, why);
    if (e == ERR_OK) e = scan_is_zero(&f->scan, f->tail.offset, &clean, why);
    scan_close(&f->scan);
    if (e != ERR_OK) return e;
    if (!clean || row->header.bytes != f->options.segment_bytes) return rotate(f, why);
    f->header = row->header;
    return f->disk->ops->open(f->disk, name, DISK_WRITE, &f->current, why);
}

/* What was there and is gone must not look like a journal that never had it. */
static enum err check_seen(struct file *f, struct why *why) {
    enum err e = seen_read(f->disk, &f->seen, why);
    if (e != ERR_OK) return e;
    if (f->tail.segment >= f->seen.segment && f->tail.next_lsn >= f->seen.first_lsn) return ERR_OK;
    return why_set(why, ERR_CORRUPT,
                   "segment %llu, from record %llu on, was there and is gone; what is there ends at record %llu. "
                   "Restore the directory " SEGMENT_DIR "; to go on without what is missing, remove " SEEN_NAME,
                   (unsigned long long)f->seen.segment, (unsigned long long)f->seen.first_lsn,
                   (unsigned long long)(f->tail.next_lsn - 1));
}

/* Keeps other owners out, then finds the end of the chain. */
static enum err take_lock(struct file *f, struct why *why) {
    enum err e = f->disk->ops->lock(f->disk, FILE_LOCK_NAME, why);
    if (e != ERR_OK) return e;
    e = segment_table_load(&f->table, f->disk, false, why);
    if (e == ERR_OK) e = chain_tail(&f->scan, &f->table, false, &f->tail, why);
    if (e == ERR_OK) e = check_seen(f, why);
    if (e != ERR_OK) {
        f->disk->ops->unlock(f->disk, FILE_LOCK_NAME);
        return e;
    }
    f->locked = true;
    f->head_lsn = f->tail.next_lsn - 1;
    uint32_t rows = f->table.rows.count; /* by number, the highest last */
    f->next_number = rows > 0 ? segment_at(&f->table, rows - 1)->number + 1 : 1;
    return ERR_OK;
}

static void current_close(struct file *f) {
    if (f->current.v >= 0) f->disk->ops->close(f->disk, f->current);
    f->current = (disk_file){-1};
}

/* Whoever acquires next may append, so nothing that is known of the tail or of a spare holds from here on. */
static enum err op_release(struct journal *j, uint64_t epoch, struct why *why) {
    struct file *f = file_of(j);
    if (epoch != f->epoch)
        return why_set(why, ERR_FENCED, "epoch %llu is over, the journal has %llu", (unsigned long long)epoch,
                       (unsigned long long)f->epoch);
    enum err e = op_seal(j, why);
    if (e != ERR_OK) return e;
    current_close(f);
    pthread_mutex_lock(&f->lock);
    f->spare = 0;
    f->room_bytes = 0;
    pthread_mutex_unlock(&f->lock);
    f->acquired = false;
    f->locked = false;
    f->disk->ops->unlock(f->disk, FILE_LOCK_NAME);
    return ERR_OK;
}

static enum err op_acquire(struct journal *j, uint32_t shard, struct journal_head *ret, struct why *why) {
    struct file *f = file_of(j);
    if (f->dead) return why_set(why, ERR_IO, "the journal failed before");
    if (f->is_reader) return why_set(why, ERR_STATE, "the journal is open for reading only");
    enum err e = f->locked ? ERR_OK : take_lock(f, why);
    if (e != ERR_OK) return e;
    if (f->tail.segment != 0 && f->tail.shard != shard)
        return why_set(why, ERR_CONFLICT, "the journal belongs to shard %u, not %u", f->tail.shard, shard);
    f->shard = shard;
    f->tail.shard = shard;
    f->epoch = f->tail.epoch + 1;
    if (!f->acquired) {
        e = f->disk->ops->mkdir(f->disk, SEGMENT_DIR, why);
        if (e == ERR_OK) e = f->disk->ops->sync_dir(f->disk, "", why);
        if (e == ERR_OK) e = segment_sweep(f->disk, why);
        if (e == ERR_OK) e = keep_adopt_spare(f, why);
        if (e == ERR_OK && f->tail.segment != 0) e = settle(f, why);
        if (e == ERR_OK) e = f->tail.segment != 0 ? continue_segment(f, why) : rotate(f, why);
    }
    if (e == ERR_OK) keep_seen(f);
    if (e == ERR_OK) e = append_mark(f, BLOCK_OPEN, why);
    /* No space is met by rotate alone: in a segment that is continued there is room for the mark. */
    ENSURE(e != ERR_NO_SPACE || f->acquired || f->current.v < 0);
    if (e != ERR_OK) return e == ERR_NO_SPACE ? e : die(f, e);
    f->acquired = true;
    f->lost = false;
    *ret = (struct journal_head){f->epoch, f->tail.next_lsn - 1, f->tail.time};
    return ERR_OK;
}

static enum err op_watch(struct journal *j, void (*moved)(void *ctx, uint64_t head_lsn), void *ctx, struct why *why) {
    (void)j, (void)moved, (void)ctx;
    return why_set(why, ERR_UNSUPPORTED, "a journal in a file has no second reader");
}

static enum err op_reader(struct journal *j, struct journal **ret, struct why *why) {
    return file_reader(file_of(j)->disk, ret, why);
}

static const char *op_locator(const struct journal *j) {
    return ((const struct file *)j)->options.locator;
}

/* ---- life ---- */

static void op_close(struct journal *j) {
    struct file *f = file_of(j);
    current_close(f);
    scan_fini(&f->scan);
    buf_fini(&f->out);
    segment_table_fini(&f->table);
    pthread_mutex_destroy(&f->prepare_lock);
    pthread_mutex_destroy(&f->lock);
    struct arena birth = f->birth;
    arena_fini(&birth);
}

static const struct journal_ops ops = {
    .acquire = op_acquire,
    .append = op_append,
    .seal = op_seal,
    .release = op_release,
    .shard = reader_shard,
    .read = reader_read,
    .pieces = reader_pieces,
    .snapshot_put = keep_snapshot_put,
    .snapshots = reader_snapshots,
    .snapshot_get = keep_snapshot_get,
    .verify = reader_verify,
    .trim = keep_trim,
    .watch = op_watch,
    .space = keep_space,
    .wants_prepare = keep_wants_prepare,
    .prepare = keep_prepare,
    .reader = op_reader,
    .locator = op_locator,
    .close = op_close,
};

/* An object for this disk that knows nothing of the files yet. */
static struct file *file_new(struct disk *disk) {
    struct arena birth;
    arena_init(&birth, sizeof(struct file) + 64, sizeof(struct file) + 4096);
    struct file *f = ARENA_NEW(&birth, struct file);
    f->birth = birth;
    f->journal.ops = &ops;
    f->disk = disk;
    f->current = (disk_file){-1};
    scan_init(&f->scan, disk);
    segment_table_init(&f->table);
    buf_init(&f->out, UINT32_MAX); /* bounded by the segment a block must fit into */
    ENSURE(pthread_mutex_init(&f->prepare_lock, NULL) == 0);
    ENSURE(pthread_mutex_init(&f->lock, NULL) == 0);
    return f;
}

enum err file_open(struct disk *disk, struct clock *clock, const struct file_options *o, struct journal **ret,
                   struct why *why) {
    REQUIRE(disk != NULL && clock != NULL);
    REQUIRE(o->segment_bytes % BLOCK_ALIGN == 0);
    REQUIRE(o->segment_bytes >= 4 * BLOCK_ALIGN && o->segment_bytes < UINT32_MAX);
    struct file *f = file_new(disk);
    f->clock = clock;
    f->options = *o;
    f->journal.limits = (struct journal_limits){
        .batch_bytes_max = o->segment_bytes - BLOCK_FIRST_OFFSET - BLOCK_HEADER_BYTES,
        .batch_overhead_bytes = BLOCK_ALIGN,
        .fill_bytes = FILL_BYTES,
    };
    enum err e = take_lock(f, why);
    if (e != ERR_OK) {
        op_close(&f->journal);
        return e;
    }
    *ret = &f->journal;
    return ERR_OK;
}

enum err file_reader(struct disk *disk, struct journal **ret, struct why *why) {
    REQUIRE(disk != NULL);
    (void)why;
    struct file *f = file_new(disk);
    f->is_reader = true;
    *ret = &f->journal;
    return ERR_OK;
}
