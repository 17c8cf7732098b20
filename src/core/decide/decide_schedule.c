/* decide_schedule.c: schedules: what people ask of them, and what becomes of each slot when its time has come.
 *
 * A day that the calendar of the schedule leaves out comes as one slot, the last of that day: what is said of it is
 * recorded (EXCLUDED), and nothing else follows from it.
 *
 * A slot is *missed* when it is found more than `schedule_late_ms` after its time: the server was down, or stood still.
 * Catch-up says what becomes of those; overlap says what becomes of a slot that comes while an earlier flow runs. Both
 * choices are recorded slot by slot, or as a count. */
#include "decide.h"
#include "finale.h"
#include "flow.h"
#include "key_cause.h"
#include "mutant.h"
#include "panic.h"
#include "registry.h"
#include "schedule.h"
#include "schedule_next.h"
#include "store.h"
#include "timer.h"

/* ---- commands ---- */

static enum err find(struct decision *d, const struct command *cmd, struct slice name, uint32_t *ret) {
    enum err e = decide_name(d, cmd->tenant, "a tenant");
    if (e == ERR_OK) e = decide_name(d, name, "a schedule");
    if (e != ERR_OK) return e;
    *ret = schedule_find(d->state, tenant_find(d->state, cmd->tenant), name, d->arena);
    if (*ret == 0) return refuse(d, ERR_NOT_FOUND, "there is no schedule %.*s", SLICE_FMT(name));
    return ERR_OK;
}

static enum err check_cause(struct decision *d, const struct command *cmd, uint32_t present) {
    const struct cmd_schedule *c = &cmd->as.schedule;
    uint32_t tenant = tenant_find(d->state, cmd->tenant);
    bool is_new = present == 0 || schedule_at(d->state, present)->cause == 0;
    if (c->when == 0) return ERR_OK;
    if (c->when & ~KEY_HOW_ALL) return refuse(d, ERR_INVALID, "a key can be set, changed and deleted");
    if (c->key.len == 0 && !c->key_prefix) return refuse(d, ERR_INVALID, "the key must not be empty");
    if (c->key.len > (size_t)d->limits->store_key_bytes_max)
        return refuse(d, ERR_LIMIT, "the key is longer than %lld bytes (store_key_bytes_max)",
                      (long long)d->limits->store_key_bytes_max);
    if (c->min_interval_ms < 0) return refuse(d, ERR_INVALID, "the interval between two starts is a duration");
    if (is_new && tenant && causes_of(d->state, tenant) >= (uint64_t)d->limits->schedule_keys_max)
        return refuse(d, ERR_LIMIT, "the tenant has %lld schedules that a key starts (schedule_keys_max)",
                      (long long)d->limits->schedule_keys_max);
    return ERR_OK;
}

static enum err check_settings(struct decision *d, const struct cmd_schedule *c) {
    if (c->expression.len == 0) return refuse(d, ERR_INVALID, "a schedule needs an expression that says when");
    if (c->expression.len > (size_t)d->limits->reason_bytes_max)
        return refuse(d, ERR_LIMIT, "the expression is longer than %lld bytes (reason_bytes_max)",
                      (long long)d->limits->reason_bytes_max);
    if ((unsigned)c->catch_up >= CATCH_UP_COUNT) return refuse(d, ERR_INVALID, "catch-up is all, last or none");
    if ((unsigned)c->overlap >= OVERLAP_COUNT) return refuse(d, ERR_INVALID, "overlap is skip, queue or replace");
    if (c->start_ms < 0 || c->end_ms < 0) return refuse(d, ERR_INVALID, "start and end are times");
    if (c->end_ms && c->end_ms < c->start_ms) return refuse(d, ERR_INVALID, "the schedule ends before it starts");
    if (c->end_ms && c->end_ms <= d->in->wall.ms)
        return refuse(d, ERR_INVALID, "the end of the schedule has already passed");
    if (c->jobs.more) return refuse(d, ERR_INVALID, "a schedule needs all jobs of its flow at once");
    return ERR_OK;
}

