/* req_schedule.c: schedules over the wire: setting, changing and listing them. When they fire is schedule_slots.c's
 * business and the engine's. */
#include <stdio.h>

#include "call.h"
#include "requests.h"
#include "schedule_slots.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"

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
    struct recur recur;
    const struct zone *zone;
    struct why why = {{0}};
    int64_t first;
    enum err e = ERR_OK;
    if (r->session->job.job.flow.v != 0) /* the bounds of a job hold while its attempt does; a schedule stays */
        e = why_set(&why, ERR_FORBIDDEN, "a job's token cannot set schedules: use the token of a submitter");
    if (e == ERR_OK) e = schedule_slots_read(s, m->expression, r->arena, &recur, &zone, &why);
    if (e == ERR_OK && !recur_next(&recur, zone, engine_now(server_shard(s)->engine).ms, &first))
        e = why_set(&why, ERR_INVALID, "`%.*s` has no slot left", SLICE_FMT(m->expression));
    if (e == ERR_OK) e = req_flow_command(s, r, &m->flow, &flow, &why);
    if (e == ERR_OK && flow.as.submit.key.len > 0)
        e = why_set(&why, ERR_INVALID, "a scheduled flow cannot have an idempotency key");
    const struct cmd_submit *made = &flow.as.submit;
    cmd.as.schedule = (struct cmd_schedule){.name = m->name,
                                            .expression = m->expression,
                                            .catch_up = (enum catch_up)m->catch_up,
                                            .overlap = (enum overlap)m->overlap,
                                            .paused = m->paused,
                                            .start_ms = m->start_ms,
                                            .end_ms = m->end_ms,
                                            .flow_name = made->name.len > 0 ? made->name : m->name,
                                            .compensate_on = made->compensate_on,
                                            .labels = made->labels,
                                            .label_count = made->label_count,
                                            .jobs = made->jobs};
    send_one(s, r, &cmd, e, &why);
}

/* Slots from `since` on and before `until`, as the expression of today has them. */
static enum err past_slots(struct server *s, struct request *r, const struct wire_schedule_change *m,
                           struct cmd_schedule_name *ret, struct why *why) {
    struct schedule_view v;
    struct recur recur;
    const struct zone *zone;
    uint32_t most = (uint32_t)s->limits->schedule_waiting_max;
    if (!view_schedule(server_state(s), tenant_of(r), m->name, &v))
        return why_set(why, ERR_NOT_FOUND, "there is no schedule %.*s", SLICE_FMT(m->name));
    if (m->since_ms <= 0 || m->until_ms <= m->since_ms)
        return why_set(why, ERR_INVALID, "a backfill needs `since` and a later `until`");
    enum err e = schedule_slots_read(s, v.expression, r->arena, &recur, &zone, why);
    if (e != ERR_OK) return e;
    int64_t *slots = ARENA_ARRAY(r->arena, int64_t, most);
    for (int64_t at = m->since_ms - 1; recur_next(&recur, zone, at, &at) && at < m->until_ms;) {
        if (ret->slot_count == most)
            return why_set(why, ERR_LIMIT, "the range contains more than %u slots (schedule_waiting_max)", most);
        slots[ret->slot_count++] = at;
    }
    ret->slots = slots;
    return ERR_OK;
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

/* ---- listing ---- */

struct schedule_page {
    struct server *s;
    const struct request *r;
    struct wire_schedule_view *list;
    uint32_t count, most;
    uint64_t after, last; /* revisions */
    bool more;
};

static void show_ahead(struct schedule_page *p, const struct schedule_view *v, struct wire_schedule_view *w,
                       uint32_t count) {
    struct recur recur;
    const struct zone *zone;
    struct why ignored;
    int64_t at = v->after.ms;
    if (count == 0 || schedule_slots_read(p->s, v->expression, p->r->arena, &recur, &zone, &ignored) != ERR_OK) return;
    struct wire_moment *list = ARENA_ARRAY(p->r->arena, struct wire_moment, count);
    while (w->ahead.count < count && recur_next(&recur, zone, at, &at) && at <= v->end.ms)
        list[w->ahead.count++].ms = at;
    w->ahead.at = list;
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
                                     .waiting = v->waiting};
    if (v->flow.v != 0) w->flow = server_view_flow_name(p->s, v->flow);
    (void)view_why_schedule(server_state(p->s), engine_live(server_shard(p->s)->engine), p->s->limits, v->revision,
                            &why);
    w->code = slice_str(schedule_block_word(why.block));
    w->text = slice_str(schedule_block_text(why.block));
    if (why.next.ms != TIME_NEVER) w->next_ms = why.next.ms;
    show_ahead(p, v, w, m->ahead < WIRE_AHEAD_MAX ? m->ahead : WIRE_AHEAD_MAX);
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
    arena_reset(&s->frame_arena);
    p.list = ARENA_ARRAY(&s->frame_arena, struct wire_schedule_view, p.most);
    view_each_schedule(server_state(s), one, &p);
    struct wire_schedule_list got = {.lsn = engine_lsn(server_shard(s)->engine), .schedules = {p.list, p.count}};
    snprintf(cursor, sizeof cursor, "%llu", (unsigned long long)p.last);
    if (p.more) got.cursor = slice_str(cursor);
    call_show(s, r, WIRE_SCHEDULE_LIST, &got);
}
