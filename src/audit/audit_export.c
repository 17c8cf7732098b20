/* audit_export.c: see audit_export.h. The lines themselves are in audit_line.c. */
#include "audit_export.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "panic.h"
#include "proof_journal.h"

#define RUN_MAX 256u /* batches in one line */
#define RUN_BYTES (DIGEST_BYTES + 8u)
#define HASHES_BYTES_MAX ((size_t)1 << 28)
#define PIECES 8u
#define TRIES 8u

typedef unsigned long long ull;

struct exporting {
    const struct audit_export *x;
    struct buf *out;
    struct arena arena;  /* of one record */
    struct buf hashes;   /* of the records of one batch */
    struct buf run;      /* of batches that are shown no other way: hash, LSN of the last record */
    uint64_t run_first;  /* the first record of the first of them */
    uint64_t next_lsn;
    uint64_t page_lsn;   /* what that was when the page began */
    uint32_t shard;
    size_t began;        /* length of `out` before this page */
    bool is_full;
};

static void line_end(struct exporting *e, struct json *j) {
    json_object_end(j);
    buf_put_u8(e->out, '\n');
}

static void number(struct json *j, const char *key, uint64_t v) {
    json_key_own(j, key);
    json_u64(j, v);
}

static void what(struct exporting *e, struct json *j, const char *word) {
    json_init(j, e->out);
    json_object(j);
    json_key_own(j, "what");
    json_str(j, word);
}

/* ---- batches ---- */

static void run_flush(struct exporting *e) {
    struct json j;
    if (e->run.len == 0) return;
    what(e, &j, "batches");
    number(&j, "first_lsn", e->run_first);
    number(&j, "last_lsn", e->next_lsn - 1);
    json_key_own(&j, "hashes");
    json_array(&j);
    for (size_t at = 0; at < e->run.len; at += RUN_BYTES) json_hex(&j, slice_of(e->run.at + at, DIGEST_BYTES));
    json_array_end(&j);
    json_key_own(&j, "ends");
    json_array(&j);
    for (size_t at = DIGEST_BYTES; at < e->run.len; at += RUN_BYTES) {
        struct cursor c = cursor_of(slice_of(e->run.at + at, 8));
        json_u64(&j, cursor_u64(&c));
    }
    json_array_end(&j);
    line_end(e, &j);
    buf_clear(&e->run);
}

static void batch_line(struct exporting *e, const struct batch *b, const bool *shown) {
    struct json j;
    what(e, &j, "batch");
    number(&j, "first_lsn", b->first_lsn);
    number(&j, "last_lsn", b->last_lsn);
    number(&j, "epoch", b->epoch);
    number(&j, "rules", b->rules);
    number(&j, "shard", b->shard);
    json_key_own(&j, "time_ms");
    json_i64(&j, b->time.ms);
    json_key_own(&j, "seed"); /* hexadecimal: more digits than a number of JSON keeps everywhere */
    char seed[24];
    snprintf(seed, sizeof seed, "%016llx", (ull)b->seed);
    json_str(&j, seed);
    json_key_own(&j, "records");
    json_array(&j);
    for (size_t i = 0; i < e->hashes.len / DIGEST_BYTES; i++)
        if (shown[i])
            json_null(&j);
        else
            json_hex(&j, slice_of(e->hashes.at + i * DIGEST_BYTES, DIGEST_BYTES));
    json_array_end(&j);
    line_end(e, &j);
}

static void checkpoint_line(struct exporting *e, uint64_t lsn, wall_time time, const struct rec_checkpoint *r) {
    struct json j;
    struct checkpoint c = {r->number, lsn, r->from_lsn, r->upto_lsn, time, {0}, {0}, {0}};
    if (r->chain.len != sizeof c.chain || r->key.len != sizeof c.key || r->signature.len != sizeof c.signature) return;
    memcpy(c.chain, r->chain.ptr, sizeof c.chain);
    memcpy(c.key, r->key.ptr, sizeof c.key);
    memcpy(c.signature, r->signature.ptr, sizeof c.signature);
    json_init(&j, e->out);
    audit_line_checkpoint(&j, e->shard, &c);
    line_end(e, &j);
}

static bool record_line(struct exporting *e, const struct record *r, struct slice bytes, uint64_t lsn, int64_t ms) {
    char text[AUDIT_TEXT_BYTES];
    struct audit_record a;
    struct json j;
    bool is_ocsf = e->x->format == AUDIT_OCSF, shows = !is_ocsf && audit_shows_bytes(r->kind);
    audit_record_of(r, lsn, ms, text, &a);
    json_init(&j, e->out);
    audit_line_record(&j, e->shard, &a, is_ocsf);
    if (shows) {
        json_key_own(&j, "bytes");
        json_base64(&j, bytes);
    }
    line_end(e, &j);
    return shows;
}

