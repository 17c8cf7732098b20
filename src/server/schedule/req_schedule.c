/* req_schedule.c: schedules over the wire: setting, changing and listing them. When they fire is schedule_slots.c's
 * business and the engine's. */
#include <stdio.h>

#include "call.h"
#include "civil.h"
#include "flow_source.h"
#include "moment.h"
#include "record.h"
#include "requests.h"
#include "schedule_slots.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "slot_note.h"
#include "utf8.h"

#define PAGE_MAX 1000u
#define KEY_SHOWN_MAX 120u

static struct slice tenant_of(const struct request *r) {
    return r->session->who.tenant[0] != 0 ? slice_str(r->session->who.tenant) : SLICE("default");
}

static void send_one(struct server *s, struct request *r, struct command *cmd, enum err e, const struct why *why) {
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    cmd->tenant = tenant_of(r);
    if (e == ERR_OK)
        call_command(s, r, c, 0, cmd);
    else
        call_refuse(s, r, c, 0, e, why->text);
}

/* ---- what a key starts ---- */

static enum err when_read(struct slice text, unsigned *ret, struct why *why) {
    static const unsigned bits[] = {KEY_SET, KEY_CHANGED, KEY_DELETED};
    *ret = text.len == 0 ? KEY_CHANGED : 0;
    for (size_t from = 0, i = 0; i <= text.len && text.len > 0; i++) {
        if (i < text.len && text.ptr[i] != ',') continue;
        while (from < i && text.ptr[from] == ' ') from++;
        struct slice word = slice_of(text.ptr + from, i - from);
        unsigned found = 0;
        for (size_t k = 0; k < sizeof bits / sizeof *bits; k++)
            if (slice_eq(word, slice_str(key_how_word(bits[k])))) found = bits[k];
        if (found == 0)
            return why_set(why, ERR_INVALID, "when: expected set, changed or deleted, found `%.*s`", SLICE_FMT(word));
        *ret |= found;
        from = i + 1;
    }
    return ERR_OK;
}

/* How it is shown, where other schedules have their expression. */
static struct slice key_expression(const struct request *r, const struct cmd_schedule *c, struct slice pattern) {
    struct slice shown = utf8_cut(pattern, KEY_SHOWN_MAX);
    struct buf text;
    buf_init(&text, 256);
    buf_printf(&text, "key %.*s%s; when", SLICE_FMT(shown), shown.len < pattern.len ? "..." : "");
    for (unsigned bit = KEY_SET, count = 0; bit <= KEY_DELETED; bit <<= 1)
        if (c->when & bit) buf_printf(&text, "%s %s", count++ ? "," : "", key_how_word(bit));
    if (c->min_interval_ms > 0) buf_printf(&text, "; interval %lld ms", (long long)c->min_interval_ms);
    if (c->own_changes) buf_printf(&text, "; own changes");
    struct slice ret = arena_slice(r->arena, buf_slice(&text));
    buf_fini(&text);
    return ret;
}

static enum err key_read(const struct request *r, struct cmd_schedule *ret, struct why *why) {
    const struct wire_schedule_set *m = r->message;
    if (m->expression.len > 0 || m->calendar.len > 0)
        return why_set(why, ERR_INVALID, "a key starts the schedule, or the clock does: it has no %s then",
                       m->expression.len > 0 ? "expression" : "calendar");
    enum err e = when_read(m->when, &ret->when, why);
    ret->key = m->key;
    ret->key_prefix = m->key.ptr[m->key.len - 1] == '*';
    if (ret->key_prefix) ret->key.len--;
    ret->min_interval_ms = m->min_interval_ms;
    ret->own_changes = m->own_changes;
    if (e == ERR_OK) ret->expression = key_expression(r, ret, m->key);
    return e;
}

