/* history_rebuild.c: see history_rebuild.h. */
#include "history_rebuild.h"

#include <stdatomic.h>

#include "fold.h"
#include "flow_row.h"
#include "view_history.h"

struct history_rebuild {
    struct arena birth; /* holds this object */
    struct journal *reader; /* NULL = it has run */
    uint32_t shard;
    uint64_t upto;
    atomic_ullong at;
    struct history_sink *to;
    struct flow_row row;
    struct arena arena; /* of one part */
    struct zone_book zones;
};

struct history_rebuild *history_rebuild_new(struct journal *reader, uint32_t shard, uint64_t upto_lsn,
                                            struct zones *zones) {
    struct arena birth;
    arena_init(&birth, sizeof(struct history_rebuild) + 64, sizeof(struct history_rebuild) + 4096);
    struct history_rebuild *r = ARENA_NEW(&birth, struct history_rebuild);
    r->birth = birth;
    r->reader = reader;
    r->shard = shard;
    r->upto = upto_lsn;
    flow_row_init(&r->row);
    arena_init(&r->arena, 65536, (size_t)1 << 30);
    zone_book_init(&r->zones, zones);
    return r;
}

void history_rebuild_free(struct history_rebuild *r) {
    if (r == NULL) return;
    if (r->reader != NULL) r->reader->ops->close(r->reader);
    flow_row_fini(&r->row);
    arena_fini(&r->arena);
    zone_book_fini(&r->zones);
    struct arena birth = r->birth;
    arena_fini(&birth);
}

static enum err put_flow(struct history_rebuild *r, const struct engine *e, flow_id flow, struct why *why) {
    struct state_view l = {engine_state(e), r->shard, &r->arena, &r->zones};
    struct history_part part;
    struct history_row row;
    struct flow_view view;
    enum err err = ERR_OK;
    if (!view_flow(l.state, flow, &view)) return ERR_OK; /* it began, ended and left in one batch */
    flow_row_begin(&r->row, flow, engine_lsn(e));
    for (bool last = false; err == ERR_OK && !last;) {
        arena_reset(&r->arena);
        last = flow_row_part(&r->row, &l, &view, &part);
        err = r->to->put_part(r->to, &part, why);
    }
    if (err != ERR_OK) return err;
    flow_row_head(&r->row, &l, &view, &row);
    return r->to->put_row(r->to, &row, why);
}

/* Flows that this batch takes out of memory are whole before it. */
static enum err before(void *ctx, const struct engine *e, const struct batch *b, struct why *why) {
    struct history_rebuild *r = ctx;
    struct cursor c = cursor_of(b->records);
    enum record_kind kind;
    struct slice message;
    enum err err = r->to->is_wanted(r->to) ? ERR_OK : why_set(why, ERR_STATE, "the server is stopping");
    r->at = b->last_lsn;
    while (err == ERR_OK && cursor_left(&c) > 0 && record_pass(&c, &kind, &message)) {
        struct rec_forgotten rec;
        if (kind != REC_FORGOTTEN) continue;
        arena_reset(&r->arena);
        err = tlv_decode(record_desc(REC_FORGOTTEN), message, TLV_STRICT, &r->arena, &rec, why);
        if (err == ERR_OK) err = put_flow(r, e, (flow_id){rec.flow}, why);
    }
    return err;
}

enum err history_rebuild_run(void *ctx, struct history_sink *to, struct why *why) {
    struct history_rebuild *r = ctx;
    struct fold fold;
    r->to = to;
    enum err e = fold_follow(r->reader, r->upto, before, r, &fold, why);
    r->reader->ops->close(r->reader); /* here: what it read through is a megabyte */
    r->reader = NULL;
    if (e == ERR_NOT_FOUND) return ERR_OK; /* an empty journal has no old flows */
    if (e == ERR_OK) engine_free(fold.engine);
    return e;
}

uint64_t history_rebuild_at(const struct history_rebuild *r) {
    return r->at;
}

uint64_t history_rebuild_upto(const struct history_rebuild *r) {
    return r->upto;
}