/* A template has no times of its own: they would be the same for every slot. */
static enum err check_template(struct decision *d, const struct cmd_jobs *jobs, struct slice calendar) {
    for (uint32_t i = 0; i < jobs->profile_count; i++)
        if (jobs->profiles[i].not_before_ms || jobs->profiles[i].deadline_ms)
            return refuse(d, ERR_INVALID, "a schedule's flow cannot have a fixed start or deadline: use delays");
    uint64_t bytes = 1024 + calendar.len;
    for (uint32_t i = 0; i < jobs->job_count; i++) {
        const struct job_spec *spec = &jobs->jobs[i];
        for (uint32_t k = 0; k < spec->parent_count; k++)
            if (spec->parents[k].flow.v)
                return refuse(d, ERR_INVALID, "job %.*s of a schedule's flow has a parent in another flow",
                              SLICE_FMT(spec->name));
        bytes += 64 + spec->name.len + spec->body.len + spec->undo_body.len + (uint64_t)spec->parent_count * 5;
    }
    if (bytes > (uint64_t)d->limits->schedule_bytes_max)
        return refuse(d, ERR_LIMIT, "the schedule's flow is larger than %lld bytes (schedule_bytes_max)",
                      (long long)d->limits->schedule_bytes_max);
    return ERR_OK;
}

/* Like those of a submit, but a delay from the submit stays one: each flow has its own. */
static enum err build_template(struct decision *d, const struct command *cmd, struct rec_schedule *rec) {
    struct cmd_jobs jobs = cmd->as.schedule.jobs;
    enum err e = check_template(d, &jobs, cmd->as.schedule.calendar);
    if (e != ERR_OK) return e;
    struct options *sets = ARENA_ARRAY(d->arena, struct options, jobs.profile_count ? jobs.profile_count : 1);
    for (uint32_t i = 0; i < jobs.profile_count; i++) {
        sets[i] = jobs.profiles[i];
        sets[i].delay_from_submit = false;
    }
    const struct options *given = jobs.profiles;
    jobs.profiles = sets;
    e = decide_jobs(d, cmd, &jobs, NULL, (flow_id){0}, &rec->profiles, &rec->jobs);
    if (e != ERR_OK) return e;
    struct options *built = rec->profiles.at;
    for (uint32_t i = 0; i < jobs.profile_count; i++) built[i].delay_from_submit = given[i].delay_from_submit;
    return ERR_OK;
}

/* A schedule that keeps its expression keeps its place; another expression never promised the past. */
static int64_t start_after(const struct decision *d, const struct cmd_schedule *c, uint32_t present) {
    int64_t after = d->in->wall.ms;
    if (present) {
        const struct schedule *sc = schedule_at(d->state, present);
        if (slice_eq(sc->expression, c->expression) && !sc->paused) after = sc->after_ms;
    }
    return c->start_ms > after ? c->start_ms - 1 : after;
}

enum err decide_schedule(struct decision *d, const struct command *cmd) {
    const struct cmd_schedule *c = &cmd->as.schedule;
    uint32_t present = schedule_find(d->state, tenant_find(d->state, cmd->tenant), c->name, d->arena);
    struct rec_schedule rec = {.name = c->name};
    enum err e = decide_name(d, cmd->tenant, "a tenant");
    if (e == ERR_OK) e = decide_name(d, c->name, "a schedule");
    if (e == ERR_OK && c->flow_name.len) e = decide_name(d, c->flow_name, "a flow");
    if (e == ERR_OK && c->zone.len) e = decide_name(d, c->zone, "a time zone");
    if (e == ERR_OK) e = check_settings(d, c);
    if (e == ERR_OK) e = check_cause(d, cmd, present);
    if (e == ERR_OK) e = decide_source(d, &c->source);
    if (e == ERR_OK) e = decide_tenant_room(d, cmd->tenant);
    if (e == ERR_OK) e = decide_labels(d, c->labels, c->label_count, &rec.labels);
    if (e == ERR_OK) e = decide_flow_times(d, c->timeout_ms, c->late_after_ms);
    if (e == ERR_OK) e = build_template(d, cmd, &rec);
    if (e != ERR_OK) return e;
    if (!present && d->state->schedules.count >= (uint64_t)d->limits->schedules_max)
        return refuse(d, ERR_LIMIT, "there are %u schedules already (schedules_max)", d->state->schedules.count);
    rec.head = (struct rec_head){.principal = cmd->principal, .tenant = cmd->tenant};
    rec.expression = c->expression;
    rec.zone = c->zone;
    rec.calendar = c->calendar;
    rec.when = (uint8_t)c->when;
    rec.key = c->key;
    rec.key_prefix = c->key_prefix;
    rec.own_changes = c->own_changes;
    rec.min_interval_ms = c->min_interval_ms;
    rec.catch_up = (uint8_t)c->catch_up;
    rec.overlap = (uint8_t)c->overlap;
    rec.paused = c->paused;
    rec.start_ms = c->start_ms;
    rec.end_ms = c->end_ms;
    rec.after_ms = start_after(d, c, present);
    rec.flow_name = c->flow_name;
    rec.compensate_on = (uint8_t)c->compensate_on;
    rec.timeout_ms = c->timeout_ms;
    rec.late_after_ms = c->late_after_ms;
    rec.has_stages = decide_has_stages(&c->jobs);
    rec.source = c->source;
    decide_record(d, REC_SCHEDULE, cmd)->body.as_REC_SCHEDULE = rec;
    return ERR_OK;
}

