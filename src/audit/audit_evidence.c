/* audit_evidence.c: see audit_evidence.h. */
#include "audit_evidence.h"

#include <string.h>

#include "audit_export.h"
#include "base64.h"
#include "hex.h"
#include "json_tree.h"
#include "panic.h"
#include "record.h"

#define LINE_BYTES_MAX ((size_t)1 << 26)

typedef unsigned long long ull;

struct shown_record { /* until its batch comes */
    uint64_t lsn;
    int64_t time_ms;
    uint8_t hash[DIGEST_BYTES];
};

struct chain_end { /* after a batch */
    uint64_t lsn;
    uint8_t chain[DIGEST_BYTES];
};

void evidence_init(struct evidence *v) {
    v->line = 0;
    arena_init(&v->arena, 65536, LINE_BYTES_MAX * 8);
    vec_init(&v->shown, sizeof(struct shown_record));
    vec_init(&v->ends, sizeof(struct chain_end));
}

void evidence_fini(struct evidence *v) {
    arena_fini(&v->arena);
    vec_fini(&v->shown);
    vec_fini(&v->ends);
}

/* ---- members ---- */

static bool text_get(const struct json_node *o, const char *key, struct slice *ret) {
    const struct json_node *n = json_tree_get(o, slice_str(key));
    if (n == NULL || n->kind != JSON_TEXT) return false;
    *ret = n->text;
    return true;
}

static bool u64_get(const struct json_node *o, const char *key, uint64_t *ret) {
    const struct json_node *n = json_tree_get(o, slice_str(key));
    return n != NULL && n->kind == JSON_NUMBER && json_number_u64(n->text, ret) == ERR_OK;
}

static bool i64_get(const struct json_node *o, const char *key, int64_t *ret) {
    const struct json_node *n = json_tree_get(o, slice_str(key));
    return n != NULL && n->kind == JSON_NUMBER && json_number_i64(n->text, ret) == ERR_OK;
}

static bool hex_get(const struct json_node *o, const char *key, size_t bytes, uint8_t *ret) {
    struct slice text;
    return text_get(o, key, &text) && hex_read(text, bytes, ret);
}

static bool seed_get(const struct json_node *o, uint64_t *ret) {
    uint8_t bytes[8];
    *ret = 0;
    bool good = hex_get(o, "seed", sizeof bytes, bytes);
    for (size_t i = 0; good && i < sizeof bytes; i++) *ret = *ret << 8 | bytes[i];
    return good;
}

static enum err corrupt(const struct evidence *v, struct why *why, const char *text) {
    return why_set(why, ERR_CORRUPT, "line %llu: %s", (ull)v->line, text);
}

static enum err no_export(const struct evidence *v, struct why *why, const char *text) {
    return why_set(why, ERR_INVALID, "line %llu: %s", (ull)v->line, text);
}

/* ---- checkpoints ---- */

static bool checkpoint_read(const struct json_node *o, uint32_t *ret_shard, struct checkpoint *ret) {
    uint64_t shard = 0;
    struct checkpoint c = {0};
    bool has_shard = json_tree_get(o, SLICE("shard")) != NULL; /* 0 may be left out */
    bool good = (!has_shard || u64_get(o, "shard", &shard)) && shard <= UINT32_MAX && u64_get(o, "number", &c.number) &&
                u64_get(o, "lsn", &c.lsn) && u64_get(o, "from_lsn", &c.from_lsn) &&
                u64_get(o, "upto_lsn", &c.upto_lsn) && i64_get(o, "time_ms", &c.time.ms) &&
                hex_get(o, "chain", sizeof c.chain, c.chain) && hex_get(o, "key", sizeof c.key, c.key) &&
                hex_get(o, "signature", sizeof c.signature, c.signature);
    if (!good || c.number == 0) return false;
    *ret_shard = (uint32_t)shard;
    *ret = c;
    return true;
}

enum err evidence_checkpoint(struct slice text, const struct limits *limits, struct arena *arena, uint32_t *ret_shard,
                             struct checkpoint *ret, struct why *why) {
    const struct json_node *o;
    enum err e = json_tree_read(text, limits, arena, &o, why);
    if (e != ERR_OK) return e;
    if (checkpoint_read(o, ret_shard, ret)) return ERR_OK;
    return why_set(why, ERR_INVALID,
                   "this is no checkpoint: expected what `reeve audit checkpoint --json` prints, or such a line of an "
                   "export");
}

