/* schedule.c: see schedule.h. What apply does with schedules, and how they are kept. */
#include "schedule.h"

#include "apply.h"
#include "flow.h"
#include "key_cause.h"
#include "mutant.h"
#include "panic.h"
#include "registry.h"
#include "timer.h"

/* ---- names ---- */

static struct slice key_of(const void *ctx, uint32_t value) {
    return bytes_slice(schedule_at(ctx, value)->key);
}

static struct slice key_text(struct arena *scratch, uint32_t tenant, struct slice name) {
    uint8_t *at = arena_alloc(scratch, 4 + name.len);
    memcpy(at, &tenant, 4);
    memcpy(at + 4, name.ptr, name.len);
    return slice_of(at, 4 + name.len);
}

uint32_t schedule_find(const struct state *s, uint32_t tenant, struct slice name, struct arena *scratch) {
    if (tenant == 0 || name.len == 0) return 0;
    return index_get(&s->schedule_by_name, key_text(scratch, tenant, name), key_of, s);
}

struct slice schedule_name(const struct schedule *sc) {
    struct slice key = bytes_slice(sc->key);
    ENSURE(key.len > 4);
    return slice_of(key.ptr + 4, key.len - 4);
}

bool schedule_is_running(const struct state *s, const struct schedule *sc) {
    uint32_t flow = sc->flow ? flow_find(s, (flow_id){sc->flow}) : 0;
    return flow != 0 && flow_at(s, flow)->state == FLOW_RUNNING;
}

/* ---- small parts ---- */

/* Something changed: the tick looks at the schedule and puts the timer off to when it next matters. */
void schedule_wake(struct state *s, uint32_t index) {
    const struct schedule *sc = schedule_at(s, index);
    REQUIRE(sc->key != NULL);
    timer_set(s, TIMER_SCHEDULE, index, sc->paused ? (wall_time){TIME_NEVER} : s->now);
}

static void revise(struct state *s, uint32_t index, uint64_t revision) {
    struct schedule *sc = schedule_at(s, index);
    REQUIRE(revision > sc->revision); /* LSNs rise */
    if (sc->revision) map_del(&s->schedule_by_revision, sc->revision);
    sc->revision = revision;
    map_put(&s->schedule_by_revision, revision, index);
}

static void note(struct schedule *sc, struct slot_note entry) {
    if (sc->notes.count == SCHEDULE_NOTES) {
        memmove(sc->notes.at, vec_at(&sc->notes, 1), (size_t)(SCHEDULE_NOTES - 1) * sizeof entry);
        sc->notes.count--;
    }
    *(struct slot_note *)vec_push(&sc->notes) = entry;
    ENSURE(sc->notes.count <= SCHEDULE_NOTES);
}

/* A burst of them is one note. */
void schedule_left_out(struct state *s, uint32_t index) {
    struct schedule *sc = schedule_at(s, index);
    struct slot_note *last = sc->notes.count ? vec_at(&sc->notes, sc->notes.count - 1) : NULL;
    sc->skipped++;
    if (last == NULL || last->what != SLOT_OVERLAP) {
        note(sc, (struct slot_note){.first_ms = s->now.ms, .slot_ms = s->now.ms, .count = 1, .what = SLOT_OVERLAP});
        return;
    }
    last->slot_ms = s->now.ms;
    last->count++;
}

static void unlink_flow(struct state *s, const struct schedule *sc) {
    uint32_t flow = sc->flow ? flow_find(s, (flow_id){sc->flow}) : 0;
    if (flow) flow_at(s, flow)->schedule = 0;
}

static void take_waiting(struct schedule *sc, uint32_t at) {
    REQUIRE(at < sc->waiting.count);
    uint32_t left = sc->waiting.count - at - 1;
    if (left) memmove(vec_at(&sc->waiting, at), vec_at(&sc->waiting, at + 1), left * sizeof(struct slot_waiting));
    sc->waiting.count--;
}

static void put_waiting(struct schedule *sc, struct slot_waiting entry, bool first) {
    vec_push(&sc->waiting);
    uint32_t at = first ? 0 : sc->waiting.count - 1;
    uint32_t moved = sc->waiting.count - 1 - at;
    if (moved) memmove(vec_at(&sc->waiting, at + 1), vec_at(&sc->waiting, at), moved * sizeof entry);
    *(struct slot_waiting *)vec_at(&sc->waiting, at) = entry;
}