static enum err plan_fits(struct server *s, const struct wire_schedule_set *m, const struct recur_plan *plan,
                          struct why *why) {
    int64_t now_ms = engine_now(server_shard(s)->engine).ms, first;
    if (plan->days.count > s->limits->schedule_days_max)
        return why_set(why, ERR_LIMIT, "the calendar names %u days, more than %lld (schedule_days_max)",
                       plan->days.count, (long long)s->limits->schedule_days_max);
    if (!recur_next(&plan->recur, plan->zone, now_ms, &first))
        return why_set(why, ERR_INVALID, "`%.*s` has no slot left", SLICE_FMT(m->expression));
    if (!recur_plan_next_slot(plan, now_ms, &first))
        return why_set(why, ERR_INVALID, "the calendar leaves out every slot of `%.*s`", SLICE_FMT(m->expression));
    return ERR_OK;
}

HANDLER(req_schedule_set) {
    const struct wire_schedule_set *m = r->message;
    struct command flow = {0}, cmd = {.kind = CMD_SCHEDULE};
    struct recur_plan plan = {0};
    struct why why = {{0}};
    struct vec puts;
    enum err e = ERR_OK;
    vec_init(&puts, sizeof(struct blob_put *));
    if (r->session->job.job.flow.v != 0) /* the bounds of a job hold while its attempt does; a schedule stays */
        e = why_set(&why, ERR_FORBIDDEN, "a job's token cannot set schedules: use the token of a submitter");
    if (e == ERR_OK && m->key.len == 0) e = schedule_slots_read(s, m->expression, m->calendar, r->arena, &plan, &why);
    if (e == ERR_OK && m->key.len == 0) e = plan_fits(s, m, &plan, &why);
    if (e == ERR_OK) e = req_flow_command(s, r, &m->flow, &flow, &puts, &why);
    if (flow_source_wait(s, r, &puts, e == ERR_BUSY)) return;
    if (e == ERR_OK && flow.as.submit.key.len > 0)
        e = why_set(&why, ERR_INVALID, "a scheduled flow cannot have an idempotency key");
    if (e == ERR_OK && flow.as.submit.deadline_ms != 0)
        e = why_set(&why, ERR_INVALID,
                    "the deadline of a scheduled flow is a duration, which counts from the slot: `deadline: 2h`");
    const struct cmd_submit *made = &flow.as.submit;
    cmd.as.schedule = (struct cmd_schedule){.name = m->name,
                                            .expression = m->expression,
                                            .zone = plan.recur.zone,
                                            .catch_up = (enum catch_up)m->catch_up,
                                            .overlap = (enum overlap)m->overlap,
                                            .paused = m->paused,
                                            .start_ms = m->start_ms,
                                            .end_ms = m->end_ms,
                                            .flow_name = made->name.len > 0 ? made->name : m->name,
                                            .compensate_on = made->compensate_on,
                                            .timeout_ms = made->timeout_ms,
                                            .late_after_ms = made->late_after_ms,
                                            .labels = made->labels,
                                            .label_count = made->label_count,
                                            .jobs = made->jobs,
                                            .calendar = m->calendar,
                                            .source = made->source};
    if (e == ERR_OK && m->key.len > 0) e = key_read(r, &cmd.as.schedule, &why);
    send_one(s, r, &cmd, e, &why);
}

/* A schedule of the caller's, and when it recurs. */
struct timetable {
    struct schedule_view view;
    struct recur_plan plan; /* its zone is good until another is asked for */
};

static enum err timetable_find(struct server *s, const struct request *r, struct slice name, struct timetable *ret,
                               struct why *why) {
    *ret = (struct timetable){0};
    if (!view_schedule(server_state(s), tenant_of(r), name, &ret->view))
        return why_set(why, ERR_NOT_FOUND, "there is no schedule %.*s", SLICE_FMT(name));
    ret->plan.zone = zone_utc;
    if (ret->view.when != 0) return ERR_OK; /* a key starts it: it has no slots */
    return schedule_slots_read(s, ret->view.expression, ret->view.calendar, r->arena, &ret->plan, why);
}

/* A time that a person has written, in the zone of the schedule. */
static enum err time_read(const struct timetable *c, const char *what, struct slice text, int64_t *ret_ms,
                          struct why *why) {
    int64_t utc;
    if (!moment_read(text, c->plan.zone, &utc))
        return why_set(why, ERR_INVALID,
                       "%s: expected a date or time like 2026-11-01 or 2026-11-01T02:30 (in the zone of the schedule), "
                       "found `%.*s`",
                       what, SLICE_FMT(text));
    *ret_ms = utc * 1000;
    return ERR_OK;
}