static enum err checkpoint_check(struct evidence *v, uint32_t shard, const struct checkpoint *c, struct why *why) {
    if (shard != v->shard) return corrupt(v, why, "this checkpoint is of another shard");
    if (!proof_is_signed(v->checker, shard, c)) return corrupt(v, why, "the signature of this checkpoint is not right");
    if (v->key != NULL && memcmp(v->key, c->key, sizeof c->key) != 0)
        return corrupt(v, why, "this checkpoint is signed by another key than the given one");
    return ERR_OK;
}

/* It vouches for a batch that has gone by. */
static enum err on_checkpoint(struct evidence *v, const struct json_node *o, struct why *why) {
    uint32_t shard, at = 0;
    struct checkpoint c;
    if (!checkpoint_read(o, &shard, &c)) return no_export(v, why, "this is no whole checkpoint");
    enum err e = checkpoint_check(v, shard, &c, why);
    if (e != ERR_OK) return e;
    if (c.upto_lsn < v->from_lsn && memcmp(&c, &v->last, sizeof c) == 0) return ERR_OK; /* the first line's */
    if (v->last.number != 0 && (c.number != v->last.number + 1 || c.from_lsn != v->last.upto_lsn + 1))
        return corrupt(v, why, "this checkpoint does not follow the one before");
    v->last = c;
    const struct chain_end *end = NULL;
    for (; at < v->ends.count && end == NULL; at++) {
        const struct chain_end *one = vec_at(&v->ends, at);
        if (one->lsn == c.upto_lsn) end = one;
    }
    if (end == NULL) return corrupt(v, why, "no batch ends where this checkpoint says");
    if (memcmp(end->chain, c.chain, sizeof c.chain) != 0)
        return why_set(why, ERR_CORRUPT,
                       "line %llu: something in records %llu to %llu is not what checkpoint %llu signs", (ull)v->line,
                       (ull)c.from_lsn, (ull)c.upto_lsn, (ull)c.number);
    memmove(v->ends.at, vec_at(&v->ends, at), (size_t)(v->ends.count - at) * sizeof(struct chain_end));
    v->ends.count -= at;
    v->signed_lsn = c.upto_lsn;
    v->checkpoints++;
    return ERR_OK;
}

/* ---- the first line ---- */

static enum err on_export(struct evidence *v, const struct json_node *o, struct why *why) {
    uint64_t version = 0, shard = 0;
    uint8_t chain[DIGEST_BYTES];
    uint32_t own = 0;
    struct checkpoint base;
    const struct json_node *c = json_tree_get(o, SLICE("checkpoint"));
    if (v->has_begun) return corrupt(v, why, "a second beginning");
    if (!u64_get(o, "version", &version) || version != 1)
        return no_export(v, why, "this version of an export is not known: use a newer program");
    if (!u64_get(o, "shard", &shard) || shard > UINT32_MAX || !u64_get(o, "from_lsn", &v->from_lsn) ||
        v->from_lsn == 0 || !hex_get(o, "chain", sizeof chain, chain))
        return no_export(v, why, "expected shard, from_lsn and chain");
    v->shard = (uint32_t)shard;
    const struct json_node *stream = json_tree_get(o, SLICE("stream"));
    v->is_stream = stream != NULL && stream->kind == JSON_BOOL && stream->truth;
    v->has_begun = true;
    v->next_lsn = v->from_lsn;
    memcpy(v->chain, chain, sizeof chain);
    if (c == NULL) {
        proof_begin(v->hasher, v->shard, v->from_lsn, v->chain);
        return memcmp(v->chain, chain, sizeof chain) == 0 ? ERR_OK : corrupt(v, why, "the chain does not begin here");
    }
    if (!checkpoint_read(c, &own, &base)) return no_export(v, why, "this is no whole checkpoint");
    enum err e = checkpoint_check(v, own, &base, why);
    if (e != ERR_OK) return e;
    if (base.upto_lsn + 1 != v->from_lsn || memcmp(base.chain, chain, sizeof chain) != 0)
        return corrupt(v, why, "the chain is not that of its checkpoint");
    v->last = base;
    return ERR_OK;
}

