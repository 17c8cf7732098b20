/* simschedule.c: see simschedule.h. */
#include "simschedule.h"

#include <stdio.h>
#include <string.h>

#include "panic.h"
#include "world.h"

struct simschedule_series simschedule_parse(struct slice expression) {
    char text[96] = "";
    long every = 0, anchor = 0;
    ENSURE(expression.len < sizeof text);
    memcpy(text, expression.ptr, expression.len);
    ENSURE(sscanf(text, "every %ld from %ld", &every, &anchor) == 2 && every > 0);
    return (struct simschedule_series){every, anchor};
}

static int64_t number_after(const struct simschedule_series *s, int64_t time_ms) {
    return time_ms < s->anchor_ms ? 1 : (time_ms - s->anchor_ms) / s->every_ms + 1;
}

/* Slots are counted: the first after `after`, the first that is still to come, the first past the end. */
static void work_out(const struct simschedule_series *series, const struct slots_effect *wanted, uint32_t most,
                     int64_t now_ms, struct msg *m) {
    struct cmd_schedule_slots *c = &m->cmd.as.schedule_slots;
    int64_t first = number_after(series, wanted->after_ms);
    int64_t end = wanted->until_ms == TIME_NEVER ? INT64_MAX : number_after(series, wanted->until_ms);
    int64_t to_come = number_after(series, now_ms);
    if (to_come > end) to_come = end;
    if (to_come - first > (int64_t)most) {
        c->earlier = (uint64_t)(to_come - first - (int64_t)most);
        first = to_come - (int64_t)most;
    }
    int64_t *slots = ARENA_ARRAY(&m->arena, int64_t, most);
    for (; first < end && c->slot_count < most; first++)
        slots[c->slot_count++] = series->anchor_ms + first * series->every_ms;
    c->slots = slots;
    c->last = first >= end;
    c->revision = wanted->revision;
    c->after_ms = wanted->after_ms;
}

void simschedule_wanted(struct serverhost *s, const struct slots_effect *wanted) {
    struct schedule_view view;
    if (!view_schedule_revision(engine_state(s->engine), wanted->revision, &view)) return;
    if (!s->w->quiet && rng_below(&s->rng, 8) == 0) return; /* the calendar is not in the mood */
    struct simschedule_series series = simschedule_parse(view.expression);
    /* a short list must still hold what may be caught up */
    uint32_t least = (uint32_t)s->w->plan.limits.schedule_catch_up_max + 1;
    uint32_t most = wanted->most;
    if (most > least && rng_below(&s->rng, 2)) most = least + rng_below(&s->rng, most - least);
    struct msg *m = simmsg_new(&s->w->msgs, NET_SERVER);
    m->cmd.kind = CMD_SCHEDULE_SLOTS;
    work_out(&series, wanted, most, s->last_ms, m);
    WORLD_NOTE(s->w, wanted->revision, wanted->after_ms, m->cmd.as.schedule_slots.slot_count,
               "server: %u slots of %.*s after %ld, %lu left out", m->cmd.as.schedule_slots.slot_count,
               SLICE_FMT(view.name), (long)wanted->after_ms, (unsigned long)m->cmd.as.schedule_slots.earlier);
    serverhost_door(s, m);
    simmsg_unref(&s->w->msgs, m);
}
