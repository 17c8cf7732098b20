/* proof_journal.c: see proof_journal.h.
 *
 * Checking reads the journal twice. First only for its checkpoints: of a journal that is older than they are, the first
 * ones stand far behind what they cover. Then every record is hashed, and the chain is compared where a checkpoint says
 * what it is:
 *
 *     LSN      1 ......... 40 41 ......... 90 91 92 ...
 *     chain    └── 1: 40 ───┘ └── 2: 90 ───┘     │
 *     records             (1 is record 45)   (2 is record 92)
 *
 * A chain that does not fit says that something between two checkpoints is not what was signed, and not what: a hash
 * tells no more. */
#include "proof_journal.h"

#include <inttypes.h>
#include <string.h>

#include "arena.h"
#include "panic.h"
#include "record.h"
#include "vec.h"

#define HASHES_BYTES_MAX ((size_t)1 << 28)
#define PIECES 64u
#define TRIES 8u /* each follows a move of a whole piece, which takes longer than to read some */

typedef unsigned long long ull;

/* ---- where reading may begin ---- */

/* The first LSN that the journal still has; 0 = it is empty. */
static enum err first_lsn(struct journal *j, uint64_t *ret, struct why *why) {
    uint64_t at[PIECES], upto = UINT64_MAX, first = 0;
    uint32_t count = 0;
    do {
        enum err e = j->ops->pieces(j, upto, at, PIECES, &count, why);
        if (e != ERR_OK) return e;
        if (count > 0) first = at[count - 1];
        upto = first - 1;
    } while (count == PIECES && first > 1);
    *ret = first;
    return ERR_OK;
}

/* Batches from *next_lsn on; `each` moves that on. ERR_NOT_FOUND: a piece has moved since it was found, into the
 * archive or there: it goes on where it was. */
static enum err read_on(struct journal *j, const uint64_t *next_lsn, uint64_t upto_lsn, journal_batch_fn each,
                        void *ctx, struct why *why) {
    enum err e = ERR_OK;
    for (uint32_t tries = 0; *next_lsn <= upto_lsn && tries < TRIES; tries++) {
        uint64_t before = *next_lsn;
        e = j->ops->read(j, before, upto_lsn, each, ctx, why);
        if (e != ERR_NOT_FOUND) return e;
        if (*next_lsn > before) tries = 0;
    }
    return e;
}

/* ---- the next checkpoint ---- */

struct proof_making {
    const struct proof_next *n;
    struct checkpoint next;
    uint64_t next_lsn;
    struct buf hashes;
    uint64_t bytes;
    bool is_full;
};

static enum err make_batch(void *ctx, const struct batch *b, struct why *why) {
    struct proof_making *m = ctx;
    uint8_t hash[DIGEST_BYTES];
    if (atomic_load(m->n->stop)) return why_set(why, ERR_STATE, "it is no longer wanted");
    m->is_full = b->last_lsn > m->n->upto_lsn || (m->bytes > 0 && m->bytes + b->records.len > m->n->bytes_max);
    if (m->is_full) return ERR_STATE;
    ENSURE(b->first_lsn == m->next_lsn);
    buf_clear(&m->hashes);
    enum err e = proof_hashes(m->n->hasher, b, &m->hashes, why);
    if (e != ERR_OK) return e;
    proof_batch(m->n->hasher, b, buf_slice(&m->hashes), hash);
    proof_extend(m->n->hasher, m->next.chain, hash);
    m->next.upto_lsn = b->last_lsn;
    m->next_lsn = b->last_lsn + 1;
    m->bytes += b->records.len;
    return ERR_OK;
}

enum err proof_next(const struct proof_next *n, const struct checkpoint *last, struct checkpoint *ret,
                    struct why *why) {
    struct proof_making m = {.n = n, .next = {.number = last->number + 1, .from_lsn = last->upto_lsn + 1}};
    enum err e = ERR_OK;
    if (last->number == 0) {
        e = first_lsn(n->reader, &m.next.from_lsn, why);
        proof_begin(n->hasher, n->shard, m.next.from_lsn, m.next.chain);
    } else {
        memcpy(m.next.chain, last->chain, sizeof m.next.chain);
    }
    if (e == ERR_OK && (m.next.from_lsn == 0 || m.next.from_lsn > n->upto_lsn))
        e = why_set(why, ERR_STATE, "nothing was written since checkpoint %llu", (ull)last->number);
    if (e != ERR_OK) return e;
    buf_init(&m.hashes, HASHES_BYTES_MAX);
    m.next_lsn = m.next.from_lsn;
    e = read_on(n->reader, &m.next_lsn, n->upto_lsn, make_batch, &m, why);
    buf_fini(&m.hashes);
    if (e == ERR_STATE && m.is_full) e = ERR_OK;
    if (e == ERR_OK && m.next.upto_lsn == 0) e = why_set(why, ERR_STATE, "no batch ends there yet");
    if (e == ERR_OK) *ret = m.next;
    return e;
}

/* ---- finding checkpoints ---- */