/* ---- records ---- */

/* What a line says has to be what its bytes say: it is written once more, and compared. */
static enum err line_check(struct evidence *v, const struct record *r, uint64_t lsn, int64_t time_ms, struct slice line,
                           struct why *why) {
    char text[AUDIT_TEXT_BYTES];
    struct audit_record a;
    struct buf own;
    struct json j;
    buf_init(&own, LINE_BYTES_MAX);
    json_init(&j, &own);
    audit_record_of(r, lsn, time_ms, text, &a);
    audit_line_record(&j, v->shard, &a, false);
    bool same = !own.full && line.len > own.len && memcmp(line.ptr, own.at, own.len) == 0;
    buf_fini(&own);
    return same ? ERR_OK : corrupt(v, why, "what this line says is not what the bytes of its record say");
}

static enum err on_record(struct evidence *v, const struct json_node *o, struct slice line, struct why *why) {
    struct shown_record s;
    struct slice text, bytes;
    v->records++;
    if (!u64_get(o, "lsn", &s.lsn) || !i64_get(o, "time_ms", &s.time_ms))
        return no_export(v, why, "expected lsn and time_ms");
    if (!text_get(o, "bytes", &text)) return ERR_OK; /* of a secret: its batch has the hash */
    if (base64_read(text, &v->arena, &bytes, NULL) != ERR_OK) return corrupt(v, why, "bytes: this is no base64");
    struct cursor c = cursor_of(bytes);
    struct record r;
    if (record_decode(&c, &v->arena, &r, NULL) != ERR_OK || cursor_left(&c) != 0)
        return corrupt(v, why, "these bytes are no record");
    enum err e = line_check(v, &r, s.lsn, s.time_ms, line, why);
    if (e != ERR_OK) return e;
    proof_record(v->hasher, bytes, s.hash);
    *(struct shown_record *)vec_push(&v->shown) = s;
    return ERR_OK;
}

/* ---- batches ---- */

static void chain_go(struct evidence *v, const uint8_t hash[DIGEST_BYTES], uint64_t last_lsn) {
    proof_extend(v->hasher, v->chain, hash);
    v->next_lsn = last_lsn + 1;
    struct chain_end *end = vec_push(&v->ends);
    end->lsn = last_lsn;
    memcpy(end->chain, v->chain, sizeof end->chain);
}

/* Their hashes: those of the list, and in place of null that of the record that was shown. */
static enum err hashes_of(struct evidence *v, const struct json_node *list, const struct batch *b, struct buf *ret,
                          struct why *why) {
    uint32_t used = 0;
    uint64_t lsn = b->first_lsn;
    for (const struct json_node *n = list->first; n != NULL; n = n->next, lsn++) {
        uint8_t hash[DIGEST_BYTES];
        if (n->kind == JSON_TEXT && hex_read(n->text, sizeof hash, hash)) {
            buf_put(ret, hash, sizeof hash);
            continue;
        }
        const struct shown_record *s = used < v->shown.count ? vec_at(&v->shown, used) : NULL;
        if (n->kind != JSON_NULL || s == NULL || s->lsn != lsn || s->time_ms != b->time.ms)
            return corrupt(v, why, "a record that this batch says is shown is not, or at another time");
        buf_put(ret, s->hash, sizeof s->hash);
        used++;
    }
    if (used != v->shown.count) return corrupt(v, why, "a record is shown that is in no batch");
    v->shown.count = 0;
    return ERR_OK;
}