enum err decide_schedule_remove(struct decision *d, const struct command *cmd) {
    uint32_t index = 0;
    enum err e = find(d, cmd, cmd->as.schedule_name.name, &index);
    if (e != ERR_OK) return e;
    struct rec_schedule_name *rec = &decide_record(d, REC_SCHEDULE_REMOVED, cmd)->body.as_REC_SCHEDULE_REMOVED;
    rec->head.tenant = cmd->tenant;
    rec->name = cmd->as.schedule_name.name;
    return ERR_OK;
}

enum err decide_schedule_pause(struct decision *d, const struct command *cmd) {
    const struct cmd_schedule_name *c = &cmd->as.schedule_name;
    uint32_t index = 0;
    enum err e = find(d, cmd, c->name, &index);
    if (e != ERR_OK) return e;
    const struct schedule *sc = schedule_at(d->state, index);
    if (sc->paused == c->on) return ERR_OK;
    struct rec_schedule_paused *rec = &decide_record(d, REC_SCHEDULE_PAUSED, cmd)->body.as_REC_SCHEDULE_PAUSED;
    rec->head.tenant = cmd->tenant;
    rec->name = c->name;
    rec->on = c->on;
    if (!c->on) rec->after_ms = d->in->wall.ms; /* what came in the pause was called off by it */
    return ERR_OK;
}

enum err decide_schedule_backfill(struct decision *d, const struct command *cmd) {
    const struct cmd_schedule_name *c = &cmd->as.schedule_name;
    uint32_t index = 0;
    enum err e = find(d, cmd, c->name, &index);
    if (e != ERR_OK) return e;
    const struct schedule *sc = schedule_at(d->state, index);
    if (sc->cause) return refuse(d, ERR_INVALID, "a key starts this schedule: it has no slots to run again");
    if (c->slot_count == 0) return refuse(d, ERR_INVALID, "there is no slot in that range");
    if ((uint64_t)sc->waiting.count + c->slot_count > (uint64_t)d->limits->schedule_waiting_max)
        return refuse(d, ERR_LIMIT, "more than %lld slots would wait (schedule_waiting_max)",
                      (long long)d->limits->schedule_waiting_max);
    struct rec_slot *slots = ARENA_ARRAY(d->arena, struct rec_slot, c->slot_count);
    for (uint32_t i = 0; i < c->slot_count; i++) {
        if (i && c->slots[i] <= c->slots[i - 1]) return refuse(d, ERR_INVALID, "the slots are not in order");
        if (c->slots[i] <= 0 || c->slots[i] > sc->after_ms)
            return refuse(d, ERR_INVALID, "only past slots can be run again; later ones run by themselves");
        slots[i].slot_ms = c->slots[i];
    }
    struct rec_schedule_backfill *rec = &decide_record(d, REC_SCHEDULE_BACKFILL, cmd)->body.as_REC_SCHEDULE_BACKFILL;
    rec->head.tenant = cmd->tenant;
    rec->name = c->name;
    rec->slots = (struct tlv_list){slots, c->slot_count};
    return ERR_OK;
}