/* Reads the parts of the record that are looked at often. */
static void adopt_record(struct state *s, struct schedule *sc) {
    struct rec_schedule r;
    enum err e = tlv_decode(record_desc(REC_SCHEDULE), bytes_slice(sc->record), TLV_STRICT, &s->scratch, &r, NULL);
    ENSURE(e == ERR_OK);
    sc->expression = r.expression;
    sc->principal = r.head.principal;
    sc->calendar = r.calendar;
    sc->catch_up = r.catch_up;
    sc->overlap = r.overlap;
    sc->end_ms = r.end_ms;
    sc->job_count = r.jobs.count;
    sc->profile_count = r.profiles.count;
    sc->question_count = 0;
    sc->job_bytes = 0;
    sc->reserve_bytes = bytes_slice(sc->record).len + 1024;
    if (r.when) sc->reserve_bytes += STORE_KEY_BYTES_MAX + CAUSE_VALUE_MAX;
    const struct rec_job *jobs = r.jobs.at;
    const struct options *sets = r.profiles.at;
    for (uint32_t i = 0; i < r.jobs.count; i++) {
        REQUIRE(jobs[i].profile < r.profiles.count);
        REQUIRE(jobs[i].undo_profile <= r.profiles.count);
        sc->job_bytes += jobs[i].raw.len;
        sc->question_count += jobs[i].body_hash.len != 0;
        sc->question_count += jobs[i].undo_hash.len != 0;
        if (jobs[i].runner_profile) {
            sc->question_count++;
            sc->reserve_bytes += ATTEMPT_RECORD_BYTES;
        }
        if (jobs[i].undo_profile)
            sc->reserve_bytes += (uint64_t)(sets[jobs[i].undo_profile - 1].retries + 1) * ATTEMPT_RECORD_BYTES;
        sc->reserve_bytes += (uint64_t)(sets[jobs[i].profile].retries + 1) * ATTEMPT_RECORD_BYTES;
    }
}

static uint32_t make(struct state *s, uint32_t tenant, struct slice name) {
    REQUIRE(tenant != 0);
    REQUIRE(name.len > 0);
    uint32_t index = pool_alloc(&s->schedules);
    ENSURE(index != 0);
    struct schedule *sc = schedule_at(s, index);
    struct slice key = key_text(&s->scratch, tenant, name);
    sc->key = bytes_new(key);
    sc->tenant = tenant;
    vec_init(&sc->waiting, sizeof(struct slot_waiting));
    vec_init(&sc->notes, sizeof(struct slot_note));
    index_put(&s->schedule_by_name, key, index);
    return index;
}

void schedule_release_memory(struct schedule *sc) {
    bytes_free(sc->key);
    bytes_free(sc->record);
    vec_fini(&sc->waiting);
    vec_fini(&sc->notes);
}

size_t schedule_bytes(const struct schedule *sc) {
    return bytes_slice(sc->key).len + bytes_slice(sc->record).len + sc->waiting.slots * sizeof(struct slot_waiting) +
           sc->notes.slots * sizeof(struct slot_note);
}

/* ---- apply ---- */

/* A schedule that is set anew keeps what it went through: its last flow, the slots that wait, its notes. */
void schedule_set(struct state *s, uint32_t tenant, const struct rec_schedule *r) {
    uint32_t index = schedule_find(s, tenant, r->name, &s->scratch);
    if (index == 0) index = make(s, tenant, r->name);
    struct schedule *sc = schedule_at(s, index);
    bytes_free(sc->record);
    sc->record = bytes_new(r->raw);
    adopt_record(s, sc);
    sc->paused = r->paused;
    if (r->after_ms > sc->after_ms) sc->after_ms = r->after_ms;
    cause_set(s, index, r);
    revise(s, index, s->lsn + 1);
    schedule_wake(s, index);
}

void schedule_remove(struct state *s, uint32_t index) {
    struct schedule *sc = schedule_at(s, index);
    REQUIRE(sc->revision != 0);
    unlink_flow(s, sc);
    cause_drop(s, index);
    timer_set(s, TIMER_SCHEDULE, index, (wall_time){TIME_NEVER});
    index_del(&s->schedule_by_name, bytes_slice(sc->key), index);
    map_del(&s->schedule_by_revision, sc->revision);
    schedule_release_memory(sc);
    pool_free(&s->schedules, index);
}