/* The lines of the records that fit; whether any is shown. */
static enum err records(struct exporting *e, const struct batch *b, bool *shown, bool *ret_any, struct why *why) {
    struct cursor c = cursor_of(b->records);
    for (uint64_t lsn = b->first_lsn; lsn <= b->last_lsn; lsn++) {
        const uint8_t *from = c.at;
        struct record r;
        arena_reset(&e->arena);
        enum err err = record_decode(&c, &e->arena, &r, why);
        if (err != ERR_OK) return why_wrap(why, err, "record %llu", (ull)lsn);
        bool is_proof = r.kind == REC_CHECKPOINT && e->x->format == AUDIT_JSONL;
        if (!is_proof && !audit_fits(&e->x->filter, &r, b->time.ms)) continue;
        if (!*ret_any) run_flush(e);
        *ret_any = true;
        shown[lsn - b->first_lsn] =
            record_line(e, &r, slice_of(from, (size_t)(c.at - from)), lsn, b->time.ms);
        if (is_proof) checkpoint_line(e, lsn, b->time, &r.body.as_REC_CHECKPOINT);
    }
    return ERR_OK;
}

static enum err export_batch(void *ctx, const struct batch *b, struct why *why) {
    struct exporting *e = ctx;
    uint8_t hash[DIGEST_BYTES];
    bool any = false;
    if (e->x->stop != NULL && atomic_load(e->x->stop)) return why_set(why, ERR_STATE, "it is no longer wanted");
    bool has_one = e->next_lsn != e->page_lsn; /* else a page would make no progress */
    e->is_full = b->last_lsn > e->x->upto_lsn || (has_one && e->out->len - e->began >= e->x->page_bytes);
    if (e->is_full) return ERR_STATE;
    e->shard = b->shard;
    size_t count = (size_t)(b->last_lsn - b->first_lsn + 1);
    struct arena flags;
    arena_init(&flags, 4096, (size_t)1 << 28);
    bool *shown = ARENA_ARRAY(&flags, bool, count);
    enum err err = records(e, b, shown, &any, why);
    buf_clear(&e->hashes);
    if (err == ERR_OK && e->x->format == AUDIT_JSONL) err = proof_hashes(e->x->hasher, b, &e->hashes, why);
    if (err == ERR_OK && e->x->format == AUDIT_JSONL && any) {
        batch_line(e, b, shown);
    } else if (err == ERR_OK && e->x->format == AUDIT_JSONL) {
        proof_batch(e->x->hasher, b, buf_slice(&e->hashes), hash);
        if (e->run.len == 0) e->run_first = b->first_lsn;
        buf_put(&e->run, hash, sizeof hash);
        buf_put_u64(&e->run, b->last_lsn);
    }
    arena_fini(&flags);
    e->next_lsn = b->last_lsn + 1;
    if (e->run.len >= RUN_MAX * RUN_BYTES) run_flush(e);
    return err;
}

/* ---- where it begins ---- */

struct base {
    struct checkpoint found; /* the last one that is old enough */
    struct arena arena;
    int64_t before_ms; /* of records from here on something may be asked for */
    bool first;        /* the first one is meant, however old */
    uint64_t first_lsn;
    uint32_t shard;
};

static enum err base_batch(void *ctx, const struct batch *b, struct why *why) {
    struct base *base = ctx;
    struct cursor at = cursor_of(b->records);
    base->shard = b->shard;
    if (b->time.ms >= base->before_ms && !base->first) return ERR_OK;
    for (uint64_t lsn = b->first_lsn; lsn <= b->last_lsn; lsn++) {
        struct cursor one = at;
        enum record_kind kind;
        struct slice message;
        struct record r;
        if (!record_pass(&at, &kind, &message)) return why_set(why, ERR_CORRUPT, "record %llu: no record", (ull)lsn);
        if (kind != REC_CHECKPOINT) continue;
        arena_reset(&base->arena);
        enum err e = record_decode(&one, &base->arena, &r, why);
        const struct rec_checkpoint *k = &r.body.as_REC_CHECKPOINT;
        if (e != ERR_OK) return e;
        if (k->chain.len != DIGEST_BYTES || k->key.len != DIGEST_BYTES ||
            k->signature.len != CHECKPOINT_SIGNATURE_BYTES)
            continue;
        base->found = (struct checkpoint){k->number, lsn, k->from_lsn, k->upto_lsn, b->time, {0}, {0}, {0}};
        memcpy(base->found.chain, k->chain.ptr, DIGEST_BYTES);
        memcpy(base->found.key, k->key.ptr, DIGEST_BYTES);
        memcpy(base->found.signature, k->signature.ptr, CHECKPOINT_SIGNATURE_BYTES);
        if (base->first) return ERR_STATE; /* no more is needed */
    }
    return ERR_OK;
}

