/* schedule_slots.c: see schedule_slots.h. */
#include "schedule_slots.h"

#include <stdio.h>

#include "server_impl.h"

#define TURN_MAX 32u /* schedules of one pass: reading a zone takes some ten microseconds */

void schedule_slots_init(struct server *s) {
    vec_init(&s->schedule_slots.wanted, sizeof(struct slots_effect));
}

void schedule_slots_fini(struct server *s) {
    vec_fini(&s->schedule_slots.wanted);
}

void schedule_slots_want(struct server *s, const struct slots_effect *e) {
    *(struct slots_effect *)vec_push(&s->schedule_slots.wanted) = *e;
}

bool schedule_slots_waits(const struct server *s) {
    return s->schedule_slots.wanted.count > 0;
}

enum err schedule_slots_read(struct server *s, struct slice expression, struct arena *arena, struct recur *ret,
                             const struct zone **ret_zone, struct why *why) {
    char name[ZONE_NAME_BYTES_MAX + 1];
    struct buf file;
    struct zone *zone = NULL;
    enum err e = recur_read(expression, ret, why);
    *ret_zone = zone_utc;
    if (e != ERR_OK || ret->zone.len == 0) return e;
    if (s->world.zones == NULL) return why_set(why, ERR_UNSUPPORTED, "no time zones are known here");
    snprintf(name, sizeof name, "%.*s", SLICE_FMT(ret->zone));
    buf_init(&file, ZONE_FILE_BYTES_MAX);
    e = s->world.zones->read(s->world.zones, name, &file, why);
    if (e == ERR_OK) e = zone_open(buf_slice(&file), arena, &zone, why);
    buf_fini(&file);
    if (e != ERR_OK) return e;
    *ret_zone = zone;
    return ERR_OK;
}

static void answer(struct server *s, const struct slots_effect *want) {
    struct schedule_view v;
    struct recur recur;
    const struct zone *zone;
    struct why why = {{0}};
    if (!view_schedule_revision(server_state(s), want->revision, &v)) return; /* changed or gone since */
    if (schedule_slots_read(s, v.expression, &s->arena, &recur, &zone, &why) != ERR_OK) {
        server_log(s, SERVER_WARN, "schedule", "%.*s does not fire: %s", SLICE_FMT(v.name), why.text);
        return;
    }
    int64_t *slots = ARENA_ARRAY(&s->arena, int64_t, want->most);
    /* Of a schedule that ended while nobody looked the last slots before its end count, not those before now. */
    int64_t now_ms = engine_now(s->engine).ms;
    if (now_ms > want->until_ms) now_ms = want->until_ms;
    struct recur_slots got = recur_slots(&recur, zone, want->after_ms, now_ms, want->most, slots);
    while (got.count > 0 && slots[got.count - 1] > want->until_ms) {
        got.count--;
        got.last = true;
    }
    if (got.count == 0) got.earlier = 0;
    struct command cmd = {.kind = CMD_SCHEDULE_SLOTS};
    cmd.as.schedule_slots = (struct cmd_schedule_slots){.revision = want->revision,
                                                        .after_ms = want->after_ms,
                                                        .slots = slots,
                                                        .slot_count = got.count,
                                                        .earlier = got.earlier,
                                                        .last = got.last};
    server_command(s, (conn_id){0}, 0, &cmd);
}

void schedule_slots_step(struct server *s) {
    struct vec *wanted = &s->schedule_slots.wanted;
    uint32_t count = wanted->count < TURN_MAX ? wanted->count : TURN_MAX;
    for (uint32_t i = 0; i < count && !engine_is_full(s->engine); i++) {
        arena_reset(&s->arena);
        struct slots_effect want = *(struct slots_effect *)vec_at(wanted, --wanted->count);
        answer(s, &want);
    }
}
