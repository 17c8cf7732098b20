/* schedule_slots.c: see schedule_slots.h. */
#include "schedule_slots.h"

#include "server_impl.h"

#define TURN_MAX 32u /* schedules of one pass: reading a zone takes some ten microseconds */

static void init(struct shard *h, void *own) {
    struct schedule_slots *x = own;
    (void)h;
    vec_init(&x->wanted, sizeof(struct slots_effect));
}

static void fini(struct shard *h, void *own) {
    struct schedule_slots *x = own;
    (void)h;
    vec_fini(&x->wanted);
}

static void effect(struct shard *h, void *own, const struct effect *e) {
    struct schedule_slots *x = own;
    (void)h;
    *(struct slots_effect *)vec_push(&x->wanted) = e->as.slots;
}

enum err schedule_slots_read(struct server *s, struct slice expression, struct slice calendar, struct arena *arena,
                             struct recur_plan *ret, struct why *why) {
    enum err e = recur_read(expression, &ret->recur, why);
    if (e == ERR_OK) e = day_calendar_read(calendar, arena, &ret->days, why);
    if (e == ERR_OK) e = recur_plan_check(ret, why);
    return e == ERR_OK ? zone_book_find(&s->zones, ret->recur.zone, &ret->zone, why) : e;
}

/* What the engine is told: slots, and beside them which of them stand for an excluded day. */
static void take_entries(const struct recur_entry *entries, uint32_t count, struct arena *arena,
                         struct cmd_schedule_slots *ret) {
    int64_t *slots = ARENA_ARRAY(arena, int64_t, count + 1);
    struct cmd_slots_excluded *days = ARENA_ARRAY(arena, struct cmd_slots_excluded, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = entries[i].at_ms;
        if (entries[i].excluded)
            days[ret->excluded_count++] =
                (struct cmd_slots_excluded){entries[i].at_ms, entries[i].first_ms, entries[i].count};
    }
    ret->slots = slots;
    ret->slot_count = count;
    ret->excluded = days;
}

static void answer(struct server *s, const struct slots_effect *want) {
    struct schedule_view v;
    struct recur_plan plan = {0};
    struct why why = {{0}};
    if (!view_schedule_revision(server_state(s), want->revision, &v)) return; /* changed or gone since */
    if (schedule_slots_read(s, v.expression, v.calendar, &s->arena, &plan, &why) != ERR_OK) {
        server_log(s, SERVER_WARN, "schedule", "%.*s does not fire: %s", SLICE_FMT(v.name), why.text);
        return;
    }
    struct recur_entry *entries = ARENA_ARRAY(&s->arena, struct recur_entry, want->most);
    /* Of a schedule that ended while nobody looked the last slots before its end count, not those before now. */
    int64_t now_ms = engine_now(server_shard(s)->engine).ms;
    if (now_ms > want->until_ms) now_ms = want->until_ms;
    struct recur_slots got = recur_plan_slots(&plan, want->after_ms, now_ms, want->most, entries);
    while (got.count > 0 && entries[got.count - 1].at_ms > want->until_ms) {
        got.count--;
        got.last = true;
    }
    if (got.count == 0) got.earlier = 0;
    struct command cmd = {.kind = CMD_SCHEDULE_SLOTS};
    cmd.as.schedule_slots = (struct cmd_schedule_slots){
        .revision = want->revision, .after_ms = want->after_ms, .earlier = got.earlier, .last = got.last};
    take_entries(entries, got.count, &s->arena, &cmd.as.schedule_slots);
    server_command(s, (conn_id){0}, 0, &cmd);
}

static void step(struct shard *h, void *own) {
    struct schedule_slots *x = own;
    struct server *s = h->server;
    struct vec *wanted = &x->wanted;
    uint32_t count = wanted->count < TURN_MAX ? wanted->count : TURN_MAX;
    for (uint32_t i = 0; i < count && !engine_is_full(server_shard(s)->engine); i++) {
        arena_reset(&s->arena);
        struct slots_effect want = *(struct slots_effect *)vec_at(wanted, --wanted->count);
        answer(s, &want);
    }
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct schedule_slots *x = own;
    return x->wanted.count > 0 ? h->server->now_ms : TIME_NEVER;
}

const struct server_part schedule_slots_part = {.name = "schedule_slots",
                                                .scope = PART_OF_SHARD,
                                                .bytes = sizeof(struct schedule_slots),
                                                .effects = EFFECT_BIT(EFFECT_SLOTS_WANTED),
                                                .init = init,
                                                .fini = fini,
                                                .step = step,
                                                .next_due = next_due,
                                                .effect = effect};