void schedule_pause(struct state *s, uint32_t index, const struct rec_schedule_paused *r) {
    struct schedule *sc = schedule_at(s, index);
    sc->paused = r->on;
    if (!r->on && r->after_ms > sc->after_ms) {
        note(sc, (struct slot_note){.first_ms = sc->after_ms, .slot_ms = r->after_ms, .what = SLOT_PAUSED});
        sc->after_ms = r->after_ms;
    }
    revise(s, index, s->lsn + 1);
    schedule_wake(s, index);
}

/* A newer slot takes the place of one that waits for the end of the flow it replaces. */
static void drop_replacing(struct schedule *sc) {
    for (uint32_t i = 0; i < sc->waiting.count; i++) {
        struct slot_waiting old = *(struct slot_waiting *)vec_at(&sc->waiting, i);
        if (!old.replaces) continue;
        sc->skipped++;
        note(sc, (struct slot_note){.first_ms = old.slot_ms, .slot_ms = old.slot_ms, .count = 1, .what = SLOT_OVERLAP});
        take_waiting(sc, i--);
    }
}

void schedule_slot(struct state *s, uint32_t index, const struct rec_schedule_slot *r) {
    struct schedule *sc = schedule_at(s, index);
    REQUIRE(r->slot_ms > sc->after_ms);
    sc->after_ms = r->slot_ms;
    switch ((enum slot_end)r->what) {
    case SLOT_MISSED: sc->missed += r->count; break;
    case SLOT_OVERLAP:
    case SLOT_FULL: sc->skipped += r->count; break;
    case SLOT_EXCLUDED: sc->excluded += r->count; break;
    case SLOT_QUEUED: put_waiting(sc, (struct slot_waiting){r->slot_ms, FIRE_WAITED, false}, false); break;
    case SLOT_REPLACES:
        drop_replacing(sc);
        put_waiting(sc, (struct slot_waiting){r->slot_ms, FIRE_WAITED, true}, true);
        break;
    case SLOT_FIRED:
    case SLOT_PAUSED:
    case SLOT_END_COUNT: PANIC("a slot that became nothing");
    }
    note(sc, (struct slot_note){.first_ms = r->first_ms, .slot_ms = r->slot_ms, .count = r->count, .what = r->what});
    schedule_wake(s, index);
}

void schedule_backfill(struct state *s, uint32_t index, const struct rec_schedule_backfill *r) {
    struct schedule *sc = schedule_at(s, index);
    const struct rec_slot *slots = r->slots.at;
    for (uint32_t i = 0; i < r->slots.count; i++)
        put_waiting(sc, (struct slot_waiting){slots[i].slot_ms, FIRE_BACKFILL, false}, false);
    schedule_wake(s, index);
}

void schedule_fired(struct state *s, uint32_t index, uint32_t flow, const struct rec_submitted *r) {
    REQUIRE(index != 0);
    REQUIRE(r->fire < FIRE_COUNT);
    struct schedule *sc = schedule_at(s, index);
    if (r->fire == FIRE_SLOT) {
        REQUIRE(r->slot_ms > sc->after_ms);
        bool forgets = MUTANT(slot_fired_twice) && sc->fired % 4 == 3;
        if (!forgets) sc->after_ms = r->slot_ms;
    } else if (r->fire == FIRE_ASKED) {
        REQUIRE(!schedule_is_running(s, sc));
        if (MUTANT(asked_takes_slot) && r->slot_ms > sc->after_ms) sc->after_ms = r->slot_ms;
    } else if (r->fire == FIRE_KEY) {
        cause_taken(s, index);
    } else {
        REQUIRE(sc->waiting.count > 0);
        REQUIRE(((struct slot_waiting *)vec_at(&sc->waiting, 0))->slot_ms == r->slot_ms);
        take_waiting(sc, 0);
    }
    unlink_flow(s, sc);
    if (r->slot_ms > sc->fired_ms) sc->fired_ms = r->slot_ms;
    sc->fired++;
    sc->flow = r->flow;
    flow_at(s, flow)->schedule = index;
    note(sc, (struct slot_note){
                 .first_ms = r->slot_ms, .slot_ms = r->slot_ms, .count = 1, .flow = r->flow, .what = SLOT_FIRED});
    schedule_wake(s, index);
}

