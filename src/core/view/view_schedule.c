/* view_schedule.c: the part of view.h about schedules: what they are, when they fire next, and why one does not. */
#include "heap.h"
#include "key_cause.h"
#include "panic.h"
#include "registry.h"
#include "schedule.h"
#include "schedule_next.h"
#include "view.h"

static void fill_cause(const struct state *s, const struct schedule *sc, struct schedule_view *ret) {
    const struct key_cause *c = cause_at(&s->causes, sc->cause);
    struct slice text = bytes_slice(c->text);
    ret->when = c->when;
    ret->key_prefix = text.ptr[CAUSE_PREFIX_AT] != 0;
    ret->key = slice_of(text.ptr + CAUSE_KEY_AT, text.len - CAUSE_KEY_AT);
    ret->keys_waiting = c->count;
}

static void fill(const struct state *s, uint32_t index, struct schedule_view *ret) {
    const struct schedule *sc = schedule_at(s, index);
    REQUIRE(sc->key != NULL);
    *ret = (struct schedule_view){.tenant = bytes_slice(tenant_at(s, sc->tenant)->name),
                                  .name = schedule_name(sc),
                                  .expression = sc->expression,
                                  .principal = sc->principal,
                                  .calendar = sc->calendar,
                                  .revision = sc->revision,
                                  .catch_up = sc->catch_up,
                                  .overlap = sc->overlap,
                                  .paused = sc->paused,
                                  .end = {sc->end_ms ? sc->end_ms : TIME_NEVER},
                                  .after = {sc->after_ms},
                                  .fired_slot = {sc->fired_ms},
                                  .flow = {sc->flow},
                                  .running = schedule_is_running(s, sc),
                                  .waiting = sc->waiting.count + cause_waiting(s, sc),
                                  .fired = sc->fired,
                                  .missed = sc->missed,
                                  .skipped = sc->skipped,
                                  .excluded = sc->excluded,
                                  .notes = (const struct slot_note *)(const void *)sc->notes.at,
                                  .note_count = sc->notes.count};
    if (sc->cause) fill_cause(s, sc, ret);
}

bool view_schedule(const struct state *s, struct slice tenant, struct slice name, struct schedule_view *ret) {
    struct arena arena;
    arena_init(&arena, 512, 1u << 20);
    uint32_t index = schedule_find(s, tenant_find(s, tenant), name, &arena);
    arena_fini(&arena);
    if (index) fill(s, index, ret);
    return index != 0;
}

bool view_schedule_revision(const struct state *s, uint64_t revision, struct schedule_view *ret) {
    uint32_t index = map_get(&s->schedule_by_revision, revision);
    if (index) fill(s, index, ret);
    return index != 0;
}

uint32_t view_schedule_next(const struct state *s, uint32_t at, struct arena *arena, struct schedule_made *ret) {
    for (uint32_t i = at + 1; i <= s->schedules.high; i++) {
        const struct schedule *sc = schedule_at(s, i);
        struct rec_schedule rec;
        struct why why;
        if (sc->key == NULL) continue;
        enum err e = tlv_decode(record_desc(REC_SCHEDULE), bytes_slice(sc->record), TLV_STRICT, arena, &rec, &why);
        ENSURE(e == ERR_OK); /* it was read when it was set */
        *ret = (struct schedule_made){
            .tenant = bytes_slice(tenant_at(s, sc->tenant)->name), .jobs = rec.jobs, .source = rec.source.hash};
        return i;
    }
    return 0;
}

void view_each_schedule(const struct state *s, view_schedule_fn each, void *ctx) {
    struct heap by_revision;
    heap_init(&by_revision, NULL, NULL);
    for (uint32_t i = 1; i <= s->schedules.high; i++)
        if (schedule_at(s, i)->key) heap_push(&by_revision, (int64_t)schedule_at(s, i)->revision, i);
    while (by_revision.count) {
        struct schedule_view view;
        fill(s, (uint32_t)heap_pop(&by_revision).ref, &view);
        each(ctx, &view);
    }
    heap_fini(&by_revision);
}

const char *schedule_block_word(enum schedule_block b) {
    static const char *const words[SCHEDULE_BLOCK_COUNT] = {
#define X(block, word, text) [block] = word,
        SCHEDULE_BLOCK_TABLE(X)
#undef X
    };
    REQUIRE((unsigned)b < SCHEDULE_BLOCK_COUNT);
    return words[b];
}

const char *schedule_block_text(enum schedule_block b) {
    static const char *const texts[SCHEDULE_BLOCK_COUNT] = {
#define X(block, word, text) [block] = text,
        SCHEDULE_BLOCK_TABLE(X)
#undef X
    };
    REQUIRE((unsigned)b < SCHEDULE_BLOCK_COUNT);
    return texts[b];
}

bool view_why_schedule(const struct state *s, const struct live *l, const struct limits *limits, uint64_t revision,
                       struct why_schedule *ret) {
    uint32_t index = map_get(&s->schedule_by_revision, revision);
    if (index == 0) return false;
    const struct schedule *sc = schedule_at(s, index);
    int64_t next = schedule_next(s, l, index);
    int64_t now = l ? l->now.ms : s->now.ms;
    const struct key_cause *cause = sc->cause ? cause_at(&s->causes, sc->cause) : NULL;
    int64_t soonest = cause && cause->started_ms ? cause->started_ms + cause->min_interval_ms : 0;
    bool has_change = cause && cause->count > 0;
    bool due = sc->waiting.count > 0 || (has_change && soonest <= now) || (next != SLOTS_UNKNOWN && next <= now);
    const char *limit = schedule_refusal(s, limits, sc);
    *ret = (struct why_schedule){.next = {TIME_NEVER}};
    if (sc->paused) {
        ret->block = SCHEDULE_BLOCK_PAUSED;
    } else if ((sc->waiting.count || has_change) && schedule_is_running(s, sc)) {
        ret->block = SCHEDULE_BLOCK_OVERLAP;
        ret->flow.v = sc->flow;
    } else if (due && limit) {
        ret->block = SCHEDULE_BLOCK_ROOM;
        ret->limit = limit;
    } else if (has_change && soonest > now) {
        ret->block = SCHEDULE_BLOCK_INTERVAL;
        ret->next.ms = soonest;
    } else if (cause && !has_change && sc->waiting.count == 0 && (sc->end_ms == 0 || now <= sc->end_ms)) {
        ret->block = SCHEDULE_BLOCK_KEY;
    } else if (has_change) {
        ret->block = SCHEDULE_BLOCK_TIME;
        ret->next.ms = now;
    } else if (next == SLOTS_UNKNOWN) {
        ret->block = SCHEDULE_BLOCK_SLOTS;
    } else if (next == TIME_NEVER && sc->waiting.count == 0) {
        ret->block = SCHEDULE_BLOCK_OVER;
    } else {
        ret->block = SCHEDULE_BLOCK_TIME;
        int64_t firing = schedule_next_firing(s, l, index);
        ret->next.ms = sc->waiting.count ? now : firing == SLOTS_UNKNOWN ? next : firing;
    }
    return true;
}
