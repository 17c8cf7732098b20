/* spool.c: see spool.h. Must not: make the loop wait for a sync on the usual path; a result goes here only when the
 * server is slow or away (attempts.c says when). */
#include "spool.h"

#include <stdio.h>
#include <stdlib.h>

#include "diskio.h"
#include "hash.h"
#include "panic.h"

#define SELF_FILE "worker"
#define SELF_TEMP "worker.new"
#define SELF_BYTES_MAX 256u
#define DIR_NAME "spool"
#define BATCH_NAME "batch-"
#define BATCHES_MAX 1000000u
#define NAME_MAX_BYTES 80u
#define HEAD_BYTES 9u /* length, CRC of kind and body, kind */
#define BODY_BYTES_MAX (2u * WIRE_BODY_MAX)

enum spool_kind { KIND_PIECE = 1, KIND_END };

struct spool_batch {
    disk_file file;
    uint64_t number, bytes;
    uint32_t count; /* of attempts in it that are not forgotten */
};

/* ---- who it is ---- */

static enum err self_write(struct spool *s, struct why *why) {
    const struct disk_ops *ops = s->disk->ops;
    char text[SELF_BYTES_MAX];
    int len = snprintf(text, sizeof text, "%s %llu %llu\n", s->self.id, (unsigned long long)s->self.incarnation,
                       (unsigned long long)s->self.epoch);
    disk_file f;
    struct why ignored;
    (void)!ops->remove(s->disk, SELF_TEMP, &ignored); /* of a start that was interrupted here */
    enum err e = ops->open(s->disk, SELF_TEMP, DISK_CREATE, &f, why);
    if (e != ERR_OK) return e;
    e = diskio_write(s->disk, f, 0, text, (size_t)len, why);
    if (e == ERR_OK) e = ops->sync(s->disk, f, why);
    ops->close(s->disk, f);
    if (e == ERR_OK) e = ops->rename(s->disk, SELF_TEMP, SELF_FILE, why);
    if (e == ERR_OK) e = ops->sync_dir(s->disk, "", why);
    return e;
}

static enum err self_read(struct spool *s, struct why *why) {
    char text[SELF_BYTES_MAX] = "";
    size_t got = 0;
    disk_file f;
    enum err e = s->disk->ops->open(s->disk, SELF_FILE, DISK_READ, &f, why);
    if (e != ERR_OK) return e;
    e = diskio_read(s->disk, f, 0, text, sizeof text - 1, &got, why);
    s->disk->ops->close(s->disk, f);
    if (e != ERR_OK) return e;
    unsigned long long incarnation = 0, epoch = 0;
    if (sscanf(text, "%63s %llu %llu", s->self.id, &incarnation, &epoch) != 3 || incarnation == 0)
        return why_set(why, ERR_CORRUPT, "file `" SELF_FILE "` does not say who this worker is");
    s->self.incarnation = incarnation;
    s->self.epoch = epoch;
    return ERR_OK;
}

enum err spool_open(struct spool *s, struct disk *disk, struct clock *clock, const char *name, struct why *why) {
    *s = (struct spool){.disk = disk};
    pool_init(&s->batches, sizeof(struct spool_batch), BATCHES_MAX);
    enum err e = disk->ops->lock(disk, "lock", why);
    if (e != ERR_OK) return e == ERR_CONFLICT ? why_set(why, e, "another worker uses this directory") : e;
    e = disk->ops->mkdir(disk, DIR_NAME, why);
    if (e != ERR_OK) return e;
    e = self_read(s, why);
    if (e == ERR_NOT_FOUND)
        snprintf(s->self.id, sizeof s->self.id, "%.40s-%06llx", name,
                 (unsigned long long)(clock->random(clock) & 0xffffff));
    else if (e != ERR_OK)
        return e;
    s->self.incarnation++;
    return self_write(s, why);
}