void schedule_flow_moved(struct state *s, uint32_t index, enum flow_state state) {
    REQUIRE(index != 0);
    struct schedule *sc = schedule_at(s, index);
    for (uint32_t i = 0; i < sc->notes.count; i++) {
        struct slot_note *n = vec_at(&sc->notes, i);
        if (n->what == SLOT_FIRED && n->flow == sc->flow) n->flow_state = (uint8_t)state;
    }
    if (state != FLOW_RUNNING) schedule_wake(s, index);
}

/* ---- the guard of replay ---- */

static enum err misfit(struct why *why, const char *what) {
    return why_set(why, ERR_CORRUPT, "a record does not fit the state before it: %s", what);
}

#define FITS(fact, what) \
    if (!(fact)) return misfit(why, what)

static uint32_t look_up(const struct state *s, struct slice tenant, struct slice name) {
    struct arena scratch;
    arena_init(&scratch, 512, 1u << 20);
    uint32_t index = schedule_find(s, tenant_find(s, tenant), name, &scratch);
    arena_fini(&scratch);
    return index;
}

enum err schedule_check(const struct state *s, struct slice tenant, struct slice name, struct why *why) {
    FITS(look_up(s, tenant, name) != 0, "a schedule that is not there");
    return ERR_OK;
}

enum err schedule_check_slot(const struct state *s, const struct rec_schedule_slot *r, struct why *why) {
    uint32_t index = look_up(s, r->head.tenant, r->name);
    FITS(index != 0, "a schedule that is not there");
    FITS(r->slot_ms > schedule_at(s, index)->after_ms, "a slot that was dealt with");
    FITS(r->what != SLOT_FIRED && r->what != SLOT_PAUSED, "a slot that became nothing");
    return ERR_OK;
}

enum err schedule_check_fired(const struct state *s, const struct rec_submitted *r, struct why *why) {
    uint32_t index = look_up(s, r->head.tenant, r->schedule);
    FITS(index != 0, "a schedule that is not there");
    const struct schedule *sc = schedule_at(s, index);
    if (r->fire == FIRE_SLOT) {
        FITS(r->slot_ms > sc->after_ms, "a slot that was dealt with");
        return ERR_OK;
    }
    if (r->fire == FIRE_ASKED) {
        FITS(!schedule_is_running(s, sc), "a run beside a flow that runs");
        return ERR_OK;
    }
    if (r->fire == FIRE_KEY) {
        const struct key_change *first = cause_first(s, sc);
        FITS(first != NULL && slice_eq(change_key(first), r->cause.key), "another key than the first that waits");
        return ERR_OK;
    }
    FITS(sc->waiting.count > 0, "a slot that does not wait");
    FITS(((struct slot_waiting *)vec_at(&sc->waiting, 0))->slot_ms == r->slot_ms, "another slot than the first");
    return ERR_OK;
}

/* ---- snapshots ---- */

static struct tlv_list changes_object(const struct state *s, const struct schedule *sc, struct arena *arena) {
    uint32_t count = cause_waiting(s, sc), i = 0;
    struct snap_change *list = ARENA_ARRAY(arena, struct snap_change, count + 1);
    for (const struct key_change *c = cause_first(s, sc); c != NULL && !MUTANT(changes_forgotten);
         c = c->next ? change_at(&s->causes, c->next) : NULL)
        list[i++] = (struct snap_change){change_key(c), c->how, c->version, c->count, c->changed_ms};
    return (struct tlv_list){list, i};
}

struct snap_schedule schedule_object(const struct state *s, const struct schedule *sc, struct arena *arena) {
    struct snap_waiting *waiting = ARENA_ARRAY(arena, struct snap_waiting, sc->waiting.count + 1);
    for (uint32_t i = 0; i < sc->waiting.count; i++) {
        const struct slot_waiting *w = vec_at(&sc->waiting, i);
        waiting[i] = (struct snap_waiting){w->slot_ms, w->fire, w->replaces};
    }
    struct snap_note *notes = ARENA_ARRAY(arena, struct snap_note, sc->notes.count + 1);
    for (uint32_t i = 0; i < sc->notes.count; i++) {
        const struct slot_note *n = vec_at(&sc->notes, i);
        notes[i] = (struct snap_note){n->first_ms, n->slot_ms, n->count, n->flow, n->what, n->flow_state};
    }
    return (struct snap_schedule){.record = bytes_slice(sc->record),
                                  .revision = sc->revision,
                                  .paused = sc->paused,
                                  .after_ms = sc->after_ms,
                                  .fired_ms = sc->fired_ms,
                                  .flow = sc->flow,
                                  .fired = sc->fired,
                                  .missed = sc->missed,
                                  .skipped = sc->skipped,
                                  .waiting = {waiting, sc->waiting.count},
                                  .notes = {notes, sc->notes.count},
                                  .excluded = sc->excluded,
                                  .changes = changes_object(s, sc, arena),
                                  .started_ms = sc->cause ? cause_at(&s->causes, sc->cause)->started_ms : 0};
}

