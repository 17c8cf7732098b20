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
#define NAME_MAX_BYTES 80u
#define HEAD_BYTES 9u /* length, CRC of kind and body, kind */
#define BODY_BYTES_MAX (2u * WIRE_BODY_MAX)

enum kind { KIND_PIECE = 1, KIND_END };

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
static enum err record_write(struct spool *s, struct spool_file *f, enum kind kind, struct buf *b, struct why *why) {
    struct buf head;
    ENSURE(!b->full);
    b->at[HEAD_BYTES - 1] = (uint8_t)kind;
    buf_init(&head, HEAD_BYTES);
    buf_put_u32(&head, (uint32_t)(b->len - HEAD_BYTES));
    buf_put_u32(&head, crc32c(0, b->at + HEAD_BYTES - 1, b->len - HEAD_BYTES + 1));
    memcpy(b->at, head.at, head.len);
    buf_fini(&head);
    enum err e = diskio_write(s->disk, f->file, f->bytes, b->at, b->len, why);
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

static enum err spool_all(struct spool *s, const struct wire_attempt *a, struct spool_file *f, struct capture *c,
                          const struct wire_end *end, struct why *why) {
    struct buf b;
    enum err e = file_open(s, a, f, why);
    if (e != ERR_OK) return e;
    uint64_t before = f->bytes;
    buf_init(&b, BODY_BYTES_MAX);
    capture_close_piece(c);
    e = pieces_write(s, f, c, &b, why);
    if (e == ERR_OK && end != NULL) {
        buf_clear(&b);
        (void)buf_space(&b, HEAD_BYTES);
        tlv_encode(&wire_end_desc, end, &b);
        e = record_write(s, f, KIND_END, &b, why);
        if (e == ERR_OK) e = s->disk->ops->sync(s->disk, f->file, why);
        if (e == ERR_OK) e = s->disk->ops->sync_dir(s->disk, DIR_NAME, why);
    }
    buf_fini(&b);
    if (e == ERR_OK) {
        capture_spooled(c);
    } else { /* the next attempt to write begins where this one did */
        s->bytes -= f->bytes - before;
        f->bytes = before;
    }
    return e;
}

enum err spool_pieces(struct spool *s, const struct wire_attempt *attempt, struct spool_file *f, struct capture *c,
                      struct why *why) {
    return spool_all(s, attempt, f, c, NULL, why);
}

enum err spool_end(struct spool *s, const struct wire_attempt *attempt, struct spool_file *f, struct capture *c,
                   const struct wire_end *end, struct why *why) {
    return spool_all(s, attempt, f, c, end, why);
}

/* ---- reading ---- */

/* The record at `at`. ERR_CORRUPT: torn or damaged; ERR_NOT_FOUND: the end of the file. */
static enum err record_read(struct spool *s, const struct spool_file *f, uint64_t at, struct buf *b,
                            enum kind *ret_kind, struct why *why) {
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
    *ret_kind = (enum kind)kind;
    return ERR_OK;
}

enum err spool_piece(struct spool *s, struct spool_file *f, uint64_t offset, struct buf *ret_data,
                     struct wire_log_piece *ret, struct why *why) {
    struct arena arena;
    struct wire_log_piece piece;
    enum kind kind;
    if (offset < f->read_offset) f->read_at = f->read_offset = 0;
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

struct names {
    struct vec list; /* of char[NAME_MAX_BYTES] */
};

static void name_add(void *ctx, const char *name, uint64_t bytes) {
    struct names *n = ctx;
    (void)bytes;
    snprintf(vec_push(&n->list), NAME_MAX_BYTES, "%s", name);
}

/* Goes through the file; true when it ends well, with the end of the attempt in `b`. */
static bool file_check(struct spool *s, struct spool_file *f, struct buf *b) {
    struct why why;
    enum kind kind = KIND_PIECE;
    while (kind == KIND_PIECE) {
        if (record_read(s, f, f->bytes, b, &kind, &why) != ERR_OK) return false;
        f->bytes += HEAD_BYTES + b->len;
    }
    return kind == KIND_END;
}

static enum err file_restore(struct spool *s, const char *name, struct buf *b, spool_each_fn each, void *ctx,
                             struct why *why) {
    char path[NAME_MAX_BYTES + 8];
    struct wire_attempt attempt;
    struct wire_end end;
    struct arena arena;
    struct spool_file f = {.is_open = true};
    snprintf(path, sizeof path, DIR_NAME "/%s", name);
    enum err e = s->disk->ops->open(s->disk, path, DISK_WRITE, &f.file, why);
    if (e != ERR_OK) return e;
    arena_init(&arena, 4096, 1u << 20);
    bool good = name_read(name, &attempt) && file_check(s, &f, b) &&
                tlv_decode(&wire_end_desc, buf_slice(b), TLV_SKIP_UNKNOWN, &arena, &end, why) == ERR_OK;
    if (good) {
        s->bytes += f.bytes;
        each(ctx, &attempt, &end, &f);
    } else {
        s->disk->ops->close(s->disk, f.file);
        e = s->disk->ops->remove(s->disk, path, why);
    }
    arena_fini(&arena);
    return e;
}

enum err spool_read(struct spool *s, spool_each_fn each, void *ctx, struct why *why) {
    struct names names;
    struct buf b;
    vec_init(&names.list, NAME_MAX_BYTES);
    buf_init(&b, BODY_BYTES_MAX);
    enum err e = s->disk->ops->list(s->disk, DIR_NAME, name_add, &names, why);
    for (uint32_t i = 0; i < names.list.count && e == ERR_OK; i++)
        e = file_restore(s, vec_at(&names.list, i), &b, each, ctx, why);
    buf_fini(&b);
    vec_fini(&names.list);
    return e;
}

void spool_forget(struct spool *s, const struct wire_attempt *attempt, struct spool_file *f) {
    char name[NAME_MAX_BYTES];
    struct why why;
    if (!f->is_open) return;
    s->disk->ops->close(s->disk, f->file);
    s->bytes -= f->bytes < s->bytes ? f->bytes : s->bytes;
    file_name(attempt, name);
    (void)!s->disk->ops->remove(s->disk, name, &why); /* it stays: the server will say that it knows */
    *f = (struct spool_file){0};
}
