/* req_schedule.c: schedules over the wire: setting, changing and listing them. When they fire is schedule_slots.c's
 * business and the engine's. */
#include <stdio.h>

#include "call.h"
#include "flow_source.h"
#include "moment.h"
#include "record.h"
#include "requests.h"
#include "schedule_slots.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "slot_note.h"

#define PAGE_MAX 1000u

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

HANDLER(req_schedule_set) {
    const struct wire_schedule_set *m = r->message;
    struct command flow = {0}, cmd = {.kind = CMD_SCHEDULE};
    struct recur recur = {0};
    const struct zone *zone;
    struct why why = {{0}};
    struct vec puts;
    int64_t first;
    enum err e = ERR_OK;
    vec_init(&puts, sizeof(struct blob_put *));
    if (r->session->job.job.flow.v != 0) /* the bounds of a job hold while its attempt does; a schedule stays */
        e = why_set(&why, ERR_FORBIDDEN, "a job's token cannot set schedules: use the token of a submitter");
    if (e == ERR_OK) e = schedule_slots_read(s, m->expression, &recur, &zone, &why);
    if (e == ERR_OK && !recur_next(&recur, zone, engine_now(server_shard(s)->engine).ms, &first))
        e = why_set(&why, ERR_INVALID, "`%.*s` has no slot left", SLICE_FMT(m->expression));
    if (e == ERR_OK) e = req_flow_command(s, r, &m->flow, &flow, &puts, &why);
    if (flow_source_wait(s, r, &puts, e == ERR_BUSY)) return;
    if (e == ERR_OK && flow.as.submit.key.len > 0)
        e = why_set(&why, ERR_INVALID, "a scheduled flow cannot have an idempotency key");
    const struct cmd_submit *made = &flow.as.submit;
    cmd.as.schedule = (struct cmd_schedule){.name = m->name,
                                            .expression = m->expression,
                                            .zone = recur.zone,
                                            .catch_up = (enum catch_up)m->catch_up,
                                            .overlap = (enum overlap)m->overlap,
                                            .paused = m->paused,
                                            .start_ms = m->start_ms,
                                            .end_ms = m->end_ms,
                                            .flow_name = made->name.len > 0 ? made->name : m->name,
                                            .compensate_on = made->compensate_on,
                                            .labels = made->labels,
                                            .label_count = made->label_count,
                                            .jobs = made->jobs,
                                            .source = made->source};
    send_one(s, r, &cmd, e, &why);
}

/* A schedule of the caller's, when it recurs and where. */
struct calendar {
    struct schedule_view view;
    struct recur recur;
    const struct zone *zone; /* good until another is asked for */
};

static enum err calendar_find(struct server *s, const struct request *r, struct slice name, struct calendar *ret,
                              struct why *why) {
    if (!view_schedule(server_state(s), tenant_of(r), name, &ret->view))
        return why_set(why, ERR_NOT_FOUND, "there is no schedule %.*s", SLICE_FMT(name));
    return schedule_slots_read(s, ret->view.expression, &ret->recur, &ret->zone, why);
}