#undef FITS
#define FITS(fact, what) \
    if (!(fact)) return why_set(why, ERR_CORRUPT, "a snapshot does not fit together: %s", what)

static enum err check_object(const struct state *s, const struct snap_schedule *o, const struct rec_schedule *r,
                             struct arena *arena, struct why *why) {
    uint32_t tenant = tenant_find(s, r->head.tenant);
    FITS(tenant != 0, "a schedule of nobody");
    FITS(schedule_find(s, tenant, r->name, arena) == 0, "a schedule twice");
    FITS(o->revision != 0 && map_get(&s->schedule_by_revision, o->revision) == 0, "a revision twice");
    FITS(o->revision <= s->lsn, "a revision of a record to come");
    FITS(o->notes.count <= SCHEDULE_NOTES, "too many notes");
    const struct snap_waiting *waiting = o->waiting.at;
    for (uint32_t i = 0; i < o->waiting.count; i++) FITS(waiting[i].fire < FIRE_ASKED, "a slot that waits for nothing");
    const struct snap_change *changes = o->changes.at;
    FITS(r->when != 0 || (o->changes.count == 0 && o->started_ms == 0), "changes of a key of a schedule without one");
    for (uint32_t i = 0; i < o->changes.count; i++)
        FITS(changes[i].count > 0 && (changes[i].how & KEY_HOW_ALL) != 0, "a change of a key that is none");
    struct record record = {.kind = REC_SCHEDULE, .version = RECORD_VERSION, .body.as_REC_SCHEDULE = *r};
    return apply_check(s, &record, why); /* its flows are made from it unread */
}

enum err schedule_load(struct state *s, const struct snap_schedule *o, struct arena *arena, struct why *why) {
    struct rec_schedule r;
    enum err e = tlv_decode(record_desc(REC_SCHEDULE), o->record, TLV_STRICT, arena, &r, why);
    if (e == ERR_OK) e = check_object(s, o, &r, arena, why);
    if (e != ERR_OK) return e;
    uint32_t index = make(s, tenant_find(s, r.head.tenant), r.name);
    struct schedule *sc = schedule_at(s, index);
    sc->record = bytes_new(o->record);
    adopt_record(s, sc);
    revise(s, index, o->revision);
    sc->paused = o->paused;
    sc->after_ms = o->after_ms;
    sc->fired_ms = o->fired_ms;
    sc->flow = o->flow;
    sc->fired = o->fired;
    sc->missed = o->missed;
    sc->skipped = o->skipped;
    sc->excluded = o->excluded;
    const struct snap_waiting *waiting = o->waiting.at;
    for (uint32_t i = 0; i < o->waiting.count; i++)
        put_waiting(sc, (struct slot_waiting){waiting[i].slot_ms, waiting[i].fire, waiting[i].replaces}, false);
    const struct snap_note *notes = o->notes.at;
    for (uint32_t i = 0; i < o->notes.count; i++)
        note(sc, (struct slot_note){notes[i].first_ms, notes[i].slot_ms, notes[i].count, notes[i].flow, notes[i].what,
                                    notes[i].flow_state});
    uint32_t flow = sc->flow ? flow_find(s, (flow_id){sc->flow}) : 0;
    if (flow) flow_at(s, flow)->schedule = index;
    cause_set(s, index, &r);
    if (sc->cause) cause_at(&s->causes, sc->cause)->started_ms = o->started_ms;
    const struct snap_change *changes = o->changes.at;
    for (uint32_t i = 0; i < o->changes.count; i++) {
        struct key_change c = {.count = changes[i].count,
                               .how = changes[i].how,
                               .version = changes[i].version,
                               .changed_ms = changes[i].changed_ms};
        FITS(cause_load_change(s, index, &c, changes[i].key), "a key that waits twice");
    }
    schedule_wake(s, index);
    return ERR_OK;
}