struct checking {
    const struct proof_check *p;
    struct proof_report report;
    struct arena arena; /* of one record */
    struct vec found;   /* struct checkpoint, by number */
    struct buf hashes;
    uint8_t chain[DIGEST_BYTES];
    uint64_t next_lsn; /* the first record of the next batch */
    uint32_t at;       /* the next of those that were found */
    bool has_shard;
};

static struct checkpoint *found_at(const struct checking *c, uint32_t i) {
    return vec_at(&c->found, i);
}

static bool is_stopped(const struct checking *c) {
    return c->p->stop != NULL && atomic_load(c->p->stop);
}

static enum err found_add(struct checking *c, uint64_t lsn, wall_time time, const struct rec_checkpoint *r,
                          struct why *why) {
    const struct checkpoint *before = c->found.count > 0 ? found_at(c, c->found.count - 1) : NULL;
    struct checkpoint got = {r->number, lsn, r->from_lsn, r->upto_lsn, time, {0}, {0}, {0}};
    if (r->chain.len != sizeof got.chain || r->key.len != sizeof got.key || r->signature.len != sizeof got.signature)
        return why_set(why, ERR_CORRUPT, "record %llu: this checkpoint has no hash, key or signature", (ull)lsn);
    memcpy(got.chain, r->chain.ptr, sizeof got.chain);
    memcpy(got.key, r->key.ptr, sizeof got.key);
    memcpy(got.signature, r->signature.ptr, sizeof got.signature);
    if (before != NULL && (got.number != before->number + 1 || got.from_lsn != before->upto_lsn + 1))
        return why_set(why, ERR_CORRUPT, "record %llu: checkpoint %llu does not follow checkpoint %llu", (ull)lsn,
                       (ull)got.number, (ull)before->number);
    if (got.from_lsn == 0 || got.upto_lsn < got.from_lsn || got.upto_lsn >= lsn)
        return why_set(why, ERR_CORRUPT, "record %llu: checkpoint %llu covers what was not written yet", (ull)lsn,
                       (ull)got.number);
    if (!proof_is_signed(c->p->checker, c->report.shard, &got))
        return why_set(why, ERR_CORRUPT, "record %llu: the signature of checkpoint %llu is not right", (ull)lsn,
                       (ull)got.number);
    if (c->p->key != NULL && memcmp(c->p->key, got.key, sizeof got.key) != 0)
        return why_set(why, ERR_CORRUPT, "record %llu: checkpoint %llu is signed by another key than the given one",
                       (ull)lsn, (ull)got.number);
    c->report.keys += before == NULL || memcmp(before->key, got.key, sizeof got.key) != 0;
    *(struct checkpoint *)vec_push(&c->found) = got;
    return ERR_OK;
}

static enum err find_in_batch(void *ctx, const struct batch *b, struct why *why) {
    struct checking *c = ctx;
    struct cursor at = cursor_of(b->records);
    enum err e = ERR_OK;
    if (is_stopped(c)) return why_set(why, ERR_STATE, "it is no longer wanted");
    if (!c->has_shard) c->report.shard = b->shard;
    c->has_shard = true;
    for (uint64_t lsn = b->first_lsn; e == ERR_OK && lsn <= b->last_lsn; lsn++) {
        struct cursor one = at;
        enum record_kind kind;
        struct slice message;
        struct record r;
        if (!record_pass(&at, &kind, &message))
            return why_set(why, ERR_CORRUPT, "record %llu: its bytes are no record", (ull)lsn);
        if (kind != REC_CHECKPOINT) continue;
        arena_reset(&c->arena);
        e = record_decode(&one, &c->arena, &r, why);
        if (e == ERR_OK) e = found_add(c, lsn, b->time, &r.body.as_REC_CHECKPOINT, why);
    }
    c->report.last_lsn = b->last_lsn;
    c->next_lsn = b->last_lsn + 1;
    if (c->p->step != NULL) c->p->step(c->p->ctx, b->last_lsn / 4, 0);
    return e;
}

/* ---- what somebody kept elsewhere ---- */

static enum err since_check(const struct checking *c, struct why *why) {
    const struct checkpoint *kept = c->p->since;
    if (kept == NULL) return ERR_OK;
    if (!proof_is_signed(c->p->checker, c->report.shard, kept))
        return why_set(why, ERR_INVALID, "the signature of the given checkpoint %llu is not right", (ull)kept->number);
    for (uint32_t i = 0; i < c->found.count; i++) {
        const struct checkpoint *own = found_at(c, i);
        if (own->number != kept->number) continue;
        if (own->upto_lsn == kept->upto_lsn && memcmp(own->chain, kept->chain, sizeof own->chain) == 0) return ERR_OK;
        return why_set(why, ERR_CORRUPT,
                       "record %llu: checkpoint %llu is another one than the given: records up to %llu were replaced",
                       (ull)own->lsn, (ull)own->number, (ull)own->upto_lsn);
    }
    if (c->found.count > 0 && kept->number < found_at(c, 0)->number)
        return why_set(why, ERR_NOT_FOUND, "the archive no longer has checkpoint %llu; its first one is %llu",
                       (ull)kept->number, (ull)found_at(c, 0)->number);
    return why_set(why, ERR_CORRUPT,
                   "the journal ends at record %llu, before checkpoint %llu, which covers records up to %llu: its end "
                   "is missing",
                   (ull)c->report.last_lsn, (ull)kept->number, (ull)kept->upto_lsn);
}