struct slot_range { /* as a message has it: texts, or else milliseconds */
    struct slice since, until;
    int64_t since_ms, until_ms;
};

/* Slots from `since` on and before `until`, as the expression and the calendar of today have them. */
static enum err slots_between(struct server *s, const struct request *r, const struct timetable *c,
                              struct slot_range of, const int64_t **ret, uint32_t *ret_count, struct why *why) {
    uint32_t most = (uint32_t)s->limits->schedule_waiting_max, count = 0;
    if (c->view.when != 0) return why_set(why, ERR_INVALID, "a key starts this schedule: it has no slots");
    enum err e = of.since.len > 0 ? time_read(c, "since", of.since, &of.since_ms, why) : ERR_OK;
    if (e == ERR_OK && of.until.len > 0) e = time_read(c, "until", of.until, &of.until_ms, why);
    if (e != ERR_OK) return e;
    if (of.since_ms <= 0 || of.until_ms <= of.since_ms)
        return why_set(why, ERR_INVALID, "a backfill needs `since` and a later `until`");
    int64_t *slots = ARENA_ARRAY(r->arena, int64_t, most);
    for (int64_t at = of.since_ms - 1; recur_plan_next_slot(&c->plan, at, &at) && at < of.until_ms;) {
        if (count == most)
            return why_set(why, ERR_LIMIT, "the range contains more than %u slots (schedule_waiting_max)", most);
        slots[count++] = at;
    }
    *ret = slots;
    *ret_count = count;
    return ERR_OK;
}

static enum err past_slots(struct server *s, struct request *r, const struct wire_schedule_change *m,
                           struct cmd_schedule_name *ret, struct why *why) {
    struct slot_range range = {m->since, m->until, m->since_ms, m->until_ms};
    struct timetable c;
    enum err e = timetable_find(s, r, m->name, &c, why);
    return e == ERR_OK ? slots_between(s, r, &c, range, &ret->slots, &ret->slot_count, why) : e;
}

HANDLER(req_schedule_change) {
    static const enum command_kind kinds[WIRE_SCHEDULE_OP_COUNT] = {CMD_SCHEDULE_REMOVE, CMD_SCHEDULE_PAUSE,
                                                                    CMD_SCHEDULE_PAUSE, CMD_SCHEDULE_BACKFILL};
    const struct wire_schedule_change *m = r->message;
    struct command cmd = {.kind = kinds[m->op]};
    struct why why = {{0}};
    enum err e = ERR_OK;
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = m->name, .on = m->op == WIRE_SCHEDULE_PAUSE};
    if (m->op == WIRE_SCHEDULE_BACKFILL) e = past_slots(s, r, m, &cmd.as.schedule_name, &why);
    send_one(s, r, &cmd, e, &why);
}

/* A slot in the past that nobody names is now: to the second, as slots are. */
HANDLER(req_schedule_run) {
    const struct wire_schedule_run *m = r->message;
    struct command cmd = {.kind = CMD_SCHEDULE_RUN};
    struct why why = {{0}};
    struct timetable c;
    int64_t *slot = ARENA_NEW(r->arena, int64_t);
    enum err e = ERR_OK;
    if (r->session->job.job.flow.v != 0) /* as of req_schedule_set: its flows have other bounds than the job */
        e = why_set(&why, ERR_FORBIDDEN, "a job's token cannot run schedules: use the token of a submitter");
    if (e == ERR_OK) e = timetable_find(s, r, m->name, &c, &why);
    *slot = engine_now(server_shard(s)->engine).ms / 1000 * 1000;
    if (e == ERR_OK && m->slot.len > 0) e = time_read(&c, "slot", m->slot, slot, &why);
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = m->name, .slots = slot, .slot_count = 1, .key = m->key};
    send_one(s, r, &cmd, e, &why);
}

/* ---- listing ---- */

struct schedule_page {
    struct server *s;
    const struct request *r;
    struct wire_schedule_view *list;
    uint32_t count, most;
    uint64_t after, last; /* revisions */
    bool more;
    enum err err; /* of the range that was asked for */
    struct why why;
};