/* Back through the pieces, until one has a checkpoint that is old enough, or there are no more. */
static enum err base_back(const struct audit_export *x, struct base *base, struct why *why) {
    uint64_t first[PIECES], upto = x->upto_lsn;
    uint32_t count = PIECES;
    enum err e = ERR_OK;
    while (e == ERR_OK && count == PIECES && base->found.number == 0) {
        e = x->reader->ops->pieces(x->reader, upto, first, PIECES, &count, why);
        for (uint32_t i = 0; e == ERR_OK && i < count && base->found.number == 0; i++) {
            base->first_lsn = first[i];
            if (base->before_ms > 0) e = x->reader->ops->read(x->reader, first[i], upto, base_batch, base, why);
            upto = first[i] - 1;
        }
    }
    return e;
}

/* Without one that is old enough it begins with the chain, or where the archive still has a checkpoint. */
static enum err base_find(const struct audit_export *x, struct base *base, struct why *why) {
    enum err e = base_back(x, base, why);
    if (e != ERR_OK || base->found.number != 0 || base->first_lsn == 0) return e;
    base->first = true;
    e = x->reader->ops->read(x->reader, base->first_lsn, x->upto_lsn, base_batch, base, why);
    if (e == ERR_STATE && base->found.number != 0) e = ERR_OK;
    if (base->found.number != 1 || base->found.from_lsn < base->first_lsn) return e;
    base->first_lsn = base->found.from_lsn;
    base->found.number = 0;
    return e;
}

/* The first line: where the chain stands, and who says so. */
static enum err begin(struct exporting *e, struct why *why) {
    struct base base = {.before_ms = e->x->filter.since_ms};
    struct json j;
    uint8_t chain[DIGEST_BYTES];
    arena_init(&base.arena, 4096, (size_t)1 << 26);
    enum err err = base_find(e->x, &base, why);
    arena_fini(&base.arena);
    if (err != ERR_OK) return err;
    bool has = base.found.number != 0;
    e->shard = base.shard;
    e->next_lsn = has ? base.found.upto_lsn + 1 : base.first_lsn;
    if (e->x->format == AUDIT_OCSF) return ERR_OK;
    proof_begin(e->x->hasher, e->shard, e->next_lsn, chain);
    what(e, &j, "export");
    number(&j, "version", 1);
    json_key_own(&j, "program");
    json_str(&j, e->x->program);
    if (e->x->is_stream) json_key_own(&j, "stream"), json_bool(&j, true);
    number(&j, "shard", e->shard);
    number(&j, "from_lsn", e->next_lsn);
    json_key_own(&j, "chain");
    json_hex(&j, has ? slice_of(base.found.chain, DIGEST_BYTES) : slice_of(chain, DIGEST_BYTES));
    if (has) {
        json_key_own(&j, "checkpoint");
        audit_line_checkpoint(&j, e->shard, &base.found);
        json_object_end(&j);
    }
    line_end(e, &j);
    return ERR_OK;
}

static void end(struct exporting *e) {
    struct json j;
    if (e->x->format == AUDIT_OCSF || e->x->is_stream) return;
    what(e, &j, "end");
    number(&j, "last_lsn", e->next_lsn - 1);
    line_end(e, &j);
}

/* ---- a page ---- */

static enum err page(struct exporting *e, bool *ret_more, struct why *why) {
    enum err err = ERR_OK;
    e->page_lsn = e->next_lsn;
    for (uint32_t tries = 0; tries < TRIES && e->next_lsn <= e->x->upto_lsn; tries++) {
        uint64_t before = e->next_lsn;
        err = e->x->reader->ops->read(e->x->reader, before, e->x->upto_lsn, export_batch, e, why);
        if (err != ERR_NOT_FOUND) break;
        if (e->next_lsn > before) tries = 0;
    }
    if (err == ERR_NOT_FOUND) return why_set(why, ERR_BUSY, "the journal is being moved into its archive");
    if (err == ERR_STATE && e->is_full) err = ERR_OK;
    if (err != ERR_OK) return err;
    run_flush(e);
    *ret_more = e->is_full && e->next_lsn <= e->x->upto_lsn;
    if (!*ret_more) end(e);
    return e->out->full ? why_set(why, ERR_LIMIT, "a batch does not fit a page of the export") : ERR_OK;
}

enum err audit_export_page(const struct audit_export *x, uint64_t *lsn, struct buf *out, bool *ret_more,
                           struct why *why) {
    struct exporting e = {.x = x, .out = out, .next_lsn = *lsn + 1, .began = out->len};
    bool more = false;
    enum err err = *lsn == 0 ? begin(&e, why) : ERR_OK;
    if (err != ERR_OK) return err;
    arena_init(&e.arena, 65536, (size_t)1 << 30);
    buf_init(&e.hashes, HASHES_BYTES_MAX);
    buf_init(&e.run, HASHES_BYTES_MAX);
    if (e.next_lsn > 0) err = page(&e, &more, why);
    arena_fini(&e.arena);
    buf_fini(&e.hashes);
    buf_fini(&e.run);
    if (err != ERR_OK) return err;
    *lsn = e.next_lsn - 1;
    *ret_more = more;
    return ERR_OK;
}
