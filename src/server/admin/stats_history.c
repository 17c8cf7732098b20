/* stats_history.c: the counters of the server, minute by minute, for the last day. Charts have a past when they are
 * opened, also that of a night in which nobody looked.
 *
 * Nothing is counted here. A sample is what `stats` would have answered at that minute, of the numbers that charts
 * show; most of them come from the tally of the journal's records, so two samples tell what happened between them, in
 * whatever pace. The samples are in memory: a server that starts begins with the one that its journal left. */
#include "call.h"
#include "metric.h"
#include "requests.h"
#include "server_impl.h"

#define MINUTE_MS 60000
#define SAMPLES_MAX 1440u /* a day */

/* Names of stats (metric.c). What stands here is remembered; a name that is not there is 0. */
static const char *const kept[] = {
    "flows_ended_succeeded",
    "flows_ended_failed",
    "flows_ended_cancelled",
    "entered_succeeded",
    "entered_failed",
    "entered_timed_out",
    "entered_denied",
    "entered_quarantined",
    "retries",
    "queue_wait_ms_sum",
    "queue_wait_count",
    "run_ms_sum",
    "run_count",
    "jobs_ready",
    "jobs_dispatched",
    "jobs_running",
    "jobs_checking",
    "slots",
    "slots_used",
};
#define KEPT_COUNT (sizeof kept / sizeof kept[0])

struct minute {
    int64_t time_ms; /* wall */
    uint64_t numbers[KEPT_COUNT];
};

struct stats_history {
    struct vec minutes; /* of struct minute; when it is full, a ring */
    uint32_t oldest;
    int64_t due_ms; /* monotonic; the first is due at once */
};

extern const uint8_t stats_history_slot;

static void take(struct server *s, struct arena *arena, struct minute *ret) {
    struct sample now;
    sample_take(s, &now);
    struct tlv_list all = metric_stats(&now, arena);
    *ret = (struct minute){.time_ms = s->world.clock->wall(s->world.clock).ms};
    for (uint32_t i = 0; i < all.count; i++) {
        const struct wire_amount *a = (const struct wire_amount *)all.at + i;
        for (size_t k = 0; k < KEPT_COUNT; k++)
            if (slice_eq(a->name, slice_str(kept[k]))) ret->numbers[k] = a->amount;
    }
}

static struct minute *minute_new(struct stats_history *h) {
    if (h->minutes.count < SAMPLES_MAX) return vec_push(&h->minutes);
    struct minute *m = vec_at(&h->minutes, h->oldest);
    h->oldest = (h->oldest + 1) % SAMPLES_MAX;
    return m;
}

static void flush(struct shard *shard, void *own) {
    struct stats_history *h = own;
    struct server *s = shard->server;
    if (s->now_ms < h->due_ms) return;
    arena_reset(&s->frame_arena);
    take(s, &s->frame_arena, minute_new(h));
    h->due_ms = s->now_ms + MINUTE_MS;
}

static int64_t next_due(const struct shard *shard, const void *own) {
    (void)shard;
    return ((const struct stats_history *)own)->due_ms;
}

static void init(struct shard *shard, void *own) {
    struct stats_history *h = own;
    vec_init(&h->minutes, sizeof(struct minute));
    part_wake(shard, stats_history_slot);
}

static void fini(struct shard *shard, void *own) {
    (void)shard;
    vec_fini(&((struct stats_history *)own)->minutes);
}

static struct wire_sample shown(const struct minute *m, struct arena *arena) {
    struct wire_amount *list = ARENA_ARRAY(arena, struct wire_amount, KEPT_COUNT);
    for (size_t k = 0; k < KEPT_COUNT; k++) list[k] = (struct wire_amount){slice_str(kept[k]), m->numbers[k]};
    return (struct wire_sample){.time_ms = m->time_ms, .numbers = {list, KEPT_COUNT}};
}

HANDLER(req_stats_past) {
    const struct wire_stats_past *ask = r->message;
    const struct stats_history *h = shard_part(server_shard(s), stats_history_slot);
    struct wire_sample *list = ARENA_ARRAY(r->arena, struct wire_sample, h->minutes.count + 1);
    struct minute now;
    uint32_t count = 0;
    int64_t from_ms = ask->since_ms;
    for (uint32_t i = 0; i < h->minutes.count; i++) {
        const struct minute *m = vec_at(&h->minutes, (h->oldest + i) % h->minutes.count);
        if (m->time_ms < from_ms) continue;
        list[count++] = shown(m, r->arena);
        from_ms = m->time_ms + (int64_t)(ask->step_ms < INT32_MAX ? ask->step_ms : INT32_MAX);
    }
    take(s, r->arena, &now);
    list[count++] = shown(&now, r->arena);
    struct wire_numbers_past got = {.lsn = engine_lsn(server_shard(s)->engine), .samples = {list, count}};
    call_show(s, r, WIRE_NUMBERS_PAST, &got);
}

const struct server_part stats_history_part = {.name = "stats_history",
                                               .scope = PART_OF_SHARD,
                                               .bytes = sizeof(struct stats_history),
                                               .init = init,
                                               .fini = fini,
                                               .flush = flush,
                                               .next_due = next_due};
