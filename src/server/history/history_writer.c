/* history_writer.c: see history_writer.h. */
#include "history_writer.h"

#include "history_rebuild.h"
#include "history_request.h"
#include "server_impl.h"
#include "view_history.h"

#define FLOWS_PER_PASS 64u /* so many small rows, or one part of a large one: a fraction of a millisecond */
#define REBUILD_AGAIN_MS 60000
#define REBUILD_TELL_MS 5000

struct row_due {
    uint64_t flow, lsn;
};

static void init(struct shard *h, void *own) {
    struct history_writer *p = own;
    struct server *s = h->server;
    if (s->world.history == NULL) return;
    vec_init(&p->queue, sizeof(struct row_due));
    flow_row_init(&p->row);
    arena_init(&p->arena, 65536, (size_t)1 << 30);
}

static void fini(struct shard *shard, void *own) {
    struct history_writer *p = own;
    struct server *s = shard->server;
    struct history *h = s->world.history;
    if (h == NULL) return;
    bool all = p->queue.count == 0 && p->seen_lsn <= engine_durable_lsn(shard->engine);
    h->ops->rebuild_end(h); /* before what its thread is using goes */
    if (shard->state == SHARD_LOST)
        h->ops->forget(h); /* rows of what may never have happened */
    else if (all && shard->state == SHARD_OWNED)
        h->ops->reach(h, p->seen_lsn); /* so that the next start has nothing to put again */
    vec_fini(&p->queue);
    flow_row_fini(&p->row);
    arena_fini(&p->arena);
    history_rebuild_free(p->rebuild);
}

/* A new file, or the first turn. When the shard was opened again, the history may still be writing: it says later where
 * it is. */
static bool has_to_start_over(const struct history_writer *p, const struct history_stats *now) {
    return now->lives != p->lives && now->waiting_bytes == 0;
}

/* Goes on from where the history says it is. */
static void start_over(struct server *s, const struct history_stats *now) {
    struct history_writer *p = history_writer_of(s);
    p->lives = now->lives;
    p->queue.count = p->at = 0;
    p->is_making = false;
    p->rebuild_ms = 0;
    p->seen_lsn = p->put_lsn = now->lsn;
    uint64_t had = view_history_lsn(server_state(s));
    if (now->lsn >= had || now->state == HISTORY_EMPTY) return;
    server_log(s, SERVER_ERROR, "history",
               "it ends at record %llu, but should contain record %llu: the missing part is rebuilt from the archive",
               (unsigned long long)now->lsn, (unsigned long long)had);
    s->world.history->ops->doubt(s->world.history);
    p->has_put = true; /* so that it says where it is, though no flow may end for long */
}

enum err history_writer_check(struct server *s, struct why *why) {
    struct history_stats now;
    if (s->world.history == NULL) return ERR_OK;
    s->world.history->ops->stats(s->world.history, &now);
    if (now.lsn <= engine_lsn(server_shard(s)->engine)) return ERR_OK;
    return why_set(why, ERR_CORRUPT,
                   "the journal ends at record %llu, but history/flows.db contains record %llu: part of the journal is "
                   "missing. Restore the directory journal; to continue without it, move the directory history away",
                   (unsigned long long)engine_lsn(server_shard(s)->engine), (unsigned long long)now.lsn);
}

static void note_due(void *ctx, flow_id flow, uint64_t lsn) {
    *(struct row_due *)vec_push(ctx) = (struct row_due){flow.v, lsn};
}

static void collect(struct server *s) {
    struct history_writer *p = history_writer_of(s);
    if (p->seen_lsn >= engine_lsn(server_shard(s)->engine)) return;
    view_each_ended(server_state(s), p->seen_lsn, note_due, &p->queue);
    p->seen_lsn = engine_lsn(server_shard(s)->engine);
}

/* Half a row: it goes on only while the flow is as it was. False: the turn of that flow is over. */
static bool is_current(struct server *s, const struct row_due *d, struct flow_view *ret) {
    uint64_t lsn = 0;
    return view_flow(server_state(s), (flow_id){d->flow}, ret) &&
           view_ended(server_state(s), (flow_id){d->flow}, &lsn) && lsn == d->lsn;
}

static void make_some(struct server *s, const struct flow_view *flow) {
    struct history_writer *p = history_writer_of(s);
    struct history *h = s->world.history;
    struct state_view l = {server_state(s), s->options.shard, &p->arena, &s->zones};
    struct history_part part;
    struct history_row row;
    if (!p->is_making) flow_row_begin(&p->row, flow->id, engine_lsn(server_shard(s)->engine));
    arena_reset(&p->arena);
    bool last = flow_row_part(&p->row, &l, flow, &part);
    h->ops->put_part(h, &part);
    p->is_making = !last;
    if (!last) return;
    flow_row_head(&p->row, &l, flow, &row);
    h->ops->put_row(h, &row);
    p->has_put = true;
}

/* What changed since it was queued runs again, or is queued once more behind. */
static void make_rows(struct server *s) {
    struct history_writer *p = history_writer_of(s);
    struct history *h = s->world.history;
    for (uint32_t i = 0; i < FLOWS_PER_PASS && p->at < p->queue.count && h->ops->room(h) > 0; i++) {
        struct flow_view flow;
        bool current = is_current(s, vec_at(&p->queue, p->at), &flow);
        if (current && flow.settling) break;
        if (current) make_some(s, &flow);
        if (current && p->is_making) break;
        p->is_making = false;
        p->at++;
    }
    if (p->at < p->queue.count) return;
    p->queue.count = p->at = 0;
}

