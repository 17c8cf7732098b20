/* playground.c: see playground.h. */
#include "playground.h"

#include "call.h"
#include "server_impl.h"
#include "session.h"

#define OPEN_MAX 4096u /* attempts that are followed; each event looks at all of them */

/* ---- what was there ---- */

static void open_job(void *ctx, const struct job_view *job) {
    struct server *s = ctx;
    if (!job_state_is_active(job->state) || playground_of(s)->open.count == OPEN_MAX) return;
    *(struct attempt_effect *)vec_push(&playground_of(s)->open) =
        (struct attempt_effect){.worker = job->worker, .job = job->ref, .attempt = job->attempt};
}

static void open_flow(void *ctx, flow_id id) {
    struct server *s = ctx;
    struct flow_view flow;
    if (view_flow(server_state(s), id, &flow) && flow.state == FLOW_RUNNING)
        view_each_job(server_state(s), id, open_job, s);
}

static uint64_t missing(uint64_t noted, uint64_t found) {
    return noted > found ? noted - found : 0;
}

static void init(struct shard *h, void *own) {
    struct playground *p = own;
    struct server *s = h->server;
    struct state_counts n;
    vec_init(&p->open, sizeof(struct attempt_effect));
    p->kill_switch = s->options.kill_switch;
    if (p->kill_switch == NULL) {
        part_retire(h, playground_slot);
        return;
    }
    p->since_ms = s->world.clock->wall(s->world.clock).ms;
    if (!p->kill_switch->killed) return;
    const struct playground_mark *before = &p->kill_switch->before;
    view_counts(server_state(s), NULL, &n);
    view_each_flow(server_state(s), open_flow, s);
    p->recovery = (struct wire_recovery){.records = h->recovered_records,
                                         .flows = n.flows,
                                         .jobs = n.jobs,
                                         .attempts_open = p->open.count,
                                         .lost = missing(before->lsn, engine_lsn(server_shard(s)->engine)) +
                                                 missing(before->flows, view_flow_last(server_state(s))),
                                         .took_ms = h->recovered_ms,
                                         .replayed_lsn = engine_lsn(server_shard(s)->engine)};
}

static void fini(struct shard *h, void *own) {
    struct playground *p = own;
    (void)h;
    vec_fini(&p->open);
}

static void leaving(struct shard *h, void *own) {
    const struct playground *p = own;
    struct server *s = h->server;
    volatile struct playground_mark *mark = p->kill_switch->mark;
    /* Flows are numbered by records, so that of a durable state the number is durable, too. */
    if (engine_durable_lsn(server_shard(s)->engine) == engine_lsn(server_shard(s)->engine))
        mark->flows = view_flow_last(server_state(s));
    mark->lsn = engine_durable_lsn(server_shard(s)->engine);
}

/* ---- how it went on ---- */

static void settle(struct playground *p, uint32_t i, uint32_t *count) {
    (*count)++;
    *(struct attempt_effect *)vec_at(&p->open, i) = *(struct attempt_effect *)vec_at(&p->open, p->open.count - 1);
    p->open.count--;
}

static bool is_same(struct job_ref a, struct job_ref b) {
    return a.flow.v == b.flow.v && a.ordinal == b.ordinal;
}

static bool is_held(const struct attempt_effect *a, const struct held_attempt *held, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (is_same(held[i].job, a->job) && held[i].attempt == a->attempt) return true;
    return false;
}

void playground_attached(struct server *s, uint32_t worker, const struct held_attempt *held, uint32_t count) {
    struct playground *p = playground_of(s);
    for (uint32_t i = 0; i < p->open.count;) {
        const struct attempt_effect *a = vec_at(&p->open, i);
        if (a->worker == worker)
            settle(p, i, is_held(a, held, count) ? &p->recovery.attempts_adopted : &p->recovery.attempts_again);
        else
            i++;
    }
}

/* Its worker did not come back in time: what ends now, or is given to another, has not been adopted. */
static void effect(struct shard *h, void *own, const struct effect *given) {
    struct playground *p = own;
    const struct event *e = &given->as.event;
    part_takes(h, playground_slot, EFFECT_EVENT, p->open.count > 0);
    if (p->open.count == 0 || e->kind != EVENT_JOB || e->to == JOB_RUNNING) return;
    for (uint32_t i = 0; i < p->open.count; i++)
        if (is_same(((struct attempt_effect *)vec_at(&p->open, i))->job, e->job)) {
            settle(p, i, &p->recovery.attempts_again);
            return;
        }
}

/* ---- requests ---- */

static bool is_playground(struct server *s, struct request *r) {
    if (playground_of(s)->kill_switch != NULL) return true;
    session_error(s, r->session, r->id, ERR_NOT_FOUND,
                  "this server is not a playground: start one with `reeve up --playground`");
    return false;
}

HANDLER(req_playground) {
    const struct playground *p = playground_of(s);
    if (!is_playground(s, r)) return;
    struct wire_playground got = {.server = SLICE("running"),
                                  .pid = p->kill_switch->pid,
                                  .since_ms = p->since_ms,
                                  .kills = p->kill_switch->kills,
                                  .recovered = p->kill_switch->killed,
                                  .recovery = p->recovery};
    call_show(s, r, WIRE_PLAYGROUND, &got);
}

/* The answer is on its way when the supervisor hears of it: serve.c lets a turn of the loop pass. */
HANDLER(req_playground_do) {
    const struct wire_playground_do *m = r->message;
    if (!is_playground(s, r)) return;
    if (m->what == WIRE_PLUG_RECOVER) {
        session_error(s, r->session, r->id, ERR_STATE, "the server is running: nothing to recover");
        return;
    }
    server_log(s, SERVER_WARN, "plug", "pulled by %s", r->session->who.name);
    playground_of(s)->kill_wanted = true;
    struct wire_accepted done = {.lsn = engine_durable_lsn(server_shard(s)->engine)};
    session_answer(s, r->session, r->id, WIRE_ACCEPTED, &done);
}

bool server_wants_kill(const struct server *s) {
    return playground_of(s)->kill_wanted;
}

const struct server_part playground_part = {.name = "playground",
                                            .scope = PART_OF_SHARD,
                                            .bytes = sizeof(struct playground),
                                            .effects = EFFECT_BIT(EFFECT_EVENT),
                                            .init = init,
                                            .fini = fini,
                                            .leaving = leaving,
                                            .effect = effect};
