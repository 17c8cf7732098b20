/* event_replay.c: see event_replay.h. */
#include "event_replay.h"

#include "event_view.h"
#include "fold.h"
#include "panic.h"
#include "view.h"

#define OUT_BYTES 65536u
#define OUT_BYTES_MAX ((size_t)1 << 30) /* one record may have a million events */

struct event_replay {
    struct arena birth; /* holds this object */
    struct journal *reader; /* the caller's */
    struct event_replay_spec spec;
    struct byte_sink *to;
    struct fold fold;
    bool begun;
    uint32_t told;
    struct buf out;
    struct buf item;
    struct arena words; /* of one event */
};

struct event_replay *event_replay_new(struct journal *reader, const struct event_replay_spec *spec,
                                      struct byte_sink *to) {
    struct arena birth;
    arena_init(&birth, sizeof(struct event_replay) + 64, sizeof(struct event_replay) + 4096);
    struct event_replay *r = ARENA_NEW(&birth, struct event_replay);
    r->birth = birth;
    r->reader = reader;
    r->spec = *spec;
    r->to = to;
    buf_init(&r->out, OUT_BYTES_MAX);
    buf_init(&r->item, EVENT_REPLAY_ITEM_BYTES_MAX);
    arena_init(&r->words, 4096, EVENT_REPLAY_ITEM_BYTES_MAX);
    return r;
}

void event_replay_free(struct event_replay *r) {
    if (r->begun) engine_free(r->fold.engine);
    buf_fini(&r->out);
    buf_fini(&r->item);
    arena_fini(&r->words);
    struct arena birth = r->birth;
    arena_fini(&birth);
}

/* ---- out ---- */

static void put_item(struct event_replay *r, enum event_replay_kind kind) {
    ENSURE(!r->item.full);
    buf_put_u32(&r->out, (uint32_t)r->item.len + 1);
    buf_put_u8(&r->out, (uint8_t)kind);
    buf_put_slice(&r->out, buf_slice(&r->item));
    buf_clear(&r->item);
}

static enum err flush(struct event_replay *r, struct why *why) {
    enum err e = r->out.full ? why_set(why, ERR_LIMIT, "a record with too many events") : ERR_OK;
    if (e == ERR_OK && r->out.len > 0) e = r->to->more(r->to, r->out.at, r->out.len, why);
    buf_clear(&r->out);
    return e;
}

enum err event_replay_fail(struct event_replay *r, const struct why *reason, struct why *why) {
    buf_clear(&r->item);
    buf_put_slice(&r->item, slice_str(reason->text));
    put_item(r, EVENT_REPLAY_FAILED);
    return flush(r, why);
}

/* ---- the beginning ---- */

/* A flow began after every state in which its number was not given out yet. */
static enum err begin_before_flow(struct event_replay *r, uint64_t upto, struct why *why) {
    for (;;) {
        enum err e = fold_begin(r->reader, upto, &r->fold, why);
        if (e != ERR_OK) return e;
        bool oldest = r->fold.info.lsn == 0 || r->fold.info.lsn > upto;
        if (oldest || view_flow_last(engine_state(r->fold.engine)) < r->spec.flow) return ERR_OK;
        upto = r->fold.info.lsn - 1;
        engine_free(r->fold.engine);
    }
}

static bool has_gap(const struct event_replay *r) {
    uint64_t lsn = r->fold.info.lsn;
    if (lsn == 0) return false;
    if (r->spec.after.lsn > 0 || r->spec.flow == 0) return position_is_after(position_end_of(lsn), r->spec.after);
    return view_flow_last(engine_state(r->fold.engine)) >= r->spec.flow;
}

