/* model_schedule.c: see model_schedule.h. */
#include "model_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "model_cause.h"
#include "model_job.h"
#include "model_rules.h"
#include "panic.h"

struct model_waiting {
    int64_t slot_ms;
    bool replaces;
};

struct model_schedule {
    struct trace_schedule set; /* names are copies */
    bool paused;
    int64_t after_ms;
    uint64_t flow;
    uint64_t fired, missed, skipped, excluded;
    struct model_waiting *waiting;
    uint32_t waiting_count;
    struct model_line line; /* keys */
};

static struct trace_bytes copy(struct trace_bytes b) {
    uint8_t *at = malloc(b.len + 1u);
    REQUIRE(at != NULL);
    if (b.len) memcpy(at, b.at, b.len);
    return (struct trace_bytes){at, b.len};
}

static bool same(struct trace_bytes a, struct trace_bytes b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static struct model_schedule *find(const struct model *m, struct trace_bytes tenant, struct trace_bytes name) {
    for (uint32_t i = 0; i < m->schedule_count; i++) {
        struct model_schedule *s = &m->schedules[i];
        if (same(s->set.tenant, tenant) && same(s->set.name, name)) return s;
    }
    return NULL;
}

static void drop_names(struct model_schedule *s) {
    free((void *)(uintptr_t)s->set.tenant.at);
    free((void *)(uintptr_t)s->set.name.at);
    free((void *)(uintptr_t)s->set.zone.at);
    free((void *)(uintptr_t)s->set.key.at);
    free((void *)(uintptr_t)s->set.source.at);
    free((void *)(uintptr_t)s->set.source_name.at);
}

static void drop(struct model *m, struct model_schedule *s) {
    drop_names(s);
    free(s->waiting);
    model_line_clear(&s->line);
    *s = m->schedules[--m->schedule_count];
}

void model_schedules_free(struct model *m) {
    while (m->schedule_count > 0) drop(m, &m->schedules[0]);
    free(m->schedules);
}

/* ---- which slots there are ---- */

/* Number of slots up to and including a time. */
static int64_t slots_until(const struct trace_schedule *set, int64_t time_ms) {
    if (set->when != 0) return 0;
    if (set->end_ms && time_ms > set->end_ms) time_ms = set->end_ms;
    return time_ms <= set->anchor_ms ? 0 : (time_ms - set->anchor_ms) / set->every_ms;
}

static int64_t slots_between(const struct model_schedule *s, int64_t after_ms, int64_t until_ms) {
    return slots_until(&s->set, until_ms) - slots_until(&s->set, after_ms);
}

/* Of those the ones on the day that the calendar leaves out. */
static int64_t excluded_between(const struct model_schedule *s, int64_t after_ms, int64_t until_ms) {
    if (s->set.day_until_ms == 0) return 0;
    if (after_ms < s->set.day_from_ms - 1) after_ms = s->set.day_from_ms - 1;
    if (until_ms > s->set.day_until_ms - 1) until_ms = s->set.day_until_ms - 1;
    return until_ms > after_ms ? slots_between(s, after_ms, until_ms) : 0;
}

/* Slots that are to become something. */
static int64_t left_between(const struct model_schedule *s, int64_t after_ms, int64_t until_ms) {
    return slots_between(s, after_ms, until_ms) - excluded_between(s, after_ms, until_ms);
}

static bool is_slot(const struct model_schedule *s, int64_t time_ms) {
    return slots_between(s, time_ms - 1, time_ms) == 1;
}

static bool is_running(const struct model *m, const struct model_schedule *s, bool *ret_sure) {
    const struct model_flow *f = s->flow ? model_flow_find(m, s->flow) : NULL;
    *ret_sure = f == NULL || !f->stepped;
    return f != NULL && !f->forgotten && model_rules_flow_state(f) == TF_RUNNING;
}

/* ---- records ---- */

static bool set(struct model *m, const struct trace_schedule *r, char *text) {
    struct model_schedule *s = find(m, r->tenant, r->name);
    if (r->every_ms <= 0 && r->when == 0) return model_object(text, "a schedule without slots");
    if (s == NULL) {
        struct model_schedule *grown = realloc(m->schedules, (m->schedule_count + 1u) * sizeof *m->schedules);
        REQUIRE(grown != NULL);
        m->schedules = grown;
        s = &m->schedules[m->schedule_count++];
        *s = (struct model_schedule){0};
    } else {
        bool moved = s->set.every_ms != r->every_ms || s->set.anchor_ms != r->anchor_ms || s->paused ||
                     !same(s->set.zone, r->zone) || r->when != 0; /* a key has no slots to lose */
        if (!moved && r->after_ms > s->after_ms && r->after_ms != r->start_ms - 1)
            return model_object(text, "a schedule set anew loses slots: from %lld to %lld", (long long)s->after_ms,
                                (long long)r->after_ms);
        bool same_key = s->set.key_prefix == r->key_prefix && same(s->set.key, r->key);
        if (r->when == 0 || s->set.when == 0 || !same_key) model_line_clear(&s->line);
        drop_names(s);
    }
    s->set = *r;
    s->set.tenant = copy(r->tenant);
    s->set.name = copy(r->name);
    s->set.zone = copy(r->zone);
    s->set.key = copy(r->key);
    s->set.source = copy(r->source);
    s->set.source_name = copy(r->source_name);
    s->paused = r->paused;
    if (r->after_ms > s->after_ms) s->after_ms = r->after_ms;
    return true;
}

static void wait_at(struct model_schedule *s, struct model_waiting w, bool first) {
    struct model_waiting *grown = realloc(s->waiting, (s->waiting_count + 1u) * sizeof *grown);
    REQUIRE(grown != NULL);
    s->waiting = grown;
    uint32_t at = first ? 0 : s->waiting_count;
    memmove(&s->waiting[at + 1], &s->waiting[at], (s->waiting_count - at) * sizeof w);
    s->waiting[at] = w;
    s->waiting_count++;
}

static void take_at(struct model_schedule *s, uint32_t at) {
    s->waiting_count--;
    memmove(&s->waiting[at], &s->waiting[at + 1], (s->waiting_count - at) * sizeof *s->waiting);
}

/* What must hold for each slot that is dealt with, whatever becomes of it. */
static bool is_next(const struct model *m, const struct model_schedule *s, int64_t slot_ms, char *text) {
    if (s->paused) return model_object(text, "slot %lld of a paused schedule", (long long)slot_ms);
    if (slot_ms <= s->after_ms)
        return model_object(text, "slot %lld comes again, %lld was dealt with", (long long)slot_ms,
                            (long long)s->after_ms);
    if (slot_ms > m->time_ms) return model_object(text, "slot %lld comes before its time", (long long)slot_ms);
    if (!is_slot(s, slot_ms)) return model_object(text, "%lld is no slot", (long long)slot_ms);
    if (excluded_between(s, slot_ms - 1, slot_ms) > 0)
        return model_object(text, "slot %lld is on a day that the calendar leaves out", (long long)slot_ms);
    int64_t between = slots_between(s, s->after_ms, slot_ms);
    if (between != 1)
        return model_object(text, "%lld slots before %lld vanish", (long long)between - 1, (long long)slot_ms);
    return true;
}

static bool missed(const struct model *m, struct model_schedule *s, const struct trace_slot *r, char *text) {
    const struct trace_schedule *set = &s->set;
    if (s->paused) return model_object(text, "slots of a paused schedule are missed");
    if (r->slot_ms <= s->after_ms || r->slot_ms > m->time_ms) return model_object(text, "slots missed out of order");
    int64_t count = left_between(s, s->after_ms, r->slot_ms);
    if ((uint64_t)count != r->count)
        return model_object(text, "%llu slots missed, there were %lld", (unsigned long long)r->count, (long long)count);
    int64_t later = left_between(s, r->slot_ms, m->time_ms);
    int64_t room = (int64_t)set->waiting_max - s->waiting_count;
    if (room > set->catch_up_max) room = set->catch_up_max;
    if (set->catch_up == TP_ALL && later < room)
        return model_object(text, "%lld slots left out, %lld later ones caught up, there was room for %lld",
                            (long long)count, (long long)later, (long long)room);
    if (set->catch_up == TP_LAST && later < 1) return model_object(text, "the last slot was left out");
    if (set->catch_up == TP_NONE && later < 1 && r->slot_ms + set->late_ms >= m->time_ms)
        return model_object(text, "slot %lld was left out though it was on time", (long long)r->slot_ms);
    s->after_ms = r->slot_ms;
    s->missed += r->count;
    return true;
}

/* The rest of an excluded day, as one. */
static bool excluded(const struct model *m, struct model_schedule *s, const struct trace_slot *r, char *text) {
    if (s->paused) return model_object(text, "a paused schedule leaves out a day");
    if (r->slot_ms <= s->after_ms || r->slot_ms > m->time_ms) return model_object(text, "a day left out of order");
    int64_t all = slots_between(s, s->after_ms, r->slot_ms);
    if (!is_slot(s, r->slot_ms) || excluded_between(s, s->after_ms, r->slot_ms) != all || (uint64_t)all != r->count)
        return model_object(text, "%llu slots of a day left out up to %lld; there are %lld, excluded %lld",
                            (unsigned long long)r->count, (long long)r->slot_ms, (long long)all,
                            (long long)excluded_between(s, s->after_ms, r->slot_ms));
    if (excluded_between(s, r->slot_ms, INT64_MAX / 4) > 0) return model_object(text, "a day is left out in parts");
    s->after_ms = r->slot_ms;
    s->excluded += r->count;
    return true;
}

static void drop_replacing(struct model_schedule *s) {
    for (uint32_t i = s->waiting_count; i > 0; i--) {
        if (!s->waiting[i - 1].replaces) continue;
        take_at(s, i - 1);
        s->skipped++;
    }
}

static bool slot(struct model *m, struct model_schedule *s, const struct trace_slot *r, char *text) {
    if (r->what == TSLOT_MISSED) return missed(m, s, r, text);
    if (r->what == TSLOT_EXCLUDED) return excluded(m, s, r, text);
    if (!is_next(m, s, r->slot_ms, text)) return false;
    bool sure = false;
    bool busy = is_running(m, s, &sure) || s->waiting_count > 0;
    bool late = r->slot_ms + s->set.late_ms < m->time_ms;
    bool caught_up = late && s->set.catch_up == TP_ALL && r->what == TSLOT_QUEUED;
    if (!busy && sure && !caught_up) return model_object(text, "slot %lld gives way to nothing", (long long)r->slot_ms);
    switch (r->what) {
    case TSLOT_OVERLAP:
        if (s->set.overlap != TP_SKIP) return model_object(text, "a slot is left out though it may wait");
        s->skipped++;
        break;
    case TSLOT_FULL:
        if (s->set.overlap != TP_QUEUE || s->waiting_count < s->set.waiting_max)
            return model_object(text, "a slot is left out though it may wait");
        s->skipped++;
        break;
    case TSLOT_QUEUED:
        if (s->set.overlap != TP_QUEUE && !caught_up) return model_object(text, "a slot waits that should not");
        wait_at(s, (struct model_waiting){r->slot_ms, false}, false);
        break;
    case TSLOT_REPLACES:
        if (s->set.overlap != TP_REPLACE) return model_object(text, "a slot replaces that should not");
        drop_replacing(s);
        wait_at(s, (struct model_waiting){r->slot_ms, true}, true);
        break;
    case TSLOT_MISSED:
    case TSLOT_EXCLUDED:
    case TSLOT_COUNT: return model_object(text, "a slot became nothing");
    }
    s->after_ms = r->slot_ms;
    return true;
}

static bool paused(struct model *m, struct model_schedule *s, const struct trace_slot *r, char *text) {
    if (s->paused == r->on) return model_object(text, "a schedule paused twice");
    s->paused = r->on;
    if (r->on) return true;
    if (r->slot_ms > m->time_ms) return model_object(text, "a pause calls off slots to come");
    if (r->slot_ms > s->after_ms) s->after_ms = r->slot_ms;
    return true;
}

static bool backfill(struct model_schedule *s, const struct trace_slot *r, char *text) {
    for (uint32_t i = 0; i < r->slot_count; i++) {
        if (r->slots[i] > s->after_ms) return model_object(text, "a slot to come is filled in");
        if (excluded_between(s, r->slots[i] - 1, r->slots[i]) > 0)
            return model_object(text, "a slot of an excluded day is filled in");
        wait_at(s, (struct model_waiting){r->slots[i], false}, false);
    }
    return true;
}

bool model_schedule_record(struct model *m, const struct trace_entry *e, char *text) {
    if (e->kind == TR_SCHEDULE) return set(m, &e->as.schedule, text);
    const struct trace_slot *r = &e->as.slot;
    struct model_schedule *s = find(m, r->tenant, r->name);
    if (s == NULL) return model_object(text, "there is no such schedule");
    switch ((int)e->kind) {
    case TR_SCHEDULE_REMOVED: drop(m, s); return true;
    case TR_SCHEDULE_PAUSED: return paused(m, s, r, text);
    case TR_SCHEDULE_SLOT: return slot(m, s, r, text);
    case TR_SCHEDULE_BACKFILL: return backfill(s, r, text);
    default: PANIC("not a record about a schedule");
    }
}

/* ---- keys ---- */

static void key_changed(struct model *m, struct trace_bytes tenant, struct trace_bytes key, unsigned how) {
    for (uint32_t i = 0; i < m->schedule_count; i++) {
        struct model_schedule *s = &m->schedules[i];
        bool sure = false;
        bool begun = m->time_ms >= s->set.start_ms && (s->set.end_ms == 0 || m->time_ms <= s->set.end_ms);
        if (!same(s->set.tenant, tenant) || !model_cause_matches(&s->set, key)) continue;
        if ((s->set.when & how) == 0 || s->paused || !begun) continue;
        if (s->set.overlap == TP_SKIP && is_running(m, s, &sure))
            s->skipped++;
        else
            s->skipped += model_line_put(&s->line, key, s->set.overlap == TP_REPLACE, m->time_ms);
    }
}

void model_schedule_changes(struct model *m, const struct trace_change *r) {
    if (r->flow != 0 || r->what == TCHANGE_NONE) return;
    for (uint32_t i = 0; i < r->count; i++) {
        unsigned how = model_cause_change(m, r, i);
        if (how != 0) key_changed(m, r->tenant, r->keys[i], how);
    }
}

static bool key_may_fire(const struct model *m, const struct model_schedule *s, const struct trace_jobs *r,
                         char *text) {
    const struct model_line *line = &s->line;
    if (line->count == 0 || !same(line->at[0].key, r->cause) || line->at[0].count != r->cause_count)
        return model_object(text, "a flow for %u changes of key %.*s, %u of %.*s wait first", r->cause_count,
                            (int)r->cause.len, (const char *)r->cause.at, line->count ? line->at[0].count : 0,
                            line->count ? (int)line->at[0].key.len : 0,
                            line->count ? (const char *)line->at[0].key.at : "");
    if (line->started_ms != 0 && m->time_ms < line->started_ms + s->set.min_interval_ms)
        return model_object(text, "key %.*s starts a flow %lld ms after the last", (int)r->cause.len,
                            (const char *)r->cause.at, (long long)(m->time_ms - line->started_ms));
    return true;
}

/* ---- flows ---- */

bool model_schedule_may_fire(const struct model *m, const struct trace_jobs *r, char *text) {
    const struct model_schedule *s = find(m, r->tenant, r->schedule);
    bool sure = false;
    if (s == NULL) return model_object(text, "fired by a schedule that is not there");
    if (!same(r->zone, s->set.zone)) return model_object(text, "fired in another zone than its schedule's");
    if (!same(r->source, s->set.source) || !same(r->source_name, s->set.source_name))
        return model_object(text, "fired with another file than its schedule's");
    if (s->paused && r->fire != TFIRE_ASKED) return model_object(text, "fired by a paused schedule");
    if (is_running(m, s, &sure))
        return model_object(text, "slot %lld fired while flow %llu is running", (long long)r->slot_ms,
                            (unsigned long long)s->flow);
    if (r->fire == TFIRE_ASKED) {
        if (r->slot_ms > m->time_ms) return model_object(text, "a run for a slot that is to come");
        return true;
    }
    if (r->fire == TFIRE_KEY) return key_may_fire(m, s, r, text);
    if (r->fire != TFIRE_SLOT) {
        if (s->waiting_count == 0 || s->waiting[0].slot_ms != r->slot_ms)
            return model_object(text, "slot %lld fired, it did not wait", (long long)r->slot_ms);
        return true;
    }
    if (s->waiting_count > 0)
        return model_object(text, "slot %lld fired before those that wait", (long long)r->slot_ms);
    if (!is_next(m, s, r->slot_ms, text)) return false;
    if (s->set.catch_up == TP_NONE && r->slot_ms + s->set.late_ms < m->time_ms)
        return model_object(text, "slot %lld fired %lld ms late", (long long)r->slot_ms,
                            (long long)(m->time_ms - r->slot_ms));
    return true;
}

void model_schedule_fired(struct model *m, const struct trace_jobs *r) {
    struct model_schedule *s = find(m, r->tenant, r->schedule);
    REQUIRE(s != NULL);
    if (r->fire == TFIRE_SLOT)
        s->after_ms = r->slot_ms;
    else if (r->fire == TFIRE_KEY)
        model_line_take(&s->line, 0);
    else if (r->fire != TFIRE_ASKED)
        take_at(s, 0);
    if (r->fire == TFIRE_KEY) s->line.started_ms = m->time_ms;
    s->flow = r->flow;
    s->fired++;
}

/* ---- comparison ---- */

bool model_compare_schedules(const struct model *m, const struct trace_schedule_now *now, uint32_t count,
                             char text[MODEL_TEXT_BYTES]) {
    if (count != m->schedule_count) return model_object(text, "%u schedules, must be %u", count, m->schedule_count);
    for (uint32_t i = 0; i < count; i++) {
        const struct model_schedule *s = find(m, now[i].tenant, now[i].name);
        if (s == NULL) return model_object(text, "a schedule should not be there");
        bool alike = now[i].after_ms == s->after_ms && now[i].paused == s->paused && now[i].flow == s->flow &&
                     now[i].waiting == s->waiting_count + s->line.count && now[i].fired == s->fired &&
                     now[i].missed == s->missed && now[i].skipped == s->skipped && now[i].excluded == s->excluded;
        if (!alike)
            return model_object(
                text,
                "schedule %.*s: after %lld, flow %llu, %u wait, %llu/%llu/%llu; must be %lld, %llu, %u, "
                "%llu/%llu/%llu",
                (int)s->set.name.len, (const char *)s->set.name.at, (long long)now[i].after_ms,
                (unsigned long long)now[i].flow, now[i].waiting, (unsigned long long)now[i].fired,
                (unsigned long long)now[i].missed, (unsigned long long)now[i].skipped, (long long)s->after_ms,
                (unsigned long long)s->flow, s->waiting_count + s->line.count, (unsigned long long)s->fired,
                (unsigned long long)s->missed, (unsigned long long)s->skipped);
    }
    return true;
}

void model_schedule_clock(struct model *m, int64_t now_ms) {
    for (uint32_t i = 0; i < m->schedule_count; i++) {
        struct model_schedule *s = &m->schedules[i];
        if (s->after_ms > now_ms) s->after_ms = now_ms;
        if (s->line.started_ms > now_ms) s->line.started_ms = now_ms;
        for (uint32_t k = 0; k < s->line.count; k++)
            if (s->line.at[k].since_ms > now_ms) s->line.at[k].since_ms = now_ms;
    }
}

bool model_schedules_done(const struct model *m, int64_t time_ms, char text[MODEL_TEXT_BYTES]) {
    for (uint32_t i = 0; i < m->schedule_count; i++) {
        const struct model_schedule *s = &m->schedules[i];
        if (s->paused) continue;
        int64_t left = left_between(s, s->after_ms, time_ms);
        const struct model_line *line = &s->line;
        bool free_line = line->count > 0 && line->at[0].since_ms <= time_ms &&
                         (line->started_ms == 0 || line->started_ms + s->set.min_interval_ms <= time_ms);
        if (free_line)
            return model_object(text, "schedule %.*s: %u keys wait, with nothing in their way", (int)s->set.name.len,
                                (const char *)s->set.name.at, line->count);
        if (left > 0 || s->waiting_count > 0)
            return model_object(text, "schedule %.*s: %lld slots have passed and %u wait, with nothing in their way",
                                (int)s->set.name.len, (const char *)s->set.name.at, (long long)left, s->waiting_count);
    }
    return true;
}