static struct wire_moment moment_of(struct schedule_page *p, const struct zone *zone, int64_t ms) {
    char *text = arena_alloc(&p->s->frame_arena, MOMENT_TEXT_BYTES);
    moment_text(zone, ms / 1000, text);
    return (struct wire_moment){ms, slice_str(text)};
}

static void show_ahead(struct schedule_page *p, const struct timetable *c, struct wire_schedule_view *w) {
    const struct wire_schedule_ls *m = p->r->message;
    uint32_t count = m->ahead < WIRE_AHEAD_MAX ? m->ahead : WIRE_AHEAD_MAX;
    int64_t at = c->view.after.ms;
    struct wire_moment *list = ARENA_ARRAY(&p->s->frame_arena, struct wire_moment, count + 1);
    while (w->ahead.count < count && recur_plan_next_slot(&c->plan, at, &at) && at <= c->view.end.ms)
        list[w->ahead.count++] = moment_of(p, c->plan.zone, at);
    w->ahead.at = list;
}

/* What a backfill of that range would run. */
static enum err show_between(struct schedule_page *p, const struct timetable *c, struct wire_schedule_view *w,
                             struct why *why) {
    const struct wire_schedule_ls *m = p->r->message;
    const int64_t *slots = NULL;
    uint32_t count = 0;
    enum err e =
        slots_between(p->s, p->r, c, (struct slot_range){.since = m->since, .until = m->until}, &slots, &count, why);
    if (e != ERR_OK) return e;
    struct wire_moment *list = ARENA_ARRAY(&p->s->frame_arena, struct wire_moment, count + 1);
    for (uint32_t i = 0; i < count; i++) list[i] = moment_of(p, c->plan.zone, slots[i]);
    w->between = (struct tlv_list){list, count};
    return ERR_OK;
}

/* Which day it was that the calendar left out, as it is today. */
static struct slice day_text(struct schedule_page *p, const struct timetable *c, int64_t slot_ms) {
    int64_t day = recur_plan_day(&c->plan, slot_ms);
    const struct excluded_day *listed = day_calendar_find(&c->plan.days, day);
    char date[CIVIL_TEXT_BYTES];
    civil_text(day * CIVIL_DAY, date);
    date[10] = 0;
    size_t most = 64 + (listed ? listed->name.len : 0);
    char *text = arena_alloc(&p->s->frame_arena, most);
    if (listed && listed->name.len > 0)
        snprintf(text, most, "excluded: %s %.*s", date, SLICE_FMT(listed->name));
    else
        snprintf(text, most, "excluded: %s%s", date, listed ? "" : " is no weekday of the calendar");
    return slice_str(text);
}

/* The key that started it, while the flow is there to ask. */
static struct slice trigger_text(struct server *s, uint64_t flow) {
    struct flow_view v;
    bool is_known = view_flow(server_state(s), (flow_id){flow}, &v) && utf8_is_valid(v.cause.key);
    return is_known ? v.cause.key : (struct slice){0};
}

static void show_slots(struct schedule_page *p, const struct timetable *c, struct wire_schedule_view *w) {
    const struct schedule_view *v = &c->view;
    struct wire_slot *list = ARENA_ARRAY(&p->s->frame_arena, struct wire_slot, v->note_count + 1);
    for (uint32_t i = 0; i < v->note_count; i++) {
        const struct slot_note *n = &v->notes[v->note_count - 1 - i];
        list[i] = (struct wire_slot){.what = slice_str(slot_end_words[n->what]),
                                     .slot_ms = n->slot_ms,
                                     .slot = moment_of(p, c->plan.zone, n->slot_ms).text,
                                     .count = n->count};
        if (n->what == SLOT_EXCLUDED) list[i].text = day_text(p, c, n->slot_ms);
        if (n->what != SLOT_FIRED) continue;
        list[i].flow = server_view_flow_name(p->s, (flow_id){n->flow});
        list[i].state = slice_str(flow_state_words[n->flow_state]);
        if (v->when != 0) list[i].text = trigger_text(p->s, n->flow);
    }
    w->slots = (struct tlv_list){list, v->note_count};
}