/* Volatile: accepted here, kept by live.c. */
enum err decide_schedule_slots(struct decision *d, const struct command *cmd) {
    const struct cmd_schedule_slots *c = &cmd->as.schedule_slots;
    uint32_t index = map_get(&d->state->schedule_by_revision, c->revision);
    if (index == 0 || schedule_at(d->state, index)->after_ms != c->after_ms)
        return refuse(d, ERR_STALE, "the schedule has changed since its slots were computed");
    if (c->slot_count > d->limits->schedule_slots_max)
        return refuse(d, ERR_LIMIT, "more than %lld slots at once (schedule_slots_max)",
                      (long long)d->limits->schedule_slots_max);
    if (c->slot_count == 0 && (c->earlier || !c->last)) return refuse(d, ERR_INVALID, "a list of slots without slots");
    for (uint32_t i = 0; i < c->slot_count; i++)
        if (c->slots[i] <= (i ? c->slots[i - 1] : c->after_ms))
            return refuse(d, ERR_INVALID, "the slots are not in order");
    for (uint32_t i = 0, k = 0; i < c->excluded_count; i++) {
        while (k < c->slot_count && c->slots[k] != c->excluded[i].slot_ms) k++;
        if (k == c->slot_count || c->excluded[i].first_ms > c->slots[k] || c->excluded[i].count == 0)
            return refuse(d, ERR_INVALID, "an excluded day without its slot");
    }
    int64_t end_ms = schedule_at(d->state, index)->end_ms;
    if (c->slot_count && end_ms && c->slots[c->slot_count - 1] > end_ms)
        return refuse(d, ERR_INVALID, "a slot after the end of the schedule");
    return ERR_OK;
}

/* ---- firing ---- */

/* `asked`: by whom, and on whose behalf the flow then runs; NULL = its time has come. */
static struct rec_submitted *fire(struct decision *d, const struct schedule *sc, const struct command *asked,
                                  int64_t slot_ms, enum fire how) {
    REQUIRE((unsigned)how < FIRE_COUNT);
    struct rec_schedule template;
    enum err e = tlv_decode(record_desc(REC_SCHEDULE), bytes_slice(sc->record), TLV_STRICT, d->arena, &template, NULL);
    ENSURE(e == ERR_OK);
    struct rec_submitted *rec = &decide_record(d, REC_SUBMITTED, NULL)->body.as_REC_SUBMITTED;
    rec->head.principal = asked ? asked->principal : template.head.principal;
    rec->head.tenant = template.head.tenant;
    rec->flow = d->state->flow_last + 1;
    rec->name = template.flow_name;
    rec->labels = template.labels;
    rec->profiles = template.profiles;
    rec->jobs = template.jobs;
    rec->compensate_on = template.compensate_on;
    rec->timeout_ms = template.timeout_ms;
    rec->has_stages = template.has_stages;
    /* a slot of the past, or one that a person asks for, has its flow now */
    int64_t due_ms = how == FIRE_SLOT || how == FIRE_WAITED ? slot_ms : d->in->wall.ms;
    if (template.late_after_ms) rec->deadline_ms = due_ms + template.late_after_ms;
    if (!MUTANT(source_forgotten)) rec->source = template.source;
    rec->schedule = template.name;
    rec->slot_ms = slot_ms;
    rec->fire = (uint8_t)how;
    if (!MUTANT(zone_forgotten)) rec->zone = template.zone;
    return rec;
}

/* What its templates are told of the key, with the value of this moment. */
static struct flow_cause cause_of(struct decision *d, const struct schedule *sc, struct slice key) {
    const struct store *t = &d->state->store;
    struct flow_cause cause = {.key = key};
    uint32_t index = item_find(t, space_find(t, sc->tenant, 0), key);
    const struct item *it = index ? item_at(t, index) : NULL;
    if (it == NULL || it->kind == ITEM_SET || item_is_over(it, d->in->wall)) return cause;
    cause.version = it->version;
    char *text = arena_alloc(d->arena, STORE_NUMBER_BYTES);
    cause.value = it->kind == ITEM_NUMBER ? store_number_text(it->as.number, text) : bytes_slice(it->as.value);
    if (cause.value.len > (size_t)d->limits->schedule_value_bytes_max) cause.value = (struct slice){0};
    return cause;
}

static void fire_change(struct decision *d, const struct schedule *sc, const struct key_change *change) {
    struct rec_submitted *rec = fire(d, sc, NULL, change->changed_ms, FIRE_KEY);
    rec->cause = cause_of(d, sc, change_key(change));
    rec->cause.how = change->how;
    rec->cause.version = change->version;
    rec->cause.count = change->count;
}

static bool has_room(const struct decision *d, const struct schedule *sc) {
    if (schedule_refusal(d->state, d->limits, sc) != NULL) return false;
    return d->in->journal_free_bytes == UINT64_MAX ||
           d->state->reserved_bytes + sc->reserve_bytes <= d->in->journal_free_bytes;
}

