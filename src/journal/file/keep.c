/* keep.c: the housekeeping of the file engine, off the append path: spare segments, space, snapshots, trimming.
 *
 * Guarantees: holds `lock` for moments only and never across a disk call, so no append waits for housekeeping unless
 * it needs the very segment that is being made. Must not: touch the segment appended to, or let go of a segment that
 * the newest whole snapshot does not cover. */
#include "archive.h"
#include "file_impl.h"
#include "panic.h"
#include "snapfile.h"

#define SNAPSHOTS_KEPT 2u
#define SNAPSHOT_TRIES 8u

static void row_drop(struct segment_table *t, uint32_t row) {
    for (uint32_t i = row + 1; i < t->rows.count; i++) *segment_at(t, i - 1) = *segment_at(t, i);
    t->rows.count--;
}

/* ---- spare segments ---- */

static uint64_t spare_get(struct file *f, bool take) {
    pthread_mutex_lock(&f->lock);
    uint64_t number = f->spare;
    if (take) f->spare = 0;
    pthread_mutex_unlock(&f->lock);
    return number;
}

static void spare_set(struct file *f, uint64_t number) {
    pthread_mutex_lock(&f->lock);
    REQUIRE(f->spare == 0);
    f->spare = number;
    pthread_mutex_unlock(&f->lock);
}

/* A number that no file has or had. Never derived from the table alone: a segment that was taken and is being begun is
 * in neither place, and giving its number away would rename another file over it. */
static uint64_t number_take(struct file *f) {
    pthread_mutex_lock(&f->lock);
    uint64_t number = f->next_number++;
    pthread_mutex_unlock(&f->lock);
    ENSURE(number > 0);
    return number;
}

/* Called with prepare_lock held. */
static enum err spare_make(struct file *f, struct why *why) {
    uint64_t number = number_take(f);
    enum err e = segment_make(f->disk, number, f->options.segment_bytes, why);
    if (e == ERR_OK) spare_set(f, number);
    return e;
}

enum err keep_take_spare(struct file *f, uint64_t *ret_number, struct why *why) {
    uint64_t number = spare_get(f, true);
    if (number == 0) {
        pthread_mutex_lock(&f->prepare_lock);
        enum err e = spare_get(f, false) != 0 ? ERR_OK : spare_make(f, why);
        if (e == ERR_OK) number = spare_get(f, true);
        pthread_mutex_unlock(&f->prepare_lock);
        if (e != ERR_OK) return e;
    }
    ENSURE(number != 0);
    *ret_number = number;
    return ERR_OK;
}

/* That it fails is no harm: the file stays behind the journal until the next segment or the next start. */
void keep_seen(struct file *f) {
    struct seen now = {0};
    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < f->table.rows.count; i++) {
        const struct segment *row = segment_at(&f->table, i);
        if (row->used && row->number > now.segment) now = (struct seen){row->number, row->header.first_lsn};
    }
    pthread_mutex_unlock(&f->lock);
    struct why why;
    if (now.segment > f->seen.segment && seen_write(f->disk, &now, &why) == ERR_OK) f->seen = now;
}

enum err keep_prepare(struct journal *j, struct why *why) {
    struct file *f = file_of(j);
    REQUIRE(f->locked);
    if (spare_get(f, false) != 0) return ERR_OK;
    pthread_mutex_lock(&f->prepare_lock);
    enum err e = spare_get(f, false) != 0 ? ERR_OK : spare_make(f, why);
    if (e == ERR_OK) keep_seen(f); /* here, because the last spare has become a segment */
    pthread_mutex_unlock(&f->prepare_lock);
    return e;
}

bool keep_wants_prepare(struct journal *j) {
    return file_of(j)->spare == 0;
}

/* A spare's name or bytes may not be durable yet if its maker was killed: sync both before relying on it. */
static enum err spare_sync(struct file *f, uint64_t number, struct why *why) {
    char name[SEGMENT_NAME_MAX];
    segment_name(name, number, false);
    disk_file file;
    enum err e = f->disk->ops->open(f->disk, name, DISK_WRITE, &file, why);
    if (e != ERR_OK) return e;
    e = f->disk->ops->sync(f->disk, file, why);
    f->disk->ops->close(f->disk, file);
    if (e == ERR_OK) e = f->disk->ops->sync_dir(f->disk, SEGMENT_DIR, why);
    return e;
}

/* Blank segments above the newest used one are spares. Those below it stay: they may be evidence. */
enum err keep_adopt_spare(struct file *f, struct why *why) {
    for (uint32_t i = 0; i < f->table.rows.count;) {
        struct segment *row = segment_at(&f->table, i);
        if (row->used || row->number < f->tail.segment) {
            i++;
            continue;
        }
        uint64_t number = row->number;
        bool fits = row->bytes == f->options.segment_bytes && f->spare == 0;
        enum err e = fits ? spare_sync(f, number, why) : segment_remove(f->disk, number, why);
        if (e != ERR_OK) return e;
        if (fits) f->spare = number;
        row_drop(&f->table, i);
    }
    return ERR_OK;
}