static void reach(struct server *s) {
    struct history_writer *p = history_writer_of(s);
    uint64_t lsn = p->seen_lsn;
    if (p->at < p->queue.count) lsn = ((const struct row_due *)vec_at(&p->queue, p->at))->lsn - 1;
    if (lsn <= p->put_lsn || !p->has_put) return; /* without new rows there is nothing worth a transaction */
    p->put_lsn = lsn;
    p->has_put = false;
    s->world.history->ops->reach(s->world.history, lsn);
}

/* ---- making it anew ---- */

/* Flows in memory first: one that leaves it after this moment is in the history, one that left before is in what is
 * read now. */
static bool may_rebuild(const struct history_writer *p, const struct history_stats *now) {
    return now->state == HISTORY_EMPTY && p->queue.count == 0 && now->lsn >= p->put_lsn;
}

static void rebuild_turn(struct server *s, const struct history_stats *now) {
    struct journal *journal = server_shard(s)->journal;
    struct history_writer *p = history_writer_of(s);
    if (now->state == HISTORY_REBUILDING) {
        if (s->now_ms < p->told_ms + REBUILD_TELL_MS) return;
        p->told_ms = s->now_ms;
        server_log(s, SERVER_INFO, "history", "rebuilding from the archive: record %llu of %llu",
                   (unsigned long long)history_rebuild_at(p->rebuild),
                   (unsigned long long)history_rebuild_upto(p->rebuild));
        return;
    }
    if (!may_rebuild(p, now) || s->now_ms < p->rebuild_ms) return;
    p->rebuild_ms = s->now_ms + REBUILD_AGAIN_MS;
    p->told_ms = s->now_ms;
    struct journal *reader;
    struct why why;
    if (journal->ops->reader(journal, &reader, &why) != ERR_OK) {
        server_log(s, SERVER_WARN, "history", "cannot be rebuilt from the archive: %s", why.text);
        return;
    }
    history_rebuild_free(p->rebuild);
    uint64_t upto_lsn = engine_durable_lsn(server_shard(s)->engine);
    p->rebuild = history_rebuild_new(reader, s->options.shard, upto_lsn, s->world.zones);
    s->world.history->ops->rebuild(s->world.history, history_rebuild_run, p->rebuild);
}

/* ---- turns ---- */

static void noted(void *ctx, enum history_note level, const char *text) {
    static const enum server_level levels[] = {SERVER_INFO, SERVER_WARN, SERVER_ERROR};
    server_log(ctx, levels[level], "history", "%s", text);
}

static void step(struct shard *shard, void *own) {
    struct history_writer *p = own;
    struct server *s = shard->server;
    struct history *h = s->world.history;
    struct history_stats now;
    if (h == NULL) return;
    struct clock *c = s->world.clock;
    struct history_turn turn = {s->now_ms, c->wall(c).ms, engine_durable_lsn(server_shard(s)->engine), s->woken};
    struct history_taker to = {history_request_answered, noted, s};
    h->ops->stats(h, &now);
    if (has_to_start_over(p, &now)) start_over(s, &now);
    if (now.lives == p->lives) {
        collect(s);
        make_rows(s);
        reach(s);
    }
    h->ops->take(h, &turn, &to);
    h->ops->stats(h, &now);
    rebuild_turn(s, &now);
}

static int64_t next_due(const struct shard *shard, const void *own) {
    const struct history_writer *p = own;
    struct server *s = shard->server;
    struct history *h = s->world.history;
    if (h == NULL) return TIME_NEVER;
    struct history_stats now;
    h->ops->stats(h, &now);
    if (has_to_start_over(p, &now)) return s->now_ms;
    if (p->at < p->queue.count && h->ops->room(h) > 0) return s->now_ms;
    int64_t next = h->ops->next(h);
    if (may_rebuild(p, &now) && p->rebuild_ms < next) next = p->rebuild_ms;
    return next;
}

uint64_t history_writer_durable(struct server *s) {
    struct history_stats now;
    if (s->world.history == NULL) return UINT64_MAX;
    s->world.history->ops->stats(s->world.history, &now);
    return now.lives == history_writer_of(s)->lives ? now.lsn : 0;
}

bool history_writer_keeps_log(struct server *s, uint64_t flow) {
    struct history_stats now;
    if (s->world.history == NULL) return false;
    s->world.history->ops->stats(s->world.history, &now);
    return now.state != HISTORY_WHOLE || (now.oldest != 0 && flow >= now.oldest);
}

uint64_t history_writer_lag(struct server *s) {
    return s->world.history == NULL ? 0 : history_writer_of(s)->queue.count - history_writer_of(s)->at;
}

const struct server_part history_writer_part = {.name = "history_writer",
                                                .scope = PART_OF_SHARD,
                                                .bytes = sizeof(struct history_writer),
                                                .wakes = PART_WAKES_WITH_STATE | PART_WAKES_WITH_FDS,
                                                .init = init,
                                                .fini = fini,
                                                .step = step,
                                                .next_due = next_due};