/* Beside the slots: what was dealt with stays so, and what waits goes on waiting. */
enum err decide_schedule_run(struct decision *d, const struct command *cmd) {
    const struct cmd_schedule_name *c = &cmd->as.schedule_name;
    uint32_t index = 0;
    char text[FLOW_TEXT_BYTES] = "";
    enum err e = find(d, cmd, c->name, &index);
    if (e != ERR_OK) return e;
    const struct schedule *sc = schedule_at(d->state, index);
    if (c->slot_count != 1 || c->slots[0] <= 0) return refuse(d, ERR_INVALID, "a run is for one slot");
    if (c->key.len > 0 && sc->cause == 0) return refuse(d, ERR_INVALID, "no key starts this schedule: leave it out");
    if (c->key.len > (size_t)d->limits->store_key_bytes_max)
        return refuse(d, ERR_LIMIT, "the key is longer than %lld bytes (store_key_bytes_max)",
                      (long long)d->limits->store_key_bytes_max);
    if (c->slots[0] > d->in->wall.ms)
        return refuse(d, ERR_INVALID, "the slot is still to come: a run is for now or for a time in the past");
    if (sc->flow) flow_text(d->state->shard, (flow_id){sc->flow}, text);
    if (schedule_is_running(d->state, sc))
        return refuse(d, ERR_CONFLICT, "its flow %s is still running: wait for its end, or cancel it", text);
    const char *limit = schedule_refusal(d->state, d->limits, sc);
    if (limit != NULL) return refuse(d, ERR_LIMIT, "there is no room for its flow (%s)", limit);
    if (!has_room(d, sc)) return refuse(d, ERR_NO_SPACE, "the disk has no room for its flow");
    d->reply->flow.v = d->state->flow_last + 1;
    d->reply->job_count = sc->job_count;
    struct rec_submitted *rec = fire(d, sc, cmd, c->slots[0], FIRE_ASKED);
    if (c->key.len > 0) rec->cause = cause_of(d, sc, c->key);
    if (c->key.len > 0) rec->cause.how = KEY_SET;
    return ERR_OK;
}

static void record_slot(struct decision *d, const struct schedule *sc, enum slot_end what, int64_t first, int64_t last,
                        uint64_t count) {
    REQUIRE(last > sc->after_ms);
    REQUIRE(count > 0);
    struct rec_schedule_slot *rec = &decide_record(d, REC_SCHEDULE_SLOT, NULL)->body.as_REC_SCHEDULE_SLOT;
    rec->head.tenant = bytes_slice(tenant_at(d->state, sc->tenant)->name);
    rec->name = schedule_name(sc);
    rec->what = (uint8_t)what;
    rec->first_ms = first;
    rec->slot_ms = last;
    rec->count = count;
}

static void put_off(struct decision *d, struct state *indices, uint32_t schedule, int64_t until_ms) {
    (void)d;
    timer_set(indices, TIMER_SCHEDULE, schedule, (wall_time){until_ms});
}

static void try_later(struct decision *d, struct state *indices, uint32_t schedule) {
    put_off(d, indices, schedule, d->in->wall.ms + d->limits->schedule_retry_ms);
}

/* The running flow is called off for what comes after it. */
static void call_off(struct decision *d, const struct schedule *sc, const struct flow *f, struct slice reason) {
    REQUIRE(!flow_is_settling(f));
    /* one that unwinds has called its jobs off already, and what it did is undone to the end */
    if (f->cancelling || f->unwinding != UNWIND_NONE) return;
    struct rec_cancelled *rec = &decide_record(d, REC_CANCELLED, NULL)->body.as_REC_CANCELLED;
    rec->head.principal = sc->principal;
    rec->flow = sc->flow;
    rec->whole = true;
    rec->reason = reason;
    rec->confirm_ms = (uint32_t)d->limits->stop_confirm_ms;
}

/* The slot waits, and the running flow is called off for it; false while an earlier change of the flow is still being
 * worked through. */
static bool replace(struct decision *d, const struct schedule *sc, int64_t slot_ms) {
    REQUIRE(sc->flow != 0);
    const struct flow *f = flow_at(d->state, flow_find(d->state, (flow_id){sc->flow}));
    if (flow_is_settling(f)) return false;
    record_slot(d, sc, SLOT_REPLACES, slot_ms, slot_ms, 1);
    call_off(d, sc, f, SLICE("a later slot of its schedule replaces it"));
    return true;
}

