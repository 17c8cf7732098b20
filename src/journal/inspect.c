/* inspect.c: see inspect.h. */
#include "inspect.h"

#include "arena.h"
#include "json.h"
#include "panic.h"
#include "record.h"

#define LINE_BYTES_MAX (256u << 20) /* the largest record as JSON; a submit of 64 MiB at most, escaped */
#define ARENA_CHUNK_BYTES (64u << 10)
#define ARENA_BYTES_MAX (1u << 30)

/* ---- records, one by one ---- */

struct inspect_reading {
    uint64_t from, to;
    enum err (*each)(void *ctx, const struct batch *b, uint64_t lsn, const struct record *r, struct why *why);
    void *ctx;
    struct arena arena;
};

static enum err batch_read(void *ctx, const struct batch *b, struct why *why) {
    struct inspect_reading *p = ctx;
    struct cursor c = cursor_of(b->records);
    for (uint64_t lsn = b->first_lsn; lsn <= b->last_lsn; lsn++) {
        struct record r;
        arena_reset(&p->arena);
        enum err e = record_decode(&c, &p->arena, &r, why);
        if (e == ERR_OK && lsn >= p->from && lsn <= p->to) e = p->each(p->ctx, b, lsn, &r, why);
        if (e != ERR_OK) return why_wrap(why, e, "record %llu", (unsigned long long)lsn);
    }
    return ERR_OK;
}

static enum err records_read(struct journal *j, struct inspect_reading *p, struct why *why) {
    arena_init(&p->arena, ARENA_CHUNK_BYTES, ARENA_BYTES_MAX);
    enum err e = j->ops->read(j, p->from, p->to, batch_read, p, why);
    arena_fini(&p->arena);
    return e;
}

/* ---- count ---- */

static enum err record_count(void *ctx, const struct batch *b, uint64_t lsn, const struct record *r, struct why *why) {
    (void)b, (void)lsn, (void)why;
    ((uint64_t *)ctx)[r->kind]++;
    return ERR_OK;
}

enum err inspect_count(struct journal *reader, uint64_t ret[], struct why *why) {
    struct inspect_reading p = {.from = 1, .to = UINT64_MAX, .each = record_count, .ctx = ret};
    memset(ret, 0, REC_KIND_END * sizeof *ret);
    return records_read(reader, &p, why);
}

/* ---- dump ---- */

struct dump {
    struct byte_sink *out;
    struct buf line;
};

static enum err record_out(void *ctx, const struct batch *b, uint64_t lsn, const struct record *r, struct why *why) {
    struct dump *p = ctx;
    struct json j;
    buf_clear(&p->line);
    json_init(&j, &p->line);
    json_object(&j);
    json_key(&j, "lsn");
    json_u64(&j, lsn);
    json_key(&j, "epoch");
    json_u64(&j, b->epoch);
    json_key(&j, "time_ms");
    json_i64(&j, b->time.ms);
    record_json(r, &j);
    json_object_end(&j);
    buf_put_u8(&p->line, '\n');
    if (p->line.full) return why_set(why, ERR_LIMIT, "record %llu is too long to show", (unsigned long long)lsn);
    return p->out->more(p->out, p->line.at, p->line.len, why);
}

enum err inspect_dump(struct journal *reader, uint64_t from, uint64_t to, struct byte_sink *out, struct why *why) {
    REQUIRE(out != NULL);
    struct dump dump = {.out = out};
    struct inspect_reading p = {.from = from, .to = to, .each = record_out, .ctx = &dump};
    buf_init(&dump.line, LINE_BYTES_MAX);
    enum err e = records_read(reader, &p, why);
    buf_fini(&dump.line);
    return e;
}