enum err spool_epoch(struct spool *s, uint64_t epoch, struct why *why) {
    if (epoch <= s->self.epoch) return ERR_OK;
    s->self.epoch = epoch;
    return self_write(s, why);
}

/* ---- files of attempts ---- */

static void file_name(const struct wire_attempt *a, char ret[NAME_MAX_BYTES]) {
    snprintf(ret, NAME_MAX_BYTES, DIR_NAME "/%x-%llx-%x-%x", a->shard, (unsigned long long)a->flow, a->ordinal,
             a->attempt);
}

static bool name_read(const char *name, struct wire_attempt *ret) {
    unsigned long long flow = 0;
    char tail = 0;
    *ret = (struct wire_attempt){0};
    if (sscanf(name, "%x-%llx-%x-%x%c", &ret->shard, &flow, &ret->ordinal, &ret->attempt, &tail) != 4) return false;
    ret->flow = flow;
    return true;
}

static enum err file_open(struct spool *s, const struct wire_attempt *a, struct spool_file *f, struct why *why) {
    char name[NAME_MAX_BYTES];
    struct why ignored;
    if (f->is_open) return ERR_OK;
    file_name(a, name);
    (void)!s->disk->ops->remove(s->disk, name, &ignored);
    *f = (struct spool_file){0};
    enum err e = s->disk->ops->open(s->disk, name, DISK_CREATE, &f->file, why);
    f->is_open = e == ERR_OK;
    return e;
}

/* `b` holds the body, after HEAD_BYTES of room. */
static enum err record_write(struct spool *s, struct spool_file *f, enum spool_kind kind, struct buf *b,
                             struct why *why) {
    struct buf head;
    ENSURE(!b->full);
    b->at[HEAD_BYTES - 1] = (uint8_t)kind;
    buf_init(&head, HEAD_BYTES);
    buf_put_u32(&head, (uint32_t)(b->len - HEAD_BYTES));
    buf_put_u32(&head, crc32c(0, b->at + HEAD_BYTES - 1, b->len - HEAD_BYTES + 1));
    memcpy(b->at, head.at, head.len);
    buf_fini(&head);
    enum err e = diskio_write(s->disk, f->file, f->begin + f->bytes, b->at, b->len, why);
    if (e != ERR_OK) return e;
    f->bytes += b->len;
    s->bytes += b->len;
    return ERR_OK;
}

static enum err pieces_write(struct spool *s, struct spool_file *f, const struct capture *c, struct buf *b,
                             struct why *why) {
    uint64_t offset = c->acked > c->file_end ? c->acked : c->file_end;
    for (const struct piece *p = capture_at(c, offset); p != NULL; p = capture_at(c, offset)) {
        struct wire_log_piece piece = {p->offset, p->stream, p->time_ms, bytes_slice(p->data)};
        buf_clear(b);
        (void)buf_space(b, HEAD_BYTES);
        tlv_encode(&wire_log_piece_desc, &piece, b);
        enum err e = record_write(s, f, KIND_PIECE, b, why);
        if (e != ERR_OK) return e;
        offset = p->offset + piece.data.len;
    }
    return ERR_OK;
}

enum err spool_pieces(struct spool *s, const struct wire_attempt *attempt, struct spool_file *f, struct capture *c,
                      struct why *why) {
    struct buf b;
    enum err e = file_open(s, attempt, f, why);
    if (e != ERR_OK) return e;
    buf_init(&b, BODY_BYTES_MAX);
    capture_close_piece(c);
    e = pieces_write(s, f, c, &b, why);
    buf_fini(&b);
    if (e == ERR_OK)
        spool_settle(f, c);
    else
        spool_undo(s, f);
    return e;
}

/* ---- ends, many at a time ---- */

static void batch_name(const struct spool_batch *b, char ret[NAME_MAX_BYTES]) {
    snprintf(ret, NAME_MAX_BYTES, DIR_NAME "/" BATCH_NAME "%llx", (unsigned long long)b->number);
}