/* One slot whose time has come. When others wait, they wait for a flow that runs: see decide_schedule_timer. */
static void offer(struct decision *d, struct state *indices, uint32_t schedule, int64_t slot_ms) {
    const struct schedule *sc = schedule_at(d->state, schedule);
    REQUIRE(slot_ms > sc->after_ms);
    REQUIRE(slot_ms <= d->in->wall.ms);
    if (!schedule_is_running(d->state, sc) || MUTANT(overlap_ignored)) {
        if (has_room(d, sc))
            fire(d, sc, NULL, slot_ms, FIRE_SLOT);
        else
            try_later(d, indices, schedule);
        return;
    }
    switch ((enum overlap)sc->overlap) {
    case OVERLAP_SKIP: record_slot(d, sc, SLOT_OVERLAP, slot_ms, slot_ms, 1); return;
    case OVERLAP_QUEUE: {
        bool full = sc->waiting.count >= (uint64_t)d->limits->schedule_waiting_max;
        record_slot(d, sc, full ? SLOT_FULL : SLOT_QUEUED, slot_ms, slot_ms, 1);
        return;
    }
    case OVERLAP_REPLACE:
        if (!replace(d, sc, slot_ms)) try_later(d, indices, schedule);
        return;
    case OVERLAP_COUNT: break;
    }
    PANIC("an overlap of no kind");
}

/* The slots that are due now and fire: `missed` of them too late, then `count - missed` on time. The first `named` of
 * them are `slots`; what follows lies behind an excluded day, and its turn comes when that was dealt with. */
struct schedule_due {
    const int64_t *slots;
    uint32_t named, count, missed;
    uint64_t earlier;
    const struct cmd_slots_excluded *day; /* it comes before all of them; NULL = none does */
};

static struct schedule_due due_slots(const struct decision *d, const struct schedule *sc,
                                     const struct live_schedule *known) {
    const int64_t *at = (const int64_t *)(const void *)known->slots.at;
    uint32_t first = 0;
    while (first < known->slots.count && at[first] <= sc->after_ms) first++;
    struct schedule_due due = {.slots = at + first};
    bool is_cut = false;
    for (uint32_t i = first; i < known->slots.count && at[i] <= d->in->wall.ms; i++) {
        const struct cmd_slots_excluded *day = MUTANT(calendar_ignored) ? NULL : live_slot_excluded(known, at[i]);
        if (i == first) due.day = day;
        is_cut |= day != NULL;
        if (day != NULL) continue;
        due.count++;
        due.named += !is_cut;
        due.missed += at[i] + d->limits->schedule_late_ms < d->in->wall.ms;
    }
    ENSURE(due.missed <= due.count);
    ENSURE(due.named <= due.count);
    if (sc->after_ms == known->after_ms) due.earlier = known->earlier;
    return due;
}

/* Leaves out the first `count` of the missed slots, as far as they are named, and whatever was not even told. */
static void leave_out(struct decision *d, const struct schedule *sc, const struct schedule_due *due, uint32_t count) {
    if (count > due->named) count = due->named;
    if (count + due->earlier == 0) return;
    int64_t last =
        count ? due->slots[count - 1] : due->slots[0] - 1; /* of those not named nothing but a bound is known */
    record_slot(d, sc, SLOT_MISSED, count ? due->slots[0] : last, last, count + due->earlier);
}

static void catch_up(struct decision *d, struct state *indices, uint32_t schedule, const struct schedule_due *due) {
    const struct schedule *sc = schedule_at(d->state, schedule);
    switch ((enum catch_up)sc->catch_up) {
    case CATCH_UP_NONE: leave_out(d, sc, due, due->missed); return;
    case CATCH_UP_LAST:
        if (due->count > due->missed) { /* one that is on time is newer still */
            leave_out(d, sc, due, due->missed);
        } else if (due->missed + due->earlier > 1) {
            leave_out(d, sc, due, due->missed - 1);
        } else {
            offer(d, indices, schedule, due->slots[0]);
        }
        return;
    case CATCH_UP_ALL: {
        int64_t room = d->limits->schedule_waiting_max - (int64_t)sc->waiting.count;
        if (room > d->limits->schedule_catch_up_max) room = d->limits->schedule_catch_up_max;
        if (room < 0) room = 0;
        uint32_t kept = due->missed < room ? due->missed : (uint32_t)room;
        leave_out(d, sc, due, due->missed - kept);
        for (uint32_t i = due->missed - kept; i < due->missed && i < due->named; i++) {
            if (MUTANT(catch_up_lost) && i + 1 < due->missed) continue;
            record_slot(d, sc, SLOT_QUEUED, due->slots[i], due->slots[i], 1);
        }
        return;
    }
    case CATCH_UP_COUNT: break;
    }
    PANIC("a catch-up of no kind");
}

