/* event_replay.c: see event_replay.h. */
#include "event_replay.h"

#include "fold.h"
#include "panic.h"
#include "view.h"

#define OUT_BYTES 65536u
#define OUT_BYTES_MAX ((size_t)1 << 30) /* one record may have a million events */

struct recount {
    struct arena birth; /* holds this object */
    struct disk *disk;
    struct recount_spec spec;
    struct byte_sink *to;
    struct fold fold;
    bool begun;
    uint32_t told;
    struct buf out;
    struct buf item;
    struct arena words; /* of one event */
};

struct recount *recount_new(struct disk *disk, const struct recount_spec *spec, struct byte_sink *to) {
    struct arena birth;
    arena_init(&birth, sizeof(struct recount) + 64, sizeof(struct recount) + 4096);
    struct recount *r = ARENA_NEW(&birth, struct recount);
    r->birth = birth;
    r->disk = disk;
    r->spec = *spec;
    r->to = to;
    buf_init(&r->out, OUT_BYTES_MAX);
    buf_init(&r->item, RECOUNT_ITEM_BYTES_MAX);
    arena_init(&r->words, 4096, RECOUNT_ITEM_BYTES_MAX);
    return r;
}

void recount_free(struct recount *r) {
    if (r->begun) engine_free(r->fold.engine);
    buf_fini(&r->out);
    buf_fini(&r->item);
    arena_fini(&r->words);
    struct arena birth = r->birth;
    arena_fini(&birth);
}

/* ---- out ---- */

static void put_item(struct recount *r, enum recount_kind kind) {
    ENSURE(!r->item.full);
    buf_put_u32(&r->out, (uint32_t)r->item.len + 1);
    buf_put_u8(&r->out, (uint8_t)kind);
    buf_put_slice(&r->out, buf_slice(&r->item));
    buf_clear(&r->item);
}

static enum err flush(struct recount *r, struct why *why) {
    enum err e = r->out.full ? why_set(why, ERR_LIMIT, "a record with too many events") : ERR_OK;
    if (e == ERR_OK && r->out.len > 0) e = r->to->more(r->to, r->out.at, r->out.len, why);
    buf_clear(&r->out);
    return e;
}

enum err recount_fail(struct recount *r, const struct why *reason, struct why *why) {
    buf_clear(&r->item);
    buf_put_slice(&r->item, slice_str(reason->text));
    put_item(r, RECOUNT_FAILED);
    return flush(r, why);
}

/* ---- the beginning ---- */

/* A flow began after every state in which its number was not given out yet. */
static enum err begin_before_flow(struct recount *r, uint64_t upto, struct why *why) {
    for (;;) {
        enum err e = fold_begin(r->disk, upto, &r->fold, why);
        if (e != ERR_OK) return e;
        bool oldest = r->fold.info.lsn == 0 || r->fold.info.lsn > upto;
        if (oldest || view_flow_last(engine_state(r->fold.engine)) < r->spec.flow) return ERR_OK;
        upto = r->fold.info.lsn - 1;
        engine_free(r->fold.engine);
    }
}

static bool has_gap(const struct recount *r) {
    uint64_t lsn = r->fold.info.lsn;
    if (lsn == 0) return false;
    if (r->spec.after.lsn > 0 || r->spec.flow == 0) return position_is_after(position_end_of(lsn), r->spec.after);
    return view_flow_last(engine_state(r->fold.engine)) >= r->spec.flow;
}

static enum err begin(struct recount *r, uint64_t upto, struct why *why) {
    struct position after = r->spec.after;
    uint64_t known = after.lsn == 0 || after.ordinal == UINT32_MAX ? after.lsn : after.lsn - 1;
    enum err e = r->spec.flow != 0 && after.lsn == 0 ? begin_before_flow(r, upto, why)
                                                     : fold_begin(r->disk, known, &r->fold, why);
    if (e != ERR_OK) return e;
    r->begun = true;
    if (!has_gap(r)) return ERR_OK;
    buf_put_u64(&r->item, r->fold.info.lsn);
    buf_put_u64(&r->item, r->fold.info.lsn - after.lsn);
    put_item(r, RECOUNT_GAP);
    return ERR_OK;
}

/* ---- telling ---- */

static bool is_enough(const struct recount *r) {
    return r->spec.most != 0 && r->told >= r->spec.most;
}

static void tell(void *ctx, const struct engine *e, const struct effect *event) {
    struct recount *r = ctx;
    struct notice n;
    bool ours =
        r->spec.flow == 0 || (event->as.event.kind != EVENT_WORKER && event->as.event.job.flow.v == r->spec.flow);
    if (!ours || is_enough(r) || !position_is_after((struct position){event->lsn, event->ordinal}, r->spec.after))
        return;
    arena_reset(&r->words);
    struct lens l = {engine_state(e), r->fold.shard, &r->words};
    notice_make(&l, event, &n);
    notice_encode(&n, &r->item);
    put_item(r, RECOUNT_NOTICE);
    r->told++;
}

static enum err apply(void *ctx, struct engine *e, const struct batch *b, struct why *why) {
    struct recount *r = ctx;
    enum err err = engine_retell(e, b, tell, r, why);
    if (err == ERR_OK && r->out.len >= OUT_BYTES) err = flush(r, why);
    if (err == ERR_OK && is_enough(r)) err = why_set(why, ERR_LIMIT, "enough");
    return err;
}

enum err recount_upto(struct recount *r, uint64_t lsn, struct why *why) {
    enum err e = r->begun ? ERR_OK : begin(r, lsn, why);
    if (e == ERR_OK) e = fold_go_on(r->disk, &r->fold, lsn, apply, r, why);
    if (e != ERR_OK && !is_enough(r)) return e;
    buf_put_u64(&r->item, r->fold.info.lsn > lsn || is_enough(r) ? r->fold.info.lsn : lsn);
    put_item(r, RECOUNT_UPTO);
    return flush(r, why);
}

/* ---- in ---- */

static bool item_read(enum recount_kind kind, struct slice what, struct recount_item *ret) {
    struct cursor c = cursor_of(what);
    ret->kind = kind;
    switch (kind) {
    case RECOUNT_NOTICE: return notice_decode(what, &ret->notice);
    case RECOUNT_GAP:
        ret->lsn = cursor_u64(&c);
        ret->records = cursor_u64(&c);
        return !c.bad;
    case RECOUNT_UPTO: ret->lsn = cursor_u64(&c); return !c.bad;
    case RECOUNT_FAILED: ret->text = what; return true;
    case RECOUNT_KIND_COUNT: break;
    }
    return false;
}

enum recount_taken recount_take(struct slice *bytes, struct recount_item *ret) {
    struct cursor c = cursor_of(*bytes);
    if (bytes->len < 5) return RECOUNT_MORE;
    uint32_t length = cursor_u32(&c);
    if (length < 1 || length > RECOUNT_ITEM_BYTES_MAX) return RECOUNT_BAD;
    if (cursor_left(&c) < length) return RECOUNT_MORE;
    uint8_t kind = cursor_u8(&c);
    struct slice what = cursor_bytes(&c, length - 1);
    *bytes = slice_of(c.at, cursor_left(&c));
    return kind < RECOUNT_KIND_COUNT && item_read((enum recount_kind)kind, what, ret) ? RECOUNT_TAKEN : RECOUNT_BAD;
}