/* What needs its calendar. One that can no longer be read has nothing of it. */
static void show_calendar(struct schedule_page *p, const struct schedule_view *v, struct wire_schedule_view *w) {
    const struct wire_schedule_ls *m = p->r->message;
    struct timetable c = {.view = *v};
    struct arena days;
    struct why ignored;
    arena_init(&days, 4096, 1u << 20);
    if (m->details) w->calendar = v->calendar;
    c.plan.zone = zone_utc;
    if (v->when != 0) {
        if (m->details) show_slots(p, &c, w);
        if (m->since.len + m->until.len > 0)
            p->err = why_set(&p->why, ERR_INVALID, "a key starts this schedule: it has no slots");
    } else if (schedule_slots_read(p->s, v->expression, v->calendar, &days, &c.plan, &ignored) == ERR_OK) {
        w->zone = c.plan.recur.zone;
        if (w->next_ms != 0) w->next = moment_of(p, c.plan.zone, w->next_ms).text;
        show_ahead(p, &c, w);
        if (m->details) show_slots(p, &c, w);
        if (m->since.len + m->until.len > 0) p->err = show_between(p, &c, w, &p->why);
    }
    arena_fini(&days);
}

static void one(void *ctx, const struct schedule_view *v) {
    struct schedule_page *p = ctx;
    const struct wire_schedule_ls *m = p->r->message;
    struct slice own = slice_str(p->r->session->who.tenant);
    struct why_schedule why;
    if (own.len > 0 && !slice_eq(v->tenant, own)) return;
    if (m->name.len > 0 && !slice_eq(m->name, v->name)) return;
    if (v->revision <= p->after) return;
    if (p->count == p->most) {
        p->more = true;
        return;
    }
    struct wire_schedule_view *w = &p->list[p->count++];
    *w = (struct wire_schedule_view){.name = v->name,
                                     .expression = v->expression,
                                     .catch_up = (uint8_t)v->catch_up,
                                     .overlap = (uint8_t)v->overlap,
                                     .paused = v->paused,
                                     .fired_ms = v->fired_slot.ms,
                                     .running = v->running,
                                     .fired = v->fired,
                                     .missed = v->missed,
                                     .skipped = v->skipped,
                                     .excluded = v->excluded,
                                     .waiting = v->waiting,
                                     .principal = v->principal};
    if (v->flow.v != 0) w->flow = server_view_flow_name(p->s, v->flow);
    (void)view_why_schedule(server_state(p->s), engine_live(server_shard(p->s)->engine), p->s->limits, v->revision,
                            &why);
    w->code = slice_str(schedule_block_word(why.block));
    w->text = slice_str(schedule_block_text(why.block));
    if (why.next.ms != TIME_NEVER) w->next_ms = why.next.ms;
    show_calendar(p, v, w);
    p->last = v->revision;
}

HANDLER(req_schedule_ls) {
    const struct wire_schedule_ls *m = r->message;
    struct schedule_page p = {.s = s, .r = r, .most = m->most == 0 || m->most > PAGE_MAX ? PAGE_MAX : m->most};
    char cursor[24];
    if (!slice_decimal(m->cursor, &p.after)) {
        call_fail(s, r, ERR_INVALID, "invalid cursor: it does not come from this server");
        return;
    }
    if (m->name.len == 0 && m->since.len + m->until.len > 0) {
        call_fail(s, r, ERR_INVALID, "slots between two times are those of one schedule: name it");
        return;
    }
    arena_reset(&s->frame_arena);
    p.list = ARENA_ARRAY(&s->frame_arena, struct wire_schedule_view, p.most);
    view_each_schedule(server_state(s), one, &p);
    if (p.err != ERR_OK) {
        call_fail(s, r, p.err, p.why.text);
        return;
    }
    struct wire_schedule_list got = {.lsn = engine_lsn(server_shard(s)->engine), .schedules = {p.list, p.count}};
    snprintf(cursor, sizeof cursor, "%llu", (unsigned long long)p.last);
    if (p.more) got.cursor = slice_str(cursor);
    call_show(s, r, WIRE_SCHEDULE_LIST, &got);
}