enum err keep_space(struct journal *j, uint64_t *ret_free_bytes, struct why *why) {
    struct file *f = file_of(j);
    uint64_t disk_bytes = 0;
    enum err e = f->disk->ops->space(f->disk, &disk_bytes, why);
    if (e != ERR_OK) return e;
    uint64_t room = f->room_bytes + (f->spare != 0 ? f->options.segment_bytes - BLOCK_FIRST_OFFSET : 0);
    /* Whole segments only: a disk that cannot hold another one has nothing to give. */
    uint64_t segments = disk_bytes / f->options.segment_bytes;
    uint64_t fresh = segments * (f->options.segment_bytes - BLOCK_FIRST_OFFSET);
    uint64_t sum = fresh > UINT64_MAX - room ? UINT64_MAX : fresh + room;
    *ret_free_bytes = sum > f->options.reserve_bytes ? sum - f->options.reserve_bytes : 0;
    return ERR_OK;
}

/* ---- snapshots ---- */

/* With an archive, the snapshots by which its states can be rebuilt stay too. */
static enum err snapshots_prune(struct file *f, struct why *why) {
    uint32_t days = f->options.archive_days;
    enum err e = snapfile_prune(f->disk, days > 0 ? JOURNAL_SNAPSHOTS_MAX : SNAPSHOTS_KEPT, why);
    if (e == ERR_OK && days > 0) e = archive_thin(f->disk, days, f->clock->wall(f->clock), why);
    return e;
}

static enum err pump(struct snapfile_writer *w, struct byte_source *from, struct why *why) {
    struct buf piece;
    buf_init(&piece, SNAPFILE_BLOCK_BYTES);
    uint8_t *bytes = buf_space(&piece, SNAPFILE_BLOCK_BYTES);
    ENSURE(bytes != NULL);
    enum err e = ERR_OK;
    for (size_t got = 1; e == ERR_OK && got > 0;) {
        got = 0;
        e = from->more(from, bytes, piece.len, &got, why);
        ENSURE(got <= piece.len);
        if (e == ERR_OK && got > 0) e = snapfile_push(w, slice_of(bytes, got), why);
    }
    buf_fini(&piece);
    return e;
}

enum err keep_snapshot_put(struct journal *j, const struct snapshot_info *info, struct byte_source *from,
                           struct why *why) {
    struct file *f = file_of(j);
    if (!f->locked) return why_set(why, ERR_STATE, "the journal is open for reading only");
    pthread_mutex_lock(&f->lock);
    uint64_t head = f->head_lsn;
    pthread_mutex_unlock(&f->lock);
    if (info->lsn == 0 || info->lsn > head)
        return why_set(why, ERR_INVALID, "a snapshot at record %llu of a journal that ends at %llu",
                       (unsigned long long)info->lsn, (unsigned long long)head);
    struct snapfile_writer *w = NULL;
    enum err e = snapfile_sweep(f->disk, why);
    if (e != ERR_OK) return e;
    e = snapfile_begin(f->disk, f->tail.shard, info, &w, why);
    if (e != ERR_OK) return e;
    e = pump(w, from, why);
    if (e != ERR_OK) {
        snapfile_abandon(w);
        return e;
    }
    e = snapfile_commit(w, why);
    if (e == ERR_OK) e = snapshots_prune(f, why);
    return e;
}

/* Can the state be carried on from `lsn` with the records that are still there? */
static enum err reaches(struct file *f, uint64_t lsn, struct why *why) {
    struct segment_table table;
    uint32_t row = UINT32_MAX;
    segment_table_init(&table);
    enum err e = chain_table(&table, f->disk, lsn + 1, &row, why);
    segment_table_fini(&table);
    if (e == ERR_NOT_FOUND) e = why_wrap(why, ERR_CORRUPT, "no whole snapshot reaches the journal");
    return e;
}

static enum err snapshot_try(struct file *f, struct snapshot_info *ret, struct byte_sink *to, struct why *why) {
    struct snapshot_list list;
    struct why first = {{0}};
    struct snapshot_info info = {0};
    enum err e = snapfile_list_load(f->disk, &list, why);
    if (e != ERR_OK) return e;
    uint32_t damaged = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        e = snapfile_read(f->disk, list.lsn[i], &info, NULL, why);
        if (e == ERR_OK) break;
        if (e != ERR_CORRUPT) return e;
        if (damaged++ == 0 && why != NULL) first = *why;
        info = (struct snapshot_info){0};
    }
    if (f->locked && info.lsn > f->head_lsn)
        return why_set(why, ERR_CORRUPT, "the journal ends at record %llu, its snapshot is of %llu",
                       (unsigned long long)f->head_lsn, (unsigned long long)info.lsn);
    e = reaches(f, info.lsn, why);
    if (e != ERR_OK && damaged > 0) return why_set(why, e, "%s; nothing older is complete", first.text);
    if (e != ERR_OK) return e;
    if (info.lsn > 0 && to != NULL) e = snapfile_read(f->disk, info.lsn, &info, to, why);
    if (e == ERR_OK) *ret = info;
    return e;
}