static void leave_out_day(struct decision *d, const struct schedule *sc, const struct schedule_due *due) {
    const struct cmd_slots_excluded *day = due->day;
    int64_t last = day->slot_ms;
    if (MUTANT(excluded_takes_more) && due->count > 0) last = due->slots[1];
    record_slot(d, sc, SLOT_EXCLUDED, day->first_ms, last, day->count);
}

static void want_slots(struct decision *d, const struct schedule *sc) {
    struct effect effect = {.kind = EFFECT_SLOTS_WANTED, .lsn = d->state->lsn};
    effect.as.slots = (struct slots_effect){sc->revision, sc->after_ms, sc->end_ms ? sc->end_ms : TIME_NEVER,
                                            (uint32_t)d->limits->schedule_slots_max};
    effects_push(d->effects, &effect);
}

/* Nothing is due: the timer goes to the next slot, or the shell is asked for it. */
static void wait_for_next(struct decision *d, struct state *indices, uint32_t schedule) {
    const struct schedule *sc = schedule_at(d->state, schedule);
    int64_t next = schedule_next(d->state, d->live, schedule);
    if (next == SLOTS_UNKNOWN) {
        want_slots(d, sc);
        try_later(d, indices, schedule);
        return;
    }
    ENSURE(next > d->in->wall.ms);
    put_off(d, indices, schedule, next);
}

/* The first key that waits, if anything waits and nothing is in its way. The end of the running flow, a change and
 * whatever the schedule is told wake the timer by themselves. */
static void decide_cause(struct decision *d, struct state *indices, uint32_t schedule) {
    const struct schedule *sc = schedule_at(d->state, schedule);
    const struct key_cause *c = cause_at(&d->state->causes, sc->cause);
    const struct key_change *first = cause_first(d->state, sc);
    int64_t soonest = c->started_ms ? c->started_ms + c->min_interval_ms : 0;
    if (first != NULL && schedule_is_running(d->state, sc) && sc->overlap == OVERLAP_REPLACE) {
        const struct flow *f = flow_at(d->state, flow_find(d->state, (flow_id){sc->flow}));
        if (flow_is_settling(f)) {
            try_later(d, indices, schedule);
            return;
        }
        call_off(d, sc, f, SLICE("a later change of the key of its schedule replaces it"));
        put_off(d, indices, schedule, TIME_NEVER);
    } else if (first == NULL || schedule_is_running(d->state, sc)) {
        put_off(d, indices, schedule, TIME_NEVER);
    } else if (soonest > d->in->wall.ms && !MUTANT(interval_ignored)) {
        put_off(d, indices, schedule, soonest);
    } else if (has_room(d, sc)) {
        fire_change(d, sc, first);
    } else {
        try_later(d, indices, schedule);
    }
}

void decide_schedule_timer(struct decision *d, struct state *indices, uint32_t schedule) {
    const struct state *s = d->state;
    const struct schedule *sc = schedule_at(s, schedule);
    const struct live_schedule *known = live_schedule_get(d->live, s, schedule);
    REQUIRE(!sc->paused);
    if (sc->waiting.count && !schedule_is_running(s, sc)) {
        const struct slot_waiting *next = vec_at(&sc->waiting, 0);
        if (has_room(d, sc))
            fire(d, sc, NULL, next->slot_ms, (enum fire)next->fire);
        else
            try_later(d, indices, schedule);
        return;
    }
    if (sc->cause) {
        decide_cause(d, indices, schedule);
        return;
    }
    struct schedule_due due = known ? due_slots(d, sc, known) : (struct schedule_due){0};
    if (due.day != NULL && due.earlier == 0)
        leave_out_day(d, sc, &due);
    else if (due.day != NULL)
        record_slot(d, sc, SLOT_MISSED, due.day->first_ms - 1, due.day->first_ms - 1, due.earlier);
    else if (due.count == 0)
        wait_for_next(d, indices, schedule);
    else if (due.missed || due.earlier)
        catch_up(d, indices, schedule, &due);
    else
        offer(d, indices, schedule, due.slots[0]);
}