/* The one that is being written. */
static enum err batch_take(struct spool *s, struct why *why) {
    char name[NAME_MAX_BYTES];
    if (s->batch != 0) return ERR_OK;
    uint32_t index = pool_alloc(&s->batches);
    if (index == 0) return why_set(why, ERR_LIMIT, "too many files of ends");
    struct spool_batch *b = pool_at(&s->batches, index);
    b->number = ++s->batch_number;
    batch_name(b, name);
    enum err e = s->disk->ops->open(s->disk, name, DISK_CREATE, &b->file, why);
    if (e == ERR_OK)
        s->batch = index;
    else
        pool_free(&s->batches, index);
    return e;
}

static void batch_drop(struct spool *s, uint32_t index) {
    struct spool_batch *b = pool_at(&s->batches, index);
    char name[NAME_MAX_BYTES];
    struct why why;
    if (b->count > 0 || index == s->batch) return;
    s->disk->ops->close(s->disk, b->file);
    batch_name(b, name);
    (void)!s->disk->ops->remove(s->disk, name, &why); /* it stays: the server will say that it knows */
    pool_free(&s->batches, index);
}

static enum err end_write(struct spool *s, struct spool_file *f, struct capture *c, struct slice end, struct why *why) {
    struct buf b;
    buf_init(&b, BODY_BYTES_MAX);
    capture_close_piece(c);
    enum err e = pieces_write(s, f, c, &b, why);
    if (e == ERR_OK) {
        buf_clear(&b);
        (void)buf_space(&b, HEAD_BYTES);
        buf_put_slice(&b, end);
        e = record_write(s, f, KIND_END, &b, why);
    }
    buf_fini(&b);
    return e;
}

enum err spool_end(struct spool *s, struct spool_file *f, struct capture *c, struct slice end, struct why *why) {
    enum err e = ERR_OK;
    if (f->is_open) { /* its output went before it, into a file of its own */
        e = end_write(s, f, c, end, why);
        if (e == ERR_OK) e = s->disk->ops->sync(s->disk, f->file, why);
        if (e != ERR_OK) spool_undo(s, f);
        return e;
    }
    e = batch_take(s, why);
    if (e != ERR_OK) return e;
    struct spool_batch *b = pool_at(&s->batches, s->batch);
    *f = (struct spool_file){.file = b->file, .batch = s->batch, .begin = b->bytes, .is_open = true};
    f->read_at = f->begin;
    b->count++;
    e = end_write(s, f, c, end, why);
    if (e == ERR_OK)
        b->bytes += f->bytes;
    else
        spool_undo(s, f);
    return e;
}

enum err spool_commit(struct spool *s, struct why *why) {
    uint32_t index = s->batch;
    enum err e = ERR_OK;
    if (index != 0) e = s->disk->ops->sync(s->disk, ((struct spool_batch *)pool_at(&s->batches, index))->file, why);
    if (e == ERR_OK) e = s->disk->ops->sync_dir(s->disk, DIR_NAME, why);
    s->batch = 0;
    if (index != 0) batch_drop(s, index); /* if nothing could be written to it */
    return e;
}

void spool_settle(struct spool_file *f, struct capture *c) {
    f->settled = f->bytes;
    capture_spooled(c);
}

/* The next attempt to write begins where this one did. */
void spool_undo(struct spool *s, struct spool_file *f) {
    if (!f->is_open) return;
    s->bytes -= f->bytes - f->settled;
    f->bytes = f->settled;
    if (f->batch == 0) return;
    ((struct spool_batch *)pool_at(&s->batches, f->batch))->count--;
    batch_drop(s, f->batch);
    *f = (struct spool_file){0};
}

/* ---- reading ---- */