/* One by its number: verified first, so that the sink gets nothing of a damaged one. */
static enum err snapshot_one(struct file *f, uint64_t lsn, struct snapshot_info *ret, struct byte_sink *to,
                             struct why *why) {
    struct snapshot_info info;
    enum err e = snapfile_read(f->disk, lsn, &info, NULL, why);
    if (e == ERR_OK && to != NULL) e = snapfile_read(f->disk, lsn, &info, to, why);
    if (e == ERR_OK) *ret = info;
    return e;
}

enum err keep_snapshot_get(struct journal *j, uint64_t lsn, struct snapshot_info *ret, struct byte_sink *to,
                           struct why *why) {
    struct file *f = file_of(j);
    if (f->dead) return why_set(why, ERR_IO, "the journal failed before");
    if (lsn != 0) return snapshot_one(f, lsn, ret, to, why);
    enum err e = ERR_NOT_FOUND;
    /* To a reader beside the owner: one that is gone was replaced by a newer one since it was listed. */
    for (uint32_t tries = 0; e == ERR_NOT_FOUND && tries < SNAPSHOT_TRIES; tries++) e = snapshot_try(f, ret, to, why);
    return e;
}

/* ---- trimming ---- */

/* The oldest segment whose every record is at or below `upto`, taken out of the table; 0 = none. */
static uint64_t covered_take(struct file *f, uint64_t upto, uint64_t *ret_bytes) {
    uint64_t number = 0;
    pthread_mutex_lock(&f->lock);
    struct vec *rows = &f->table.rows;
    /* The next used segment's first record tells where this one ends; the newest has no next and stays. */
    for (uint32_t i = 0, k = 0; number == 0 && i + 1 < rows->count; i++) {
        if (!segment_at(&f->table, i)->used) continue;
        for (k = i + 1; k < rows->count && !segment_at(&f->table, k)->used; k++) {}
        if (k == rows->count || segment_at(&f->table, k)->header.first_lsn > upto + 1) break;
        number = segment_at(&f->table, i)->number;
        *ret_bytes = segment_at(&f->table, i)->bytes;
        row_drop(&f->table, i);
    }
    pthread_mutex_unlock(&f->lock);
    return number;
}

/* Archived, or made the next spare if there is none and the size is still the one in use, or removed. */
static enum err let_go(struct file *f, uint64_t number, uint64_t bytes, struct why *why) {
    if (f->options.archive_days > 0) return segment_archive(f->disk, number, why);
    if (pthread_mutex_trylock(&f->prepare_lock) != 0) return segment_remove(f->disk, number, why);
    enum err e;
    if (spare_get(f, false) != 0 || bytes != f->options.segment_bytes) {
        e = segment_remove(f->disk, number, why);
    } else {
        uint64_t next = number_take(f);
        e = segment_recycle(f->disk, number, next, why);
        if (e == ERR_OK) spare_set(f, next);
    }
    pthread_mutex_unlock(&f->prepare_lock);
    return e;
}

enum err keep_trim(struct journal *j, uint64_t upto_lsn, struct why *why) {
    struct file *f = file_of(j);
    if (f->dead) return why_set(why, ERR_IO, "the journal failed before");
    if (!f->locked) return why_set(why, ERR_STATE, "the journal is open for reading only");
    struct snapshot_list list;
    struct snapshot_info info = {0};
    enum err e = snapfile_list_load(f->disk, &list, why);
    if (e != ERR_OK) return e;
    if (upto_lsn == 0 && list.count == 0) return ERR_OK;
    if (upto_lsn == 0) upto_lsn = list.lsn[0];
    if (list.count == 0 || list.lsn[0] < upto_lsn)
        return why_set(why, ERR_STATE, "no snapshot covers record %llu", (unsigned long long)upto_lsn);
    e = snapfile_read(f->disk, list.lsn[0], &info, NULL, why); /* whole, byte for byte, before anything goes */
    if (e == ERR_OK) e = f->disk->ops->sync_dir(f->disk, SEGMENT_DIR, why);
    for (uint64_t number = 1; e == ERR_OK && number != 0;) {
        uint64_t bytes = 0;
        number = covered_take(f, upto_lsn, &bytes);
        if (number != 0) e = let_go(f, number, bytes, why);
    }
    if (e == ERR_OK) e = snapshots_prune(f, why);
    return e;
}