static enum err begin(struct event_replay *r, uint64_t upto, struct why *why) {
    struct position after = r->spec.after;
    uint64_t known = after.lsn == 0 || after.ordinal == UINT32_MAX ? after.lsn : after.lsn - 1;
    enum err e = r->spec.flow != 0 && after.lsn == 0 ? begin_before_flow(r, upto, why)
                                                     : fold_begin(r->reader, known, &r->fold, why);
    if (e != ERR_OK) return e;
    r->begun = true;
    if (!has_gap(r)) return ERR_OK;
    buf_put_u64(&r->item, r->fold.info.lsn);
    buf_put_u64(&r->item, r->fold.info.lsn - after.lsn);
    put_item(r, EVENT_REPLAY_GAP);
    return ERR_OK;
}

/* ---- telling ---- */

static bool is_enough(const struct event_replay *r) {
    return r->spec.most != 0 && r->told >= r->spec.most;
}

static void tell(void *ctx, const struct engine *e, const struct effect *event) {
    struct event_replay *r = ctx;
    struct event_view n;
    bool ours =
        r->spec.flow == 0 || (event->as.event.kind != EVENT_WORKER && event->as.event.job.flow.v == r->spec.flow);
    if (!ours || is_enough(r) || !position_is_after((struct position){event->lsn, event->ordinal}, r->spec.after))
        return;
    arena_reset(&r->words);
    struct state_view l = {engine_state(e), r->fold.shard, &r->words, NULL};
    event_view_make(&l, event, &n);
    event_view_encode(&n, &r->item);
    put_item(r, EVENT_REPLAY_EVENT);
    r->told++;
}

static enum err apply(void *ctx, struct engine *e, const struct batch *b, struct why *why) {
    struct event_replay *r = ctx;
    enum err err = engine_retell(e, b, tell, r, why);
    if (err == ERR_OK && r->out.len >= OUT_BYTES) err = flush(r, why);
    if (err == ERR_OK && is_enough(r)) err = why_set(why, ERR_LIMIT, "enough");
    return err;
}

enum err event_replay_upto(struct event_replay *r, uint64_t lsn, struct why *why) {
    enum err e = r->begun ? ERR_OK : begin(r, lsn, why);
    if (e == ERR_OK) e = fold_go_on(r->reader, &r->fold, lsn, apply, r, why);
    if (e != ERR_OK && !is_enough(r)) return e;
    buf_put_u64(&r->item, r->fold.info.lsn > lsn || is_enough(r) ? r->fold.info.lsn : lsn);
    put_item(r, EVENT_REPLAY_UPTO);
    return flush(r, why);
}

/* ---- in ---- */

static bool item_read(enum event_replay_kind kind, struct slice what, struct event_replay_item *ret) {
    struct cursor c = cursor_of(what);
    ret->kind = kind;
    switch (kind) {
    case EVENT_REPLAY_EVENT: return event_view_decode(what, &ret->notice);
    case EVENT_REPLAY_GAP:
        ret->lsn = cursor_u64(&c);
        ret->records = cursor_u64(&c);
        return !c.bad;
    case EVENT_REPLAY_UPTO: ret->lsn = cursor_u64(&c); return !c.bad;
    case EVENT_REPLAY_FAILED: ret->text = what; return true;
    case EVENT_REPLAY_KIND_COUNT: break;
    }
    return false;
}

enum event_replay_taken event_replay_take(struct slice *bytes, struct event_replay_item *ret) {
    struct cursor c = cursor_of(*bytes);
    if (bytes->len < 5) return EVENT_REPLAY_MORE;
    uint32_t length = cursor_u32(&c);
    if (length < 1 || length > EVENT_REPLAY_ITEM_BYTES_MAX) return EVENT_REPLAY_BAD;
    if (cursor_left(&c) < length) return EVENT_REPLAY_MORE;
    uint8_t kind = cursor_u8(&c);
    struct slice what = cursor_bytes(&c, length - 1);
    *bytes = slice_of(c.at, cursor_left(&c));
    return kind < EVENT_REPLAY_KIND_COUNT && item_read((enum event_replay_kind)kind, what, ret) ? EVENT_REPLAY_TAKEN
                                                                                                : EVENT_REPLAY_BAD;
}