/* The record at `at`. ERR_CORRUPT: torn or damaged; ERR_NOT_FOUND: the end of the file. */
static enum err record_read(struct spool *s, const struct spool_file *f, uint64_t at, struct buf *b,
                            enum spool_kind *ret_kind, struct why *why) {
    uint8_t head[HEAD_BYTES];
    size_t got = 0;
    enum err e = diskio_read(s->disk, f->file, at, head, sizeof head, &got, why);
    if (e != ERR_OK) return e;
    if (got == 0) return why_set(why, ERR_NOT_FOUND, "no further record");
    struct cursor c = cursor_of(slice_of(head, got));
    uint32_t len = cursor_u32(&c), crc = cursor_u32(&c);
    uint8_t kind = cursor_u8(&c);
    if (c.bad || len > BODY_BYTES_MAX) return why_set(why, ERR_CORRUPT, "a spooled record is damaged");
    buf_clear(b);
    uint8_t *room = buf_space(b, len);
    ENSURE(room != NULL);
    e = diskio_read(s->disk, f->file, at + HEAD_BYTES, room, len, &got, why);
    if (e != ERR_OK) return e;
    if (got != len || crc32c(crc32c(0, &kind, 1), b->at, len) != crc)
        return why_set(why, ERR_CORRUPT, "a spooled record is damaged");
    *ret_kind = (enum spool_kind)kind;
    return ERR_OK;
}

enum err spool_piece(struct spool *s, struct spool_file *f, uint64_t offset, struct buf *ret_data,
                     struct wire_log_piece *ret, struct why *why) {
    struct arena arena;
    struct wire_log_piece piece;
    enum spool_kind kind;
    if (offset < f->read_offset) f->read_at = f->begin, f->read_offset = 0;
    for (;;) {
        enum err e = record_read(s, f, f->read_at, ret_data, &kind, why);
        if (e != ERR_OK) return e;
        arena_init(&arena, 256, 4096);
        if (kind == KIND_PIECE)
            e = tlv_decode(&wire_log_piece_desc, buf_slice(ret_data), TLV_STRICT, &arena, &piece, why);
        arena_fini(&arena);
        if (kind != KIND_PIECE || e != ERR_OK) return why_set(why, ERR_CORRUPT, "a spooled piece is damaged");
        if (piece.offset + piece.data.len > offset) break;
        f->read_at += HEAD_BYTES + ret_data->len;
        f->read_offset = piece.offset + piece.data.len;
    }
    *ret = piece;
    return ERR_OK;
}

struct spool_names {
    struct vec list; /* of char[NAME_MAX_BYTES] */
};

static void name_add(void *ctx, const char *name, uint64_t bytes) {
    struct spool_names *n = ctx;
    (void)bytes;
    snprintf(vec_push(&n->list), NAME_MAX_BYTES, "%s", name);
}

/* From `f->begin` on; true when an attempt ends well there, with its end in `b`. */
static bool file_check(struct spool *s, struct spool_file *f, struct buf *b) {
    struct why why;
    enum spool_kind kind = KIND_PIECE;
    while (kind == KIND_PIECE) {
        if (record_read(s, f, f->begin + f->bytes, b, &kind, &why) != ERR_OK) return false;
        f->bytes += HEAD_BYTES + b->len;
    }
    f->settled = f->bytes;
    return kind == KIND_END;
}

struct restoring {
    struct buf b;
    struct arena arena;
    spool_each_fn each;
    void *ctx;
};

static bool end_read(struct restoring *r, struct wire_end *ret) {
    struct why why;
    arena_reset(&r->arena);
    return tlv_decode(&wire_end_desc, buf_slice(&r->b), TLV_SKIP_UNKNOWN, &r->arena, ret, &why) == ERR_OK;
}

static enum err file_restore(struct spool *s, const char *path, const struct wire_attempt *attempt, struct restoring *r,
                             struct why *why) {
    struct wire_end end;
    struct spool_file f = {.is_open = true};
    enum err e = s->disk->ops->open(s->disk, path, DISK_WRITE, &f.file, why);
    if (e != ERR_OK) return e;
    if (file_check(s, &f, &r->b) && end_read(r, &end)) {
        s->bytes += f.bytes;
        r->each(r->ctx, attempt, &end, &f);
        return ERR_OK;
    }
    s->disk->ops->close(s->disk, f.file);
    return s->disk->ops->remove(s->disk, path, why);
}