/* A time that a person has written, in the zone of the schedule. */
static enum err time_read(const struct calendar *c, const char *what, struct slice text, int64_t *ret_ms,
                          struct why *why) {
    int64_t utc;
    if (!moment_read(text, c->zone, &utc))
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

/* Slots from `since` on and before `until`, as the expression of today has them. */
static enum err slots_between(struct server *s, const struct request *r, const struct calendar *c, struct slot_range of,
                              const int64_t **ret, uint32_t *ret_count, struct why *why) {
    uint32_t most = (uint32_t)s->limits->schedule_waiting_max, count = 0;
    enum err e = of.since.len > 0 ? time_read(c, "since", of.since, &of.since_ms, why) : ERR_OK;
    if (e == ERR_OK && of.until.len > 0) e = time_read(c, "until", of.until, &of.until_ms, why);
    if (e != ERR_OK) return e;
    if (of.since_ms <= 0 || of.until_ms <= of.since_ms)
        return why_set(why, ERR_INVALID, "a backfill needs `since` and a later `until`");
    int64_t *slots = ARENA_ARRAY(r->arena, int64_t, most);
    for (int64_t at = of.since_ms - 1; recur_next(&c->recur, c->zone, at, &at) && at < of.until_ms;) {
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
    struct calendar c;
    enum err e = calendar_find(s, r, m->name, &c, why);
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
    struct calendar c;
    int64_t *slot = ARENA_NEW(r->arena, int64_t);
    enum err e = ERR_OK;
    if (r->session->job.job.flow.v != 0) /* as of req_schedule_set: its flows have other bounds than the job */
        e = why_set(&why, ERR_FORBIDDEN, "a job's token cannot run schedules: use the token of a submitter");
    if (e == ERR_OK) e = calendar_find(s, r, m->name, &c, &why);
    *slot = engine_now(server_shard(s)->engine).ms / 1000 * 1000;
    if (e == ERR_OK && m->slot.len > 0) e = time_read(&c, "slot", m->slot, slot, &why);
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = m->name, .slots = slot, .slot_count = 1};
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

static void show_ahead(struct schedule_page *p, const struct calendar *c, struct wire_schedule_view *w) {
    const struct wire_schedule_ls *m = p->r->message;
    uint32_t count = m->ahead < WIRE_AHEAD_MAX ? m->ahead : WIRE_AHEAD_MAX;
    int64_t at = c->view.after.ms;
    struct wire_moment *list = ARENA_ARRAY(&p->s->frame_arena, struct wire_moment, count + 1);
    while (w->ahead.count < count && recur_next(&c->recur, c->zone, at, &at) && at <= c->view.end.ms)
        list[w->ahead.count++] = moment_of(p, c->zone, at);
    w->ahead.at = list;
}

/* What a backfill of that range would run. */
static enum err show_between(struct schedule_page *p, const struct calendar *c, struct wire_schedule_view *w,
                             struct why *why) {
    const struct wire_schedule_ls *m = p->r->message;
    const int64_t *slots = NULL;
    uint32_t count = 0;
    enum err e =
        slots_between(p->s, p->r, c, (struct slot_range){.since = m->since, .until = m->until}, &slots, &count, why);
    if (e != ERR_OK) return e;
    struct wire_moment *list = ARENA_ARRAY(&p->s->frame_arena, struct wire_moment, count + 1);
    for (uint32_t i = 0; i < count; i++) list[i] = moment_of(p, c->zone, slots[i]);
    w->between = (struct tlv_list){list, count};
    return ERR_OK;
}

static void show_slots(struct schedule_page *p, const struct calendar *c, struct wire_schedule_view *w) {
    const struct schedule_view *v = &c->view;
    struct wire_slot *list = ARENA_ARRAY(&p->s->frame_arena, struct wire_slot, v->note_count + 1);
    for (uint32_t i = 0; i < v->note_count; i++) {
        const struct slot_note *n = &v->notes[v->note_count - 1 - i];
        list[i] = (struct wire_slot){.what = slice_str(slot_end_words[n->what]),
                                     .slot_ms = n->slot_ms,
                                     .slot = moment_of(p, c->zone, n->slot_ms).text,
                                     .count = n->count};
        if (n->what != SLOT_FIRED) continue;
        list[i].flow = server_view_flow_name(p->s, (flow_id){n->flow});
        list[i].state = slice_str(flow_state_words[n->flow_state]);
    }
    w->slots = (struct tlv_list){list, v->note_count};
}

/* What needs its calendar. One that can no longer be read has nothing of it. */
static void show_calendar(struct schedule_page *p, const struct schedule_view *v, struct wire_schedule_view *w) {
    const struct wire_schedule_ls *m = p->r->message;
    struct calendar c = {.view = *v};
    struct why ignored;
    if (schedule_slots_read(p->s, v->expression, &c.recur, &c.zone, &ignored) != ERR_OK) return;
    w->zone = c.recur.zone;
    if (w->next_ms != 0) w->next = moment_of(p, c.zone, w->next_ms).text;
    show_ahead(p, &c, w);
    if (m->details) show_slots(p, &c, w);
    if (m->since.len + m->until.len > 0) p->err = show_between(p, &c, w, &p->why);
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