/* ---- hashing ---- */

/* Where the chain is known and can be followed from: the beginning, or the first checkpoint whose successor is
 * there. */
static enum err chain_begin(struct checking *c, uint64_t first, struct why *why) {
    if (c->found.count == 0) return ERR_OK;
    const struct checkpoint *one = found_at(c, 0);
    if (one->number == 1 && one->from_lsn >= first) {
        c->report.is_whole = true;
        c->next_lsn = one->from_lsn;
        proof_begin(c->p->hasher, c->report.shard, one->from_lsn, c->chain);
        return ERR_OK;
    }
    while (c->at < c->found.count && found_at(c, c->at)->upto_lsn + 1 < first) c->at++;
    if (c->at == c->found.count)
        return why_set(why, ERR_CORRUPT, "the journal begins with record %llu, after all that its checkpoints cover",
                       (ull)first);
    c->next_lsn = found_at(c, c->at)->upto_lsn + 1;
    memcpy(c->chain, found_at(c, c->at)->chain, sizeof c->chain);
    c->at++;
    return ERR_OK;
}

static enum err hash_batch(void *ctx, const struct batch *b, struct why *why) {
    struct checking *c = ctx;
    uint8_t hash[DIGEST_BYTES];
    if (is_stopped(c)) return why_set(why, ERR_STATE, "it is no longer wanted");
    const struct checkpoint *next = found_at(c, c->at);
    if (b->first_lsn != c->next_lsn || b->last_lsn > next->upto_lsn)
        return why_set(why, ERR_CORRUPT, "record %llu: no batch ends with record %llu, as checkpoint %llu says",
                       (ull)b->first_lsn, (ull)next->upto_lsn, (ull)next->number);
    buf_clear(&c->hashes);
    enum err e = proof_hashes(c->p->hasher, b, &c->hashes, why);
    if (e != ERR_OK) return e;
    proof_batch(c->p->hasher, b, buf_slice(&c->hashes), hash);
    proof_extend(c->p->hasher, c->chain, hash);
    c->next_lsn = b->last_lsn + 1;
    if (c->p->step != NULL) c->p->step(c->p->ctx, c->report.last_lsn / 4 + b->last_lsn / 4 * 3, c->report.last_lsn);
    if (b->last_lsn < next->upto_lsn) return ERR_OK;
    if (memcmp(c->chain, next->chain, sizeof c->chain) != 0)
        return why_set(why, ERR_CORRUPT,
                       "record %llu: something in records %llu to %llu was changed after checkpoint %llu was signed",
                       (ull)next->from_lsn, (ull)next->from_lsn, (ull)next->upto_lsn, (ull)next->number);
    c->at++;
    return ERR_OK;
}

static enum err check(struct checking *c, struct why *why) {
    struct journal *j = c->p->reader;
    uint64_t first = 0;
    enum err e = first_lsn(j, &first, why);
    if (e == ERR_OK && first == 0) return why_set(why, ERR_NOT_FOUND, "the journal is empty");
    c->next_lsn = first;
    if (e == ERR_OK) e = read_on(j, &c->next_lsn, UINT64_MAX, find_in_batch, c, why);
    if (e == ERR_OK) e = since_check(c, why);
    if (e == ERR_OK) e = chain_begin(c, first, why);
    if (e != ERR_OK) return e;
    c->report.from_lsn = c->found.count > 0 ? c->next_lsn : first;
    c->report.checkpoints = c->found.count;
    if (c->found.count == 0) return ERR_OK;
    c->report.last = *found_at(c, c->found.count - 1);
    if (c->at < c->found.count)
        e = read_on(j, &c->next_lsn, c->report.last.upto_lsn, hash_batch, c, why);
    if (e == ERR_OK && c->at < c->found.count)
        e = why_set(why, ERR_CORRUPT, "the journal ends before record %llu, which checkpoint %llu covers",
                    (ull)found_at(c, c->at)->upto_lsn, (ull)found_at(c, c->at)->number);
    if (e == ERR_OK) c->report.upto_lsn = c->report.last.upto_lsn;
    return e;
}

enum err proof_check(const struct proof_check *p, struct proof_report *ret, struct why *why) {
    struct checking c = {.p = p};
    arena_init(&c.arena, 4096, (size_t)1 << 26);
    buf_init(&c.hashes, HASHES_BYTES_MAX);
    vec_init(&c.found, sizeof(struct checkpoint));
    enum err e = check(&c, why);
    arena_fini(&c.arena);
    buf_fini(&c.hashes);
    vec_fini(&c.found);
    if (e == ERR_OK) *ret = c.report;
    return e;
}