static enum err on_batch(struct evidence *v, const struct json_node *o, struct why *why) {
    struct batch b = {0};
    uint64_t rules = 0, shard = 0;
    uint8_t hash[DIGEST_BYTES];
    const struct json_node *list = json_tree_get(o, SLICE("records"));
    bool good = u64_get(o, "first_lsn", &b.first_lsn) && u64_get(o, "last_lsn", &b.last_lsn) &&
                u64_get(o, "epoch", &b.epoch) && u64_get(o, "rules", &rules) && u64_get(o, "shard", &shard) &&
                i64_get(o, "time_ms", &b.time.ms) && seed_get(o, &b.seed) &&
                list != NULL && list->kind == JSON_ARRAY && rules <= UINT32_MAX && shard <= UINT32_MAX;
    if (!good) return no_export(v, why, "this is no whole batch");
    b.rules = (uint32_t)rules;
    b.shard = (uint32_t)shard;
    if (b.first_lsn != v->next_lsn || b.last_lsn < b.first_lsn || b.last_lsn - b.first_lsn + 1 != list->count)
        return corrupt(v, why, "a batch is missing before this one, or it has not as many records as it says");
    struct buf hashes;
    buf_init(&hashes, LINE_BYTES_MAX);
    enum err e = hashes_of(v, list, &b, &hashes, why);
    if (e == ERR_OK) {
        proof_batch(v->hasher, &b, buf_slice(&hashes), hash);
        chain_go(v, hash, b.last_lsn);
    }
    buf_fini(&hashes);
    return e;
}

/* Batches of which nothing is shown. Where each ends is not under its hash here; a wrong end only keeps a checkpoint
 * from being found. */
static enum err on_batches(struct evidence *v, const struct json_node *o, struct why *why) {
    uint64_t first = 0, last = 0;
    const struct json_node *list = json_tree_get(o, SLICE("hashes")), *ends = json_tree_get(o, SLICE("ends"));
    if (!u64_get(o, "first_lsn", &first) || !u64_get(o, "last_lsn", &last) || list == NULL || ends == NULL ||
        list->kind != JSON_ARRAY || ends->kind != JSON_ARRAY || list->count == 0 || list->count != ends->count)
        return no_export(v, why, "expected first_lsn, last_lsn, hashes and ends");
    if (v->shown.count > 0) return corrupt(v, why, "a record is shown that is in no batch");
    if (first != v->next_lsn) return corrupt(v, why, "a batch is missing before these");
    const struct json_node *end = ends->first;
    for (const struct json_node *n = list->first; n != NULL; n = n->next, end = end->next) {
        uint8_t hash[DIGEST_BYTES];
        uint64_t lsn = 0;
        if (n->kind != JSON_TEXT || !hex_read(n->text, sizeof hash, hash) || end->kind != JSON_NUMBER ||
            json_number_u64(end->text, &lsn) != ERR_OK || lsn < v->next_lsn)
            return no_export(v, why, "a hash or an end is none");
        chain_go(v, hash, lsn);
    }
    return v->next_lsn == last + 1 ? ERR_OK : corrupt(v, why, "these batches do not end where they say");
}

/* ---- lines ---- */

enum err evidence_line(struct evidence *v, struct slice line, struct why *why) {
    const struct json_node *o;
    struct slice what;
    v->line++;
    arena_reset(&v->arena);
    enum err e = json_tree_read(line, v->limits, &v->arena, &o, why);
    if (e != ERR_OK) return why_wrap(why, e, "line %llu", (ull)v->line);
    if (!text_get(o, "what", &what)) return no_export(v, why, "this is no line of an export (--format jsonl)");
    if (!v->has_begun && !slice_eq(what, SLICE("export")))
        return no_export(v, why, "the first line of an export is missing");
    if (v->has_ended) return corrupt(v, why, "there is more after the end");
    if (slice_eq(what, SLICE("record"))) return on_record(v, o, line, why);
    if (slice_eq(what, SLICE("batch"))) return on_batch(v, o, why);
    if (slice_eq(what, SLICE("batches"))) return on_batches(v, o, why);
    if (slice_eq(what, SLICE("checkpoint"))) return on_checkpoint(v, o, why);
    if (slice_eq(what, SLICE("export"))) return on_export(v, o, why);
    if (!slice_eq(what, SLICE("end"))) return no_export(v, why, "this kind of line is not known");
    uint64_t last = 0;
    v->has_ended = true;
    if (u64_get(o, "last_lsn", &last) && last + 1 == v->next_lsn && v->shown.count == 0) return ERR_OK;
    return corrupt(v, why, "it does not end where it says");
}

enum err evidence_end(struct evidence *v, struct why *why) {
    if (v->line == 0) return why_set(why, ERR_INVALID, "the export is empty");
    if (!v->has_ended && !v->is_stream)
        return why_set(why, ERR_CORRUPT, "the export was cut: its last line is missing");
    return ERR_OK;
}
