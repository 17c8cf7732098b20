/* simram.c: see simram.h. */
#include "simram.h"

#include "buf.h"
#include "fold.h"
#include "panic.h"

#define SNAPSHOT_BYTES_MAX ((size_t)256 << 20)
#define SKIP_MAX 4u

void simram_arm(struct ram *r, struct rng *rng, enum ram_fault *ret) {
    static const enum ram_fault faults[] = {RAM_FENCED,       RAM_UNKNOWN_KEPT, RAM_UNKNOWN_LATE,
                                            RAM_UNKNOWN_LOST, RAM_FULL,         RAM_FAILED};
    enum ram_fault what = faults[rng_below(rng, sizeof faults / sizeof faults[0])];
    uint32_t skip = rng_below(rng, SKIP_MAX);
    if (ram_is_armed(r)) return;
    ram_arm(r, what, skip);
    *ret = what;
}

void simram_gone(struct ram *r) {
    struct journal *j = NULL;
    struct journal_head head;
    struct why why;
    ENSURE(ram_open(r, &j, &why) == ERR_OK);
    ENSURE(j->ops->acquire(j, 1, &head, &why) == ERR_OK);
    j->ops->close(j);
}

/* ---- compaction ---- */

struct snapshot_bytes {
    struct byte_source source; /* first: its address comes back */
    struct buf bytes;
    size_t given;
};

static enum err piece_in(void *ctx, struct slice piece, struct why *why) {
    struct snapshot_bytes *x = ctx;
    buf_put_slice(&x->bytes, piece);
    return x->bytes.full ? why_set(why, ERR_LIMIT, "snapshot too large") : ERR_OK;
}

static enum err piece_out(struct byte_source *source, void *to, size_t len, size_t *ret, struct why *why) {
    struct snapshot_bytes *x = (struct snapshot_bytes *)source;
    size_t left = x->bytes.len - x->given;
    (void)why;
    *ret = left < len ? left : len;
    if (*ret > 0) memcpy(to, x->bytes.at + x->given, *ret);
    x->given += *ret;
    return ERR_OK;
}

static enum err snapshot_put(struct journal *j, const struct fold *f, struct why *why) {
    struct snapshot_bytes x = {.source = {piece_out}};
    buf_init(&x.bytes, SNAPSHOT_BYTES_MAX);
    enum err e = engine_snapshot(f->engine, piece_in, &x, why);
    if (e == ERR_OK) e = j->ops->snapshot_put(j, &f->info, &x.source, why);
    buf_fini(&x.bytes);
    return e;
}

enum err simram_fold(struct ram *r, uint64_t lsn, uint64_t *ret_lsn, struct why *why) {
    struct journal *j = NULL;
    struct fold f = {0};
    *ret_lsn = 0;
    if (lsn == 0) return ERR_OK;
    enum err e = ram_open(r, &j, why);
    if (e != ERR_OK) return e;
    e = fold_run(j, lsn, &f, why);
    if (e == ERR_OK && f.batch_count > 0) e = snapshot_put(j, &f, why);
    if (e == ERR_OK) *ret_lsn = f.info.lsn;
    engine_free(f.engine);
    j->ops->close(j);
    return e;
}