/* Each of its attempts, up to where it is torn. */
static enum err batch_restore(struct spool *s, const char *path, uint64_t number, struct restoring *r,
                              struct why *why) {
    struct wire_end end;
    uint32_t index = pool_alloc(&s->batches);
    if (index == 0) return why_set(why, ERR_LIMIT, "too many files of ends");
    struct spool_batch *b = pool_at(&s->batches, index);
    b->number = number;
    enum err e = s->disk->ops->open(s->disk, path, DISK_WRITE, &b->file, why);
    if (e != ERR_OK) {
        pool_free(&s->batches, index);
        return e;
    }
    if (number > s->batch_number) s->batch_number = number;
    b->count = 1; /* ours, while we read */
    for (;;) {
        struct spool_file f = {
            .file = b->file, .batch = index, .begin = b->bytes, .read_at = b->bytes, .is_open = true};
        if (!file_check(s, &f, &r->b) || !end_read(r, &end)) break;
        b->bytes += f.bytes;
        b->count++;
        s->bytes += f.bytes;
        r->each(r->ctx, &end.attempt, &end, &f);
    }
    b->count--;
    batch_drop(s, index);
    return ERR_OK;
}

static enum err restore_one(struct spool *s, const char *name, struct restoring *r, struct why *why) {
    char path[NAME_MAX_BYTES + 8];
    struct wire_attempt attempt;
    unsigned long long number = 0;
    char tail = 0;
    snprintf(path, sizeof path, DIR_NAME "/%s", name);
    if (sscanf(name, BATCH_NAME "%llx%c", &number, &tail) == 1) return batch_restore(s, path, number, r, why);
    if (name_read(name, &attempt)) return file_restore(s, path, &attempt, r, why);
    return s->disk->ops->remove(s->disk, path, why);
}

enum err spool_read(struct spool *s, spool_each_fn each, void *ctx, struct why *why) {
    struct spool_names names;
    struct restoring r = {.each = each, .ctx = ctx};
    vec_init(&names.list, NAME_MAX_BYTES);
    buf_init(&r.b, BODY_BYTES_MAX);
    arena_init(&r.arena, 4096, 1u << 20);
    enum err e = s->disk->ops->list(s->disk, DIR_NAME, name_add, &names, why);
    for (uint32_t i = 0; i < names.list.count && e == ERR_OK; i++) e = restore_one(s, vec_at(&names.list, i), &r, why);
    arena_fini(&r.arena);
    buf_fini(&r.b);
    vec_fini(&names.list);
    return e;
}

void spool_forget(struct spool *s, const struct wire_attempt *attempt, struct spool_file *f) {
    char name[NAME_MAX_BYTES];
    struct why why;
    if (!f->is_open) return;
    s->bytes -= f->bytes < s->bytes ? f->bytes : s->bytes;
    if (f->batch != 0) {
        ((struct spool_batch *)pool_at(&s->batches, f->batch))->count--;
        batch_drop(s, f->batch);
    } else {
        s->disk->ops->close(s->disk, f->file);
        file_name(attempt, name);
        (void)!s->disk->ops->remove(s->disk, name, &why); /* it stays: the server will say that it knows */
    }
    *f = (struct spool_file){0};
}

void spool_close(struct spool *s, struct spool_file *f) {
    if (f->is_open && f->batch == 0) s->disk->ops->close(s->disk, f->file);
    if (f->is_open && f->batch != 0) {
        struct spool_batch *b = pool_at(&s->batches, f->batch);
        if (--b->count == 0) s->disk->ops->close(s->disk, b->file);
    }
    *f = (struct spool_file){0};
}

void spool_fini(struct spool *s) {
    pool_fini(&s->batches);
}
