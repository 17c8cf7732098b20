/* simclient.c: see simclient.h. */
#include "simclient.h"

#include <stdio.h>
#include <stdlib.h>

#include "panic.h"
#include "sim_workload.h"
#include "simstore.h"
#include "simwire.h"
#include "world.h"

#define PATIENCE_US 400000
#define THINK_US 60000
#define HOUSE_US 150000

static void think(void *ctx, uint64_t arg);

static struct slice principal(struct arena *arena, const char *kind, uint32_t n) {
    char text[16];
    int len = snprintf(text, sizeof text, "%s%u", kind, n);
    return arena_slice(arena, slice_of(text, (size_t)len));
}

static struct msg *message(struct simclient *c, enum command_kind kind) {
    struct msg *m = simmsg_new(&c->w->msgs, c->node);
    m->request = ++c->request;
    m->cmd.kind = kind;
    m->cmd.principal = principal(&m->arena, "c", c->node);
    /* A submit is some tenant's; what an administrator asks names none and reaches all. */
    bool admin = kind != CMD_SUBMIT && (c->is_house || rng_below(&c->rng, 4) > 0);
    if (!admin) m->cmd.tenant = workload_tenants[c->node % WORKLOAD_TENANTS];
    return m;
}

/* ---- connections ---- */

static void on_answer(void *ctx, struct msg *m) {
    simclient_receive(ctx, m);
}

static struct simpeer *peer_of(struct simclient *c, struct slice name, struct slice tenant) {
    for (uint32_t i = 0; i < c->peers.count; i++) {
        struct simpeer *p = *(struct simpeer **)vec_at(&c->peers, i);
        if (slice_eq(name, slice_str(p->principal)) && slice_eq(tenant, slice_str(p->tenant))) return p;
    }
    struct simpeer *p = calloc(1, sizeof *p);
    ENSURE(p != NULL);
    simpeer_init(p, c->w, c->node, name, tenant);
    p->answered = on_answer;
    p->ctx = c;
    *(struct simpeer **)vec_push(&c->peers) = p;
    return p;
}

struct peer_pending *simclient_pending(struct simclient *c, conn_id conn, uint32_t request) {
    for (uint32_t i = 0; i < c->peers.count; i++) {
        struct simpeer *p = *(struct simpeer **)vec_at(&c->peers, i);
        if (p->conn.v == conn.v) return simpeer_pending(p, request);
    }
    return NULL;
}

static void post(struct simclient *c, struct msg *m) {
    if (simwire_says(m))
        simpeer_send(peer_of(c, m->cmd.principal, simwire_tenant(m)), m);
    else
        serverhost_door(&c->w->server, m);
}

/* ---- asking ---- */

static void transmit(struct simclient *c) {
    c->sent_count++;
    c->sent_us = c->w->queue.now_us;
    post(c, c->asking);
}

static void ask(struct simclient *c, struct msg *m) {
    simmsg_unref(&c->w->msgs, c->asking);
    c->asking = m;
    c->sent_count = 0;
    transmit(c);
}

static void tell(struct simclient *c, struct msg *m) { /* without waiting for the answer */
    m->request = 0;
    post(c, m);
    simmsg_unref(&c->w->msgs, m);
}

static struct known_flow *any_flow(struct simclient *c) {
    if (c->w->flows.count == 0) return NULL;
    /* Rather a late one: something still happens there. */
    uint32_t back = (uint32_t)rng_skewed(&c->rng, c->w->flows.count - 1);
    return vec_at(&c->w->flows, c->w->flows.count - 1 - back);
}

struct msg *simclient_message(struct simclient *c, enum command_kind kind) {
    return message(c, kind);
}

void simclient_ask(struct simclient *c, struct msg *m) {
    ask(c, m);
}

/* ---- what clients do ---- */

static void do_submit(struct simclient *c) {
    struct msg *m = message(c, CMD_SUBMIT);
    if (c->w->plan.large && !c->w->large_done) {
        c->w->large_done = true;
        workload_large(c->w, &c->rng, m);
    } else {
        c->w->jobs_left -= workload_submit(c->w, &c->rng, m);
    }
    simmsg_unref(&c->w->msgs, c->last_submit);
    c->last_submit = m;
    m->refs++;
    ask(c, m);
}

/* The key of an earlier submit, for another body or, much later, for the same: never a second flow. */
static void do_conflict(struct simclient *c) {
    struct msg *last = c->last_submit;
    if (last == NULL || last->cmd.as.submit.key.len == 0 || c->w->jobs_left == 0) return;
    if (rng_below(&c->rng, 2)) {
        last->refs++;
        ask(c, last);
        return;
    }
    struct msg *m = message(c, CMD_SUBMIT);
    workload_submit(c->w, &c->rng, m);
    m->cmd.as.submit.key = arena_slice(&m->arena, last->cmd.as.submit.key);
    m->cmd.as.submit.key_ms = 0;
    ask(c, m);
}

static void do_add(struct simclient *c) {
    struct known_flow *flow = any_flow(c);
    if (flow == NULL || c->w->jobs_left < 5) return;
    struct msg *m = message(c, CMD_ADD);
    bool more = flow->more && rng_below(&c->rng, 2);
    c->w->jobs_left -= workload_add(c->w, &c->rng, m, flow->id, flow->tenant, more);
    ask(c, m);
}

/* Now and then one of the first children of the flow, whether it has any or not. Drawn apart. */
static void or_child(struct simclient *c, uint32_t *ordinal) {
    if (c->w->plan.foreach == 0 || rng_below(&c->expand_rng, 3) != 0) return;
    *ordinal = FIRST_CHILD_ORDINAL + rng_below(&c->expand_rng, 12);
}

static void do_cancel(struct simclient *c) {
    struct known_flow *flow = any_flow(c);
    if (flow == NULL) return;
    struct msg *m = message(c, CMD_CANCEL);
    m->cmd.as.cancel = (struct cmd_cancel){
        .flow = flow->id,
        .whole = rng_below(&c->rng, 3) == 0,
        .ordinal = rng_below(&c->rng, flow->job_count),
        .reason = SLICE("changed my mind"),
    };
    or_child(c, &m->cmd.as.cancel.ordinal);
    ask(c, m);
}

static void do_pause(struct simclient *c) {
    struct known_flow *flow = any_flow(c);
    struct msg *m = message(c, CMD_PAUSE);
    m->cmd.as.pause.scope =
        (enum pause_scope)(rng_below(&c->rng, 3) ? PAUSE_FLOW : rng_below(&c->rng, PAUSE_SCOPE_COUNT));
    m->cmd.as.pause.on = rng_below(&c->rng, 2);
    switch (m->cmd.as.pause.scope) {
    case PAUSE_FLOW:
        if (flow == NULL) return simmsg_unref(&c->w->msgs, m);
        m->cmd.as.pause.flow = flow->id;
        break;
    case PAUSE_POOL: m->cmd.as.pause.name = workload_pools[rng_below(&c->rng, 2)]; break;
    case PAUSE_TENANT: m->cmd.as.pause.name = workload_tenants[rng_below(&c->rng, 2)]; break;
    case PAUSE_SCOPE_COUNT: PANIC("no scope");
    }
    ask(c, m);
}

static void do_dead(struct simclient *c) {
    if (c->dead_count == 0 || rng_below(&c->rng, 3) == 0) {
        struct msg *m = message(c, CMD_READ);
        m->read = READ_DEAD;
        ask(c, m);
        return;
    }
    struct msg *m = message(c, rng_below(&c->rng, 3) ? CMD_RETRY : CMD_DISCARD);
    m->cmd.as.job = c->dead[rng_below(&c->rng, c->dead_count)].ref;
    ask(c, m);
}

static void do_flow(struct simclient *c, enum command_kind kind) {
    struct known_flow *flow = any_flow(c);
    if (flow == NULL || (kind == CMD_FORGET && !flow->over)) return;
    struct msg *m = message(c, kind);
    m->cmd.as.flow = flow->id;
    ask(c, m);
}

/* A scanner that was late: the output of a job that has succeeded turns out to be unfit. */
static void do_quarantine(struct simclient *c) {
    struct known_flow *flow = any_flow(c);
    if (flow == NULL) return;
    struct msg *m = message(c, CMD_VERDICT);
    m->cmd.as.verdict.job = (struct job_ref){flow->id, rng_below(&c->rng, flow->job_count)};
    or_child(c, &m->cmd.as.verdict.job.ordinal);
    m->cmd.as.verdict.verdict = VERDICT_QUARANTINE;
    m->cmd.as.verdict.fatal = rng_below(&c->rng, 3) == 0;
    ask(c, m);
}

static void do_schedule(struct simclient *c) {
    struct msg *m = message(c, CMD_SCHEDULE);
    m->cmd.tenant = workload_tenants[c->node % WORKLOAD_TENANTS];
    uint32_t what = rng_below(&c->side, 8);
    if (what < 4) {
        workload_schedule(c->w, &c->side, m);
    } else {
        m->cmd.as.schedule_name.name = workload_schedule_name(&m->arena, rng_below(&c->side, WORKLOAD_SCHEDULES));
        m->cmd.as.schedule_name.on = rng_below(&c->side, 2);
        m->cmd.kind = what == 4 ? CMD_SCHEDULE_REMOVE : what == 5 ? CMD_SCHEDULE_BACKFILL : CMD_SCHEDULE_PAUSE;
    }
    if (m->cmd.kind == CMD_SCHEDULE_BACKFILL) { /* what lies between the two; of a run the first */
        int64_t *range = ARENA_ARRAY(&m->arena, int64_t, 2);
        range[0] = c->w->server.last_ms - rng_range(&c->side, 1000, 9000);
        range[1] = range[0] + rng_range(&c->side, 1, 4000);
        m->cmd.as.schedule_name.slots = range;
        m->cmd.as.schedule_name.slot_count = 2;
        if (m->cmd.as.schedule_name.on) m->cmd.kind = CMD_SCHEDULE_RUN;
    }
    ask(c, m);
}

static void do_read(struct simclient *c) {
    struct known_flow *flow = any_flow(c);
    struct msg *m = message(c, CMD_READ);
    m->read = flow ? READ_FLOW : READ_NOTHING;
    if (flow) m->read_flow = flow->id;
    ask(c, m);
}

static void do_admin(struct simclient *c) {
    struct msg *m = message(c, CMD_DRAIN);
    switch (rng_below(&c->rng, 4)) {
    case 0:
        m->cmd.as.worker.worker = worker_name(&m->arena, 1 + rng_below(&c->rng, (uint32_t)c->w->plan.workers));
        m->cmd.as.worker.on = rng_below(&c->rng, 2);
        break;
    case 1:
        m->cmd.kind = CMD_POOL;
        m->cmd.as.pool = (struct cmd_pool){
            .name = workload_pools[rng_below(&c->rng, 2)],
            .state = (enum pool_state)rng_below(&c->rng, POOL_STATE_COUNT),
            .refuse_overload = rng_below(&c->rng, 2),
        };
        break;
    case 2: {
        struct name_item *pools = ARENA_ARRAY(&m->arena, struct name_item, 2);
        pools[0].name = workload_pools[0];
        pools[1].name = workload_pools[1];
        m->cmd.kind = CMD_TOPIC;
        m->cmd.as.topic = (struct cmd_topic){workload_topics[rng_below(&c->rng, 2)], pools, rng_below(&c->rng, 3)};
        break;
    }
    default:
        m->cmd.kind = CMD_TENANT;
        m->cmd.as.tenant_set = (struct cmd_tenant){workload_tenants[rng_below(&c->rng, 2)], rng_below(&c->rng, 4)};
        break;
    }
    ask(c, m);
}

static void do_limit(struct simclient *c) {
    struct msg *m = message(c, CMD_LIMIT);
    workload_limit(&c->rng, &m->cmd.as.limit);
    ask(c, m);
}

/* A set, one of its replicas, or how many it has. False: about some other service. */
static bool do_replicas(struct simclient *c) {
    struct rng from = c->rng, r = rng_fork(&from, 0x5ca1e);
    if (!rng_chance(&r, PERCENT(c->w->plan.replicas))) return false;
    static const enum service_desired wishes[] = {SERVICE_STOPPED, SERVICE_RUNNING, SERVICE_RUNNING, SERVICE_REMOVED};
    struct msg *m = message(c, CMD_SERVICE);
    struct cmd_service *s = &m->cmd.as.service;
    *s = (struct cmd_service){.tenant = workload_tenants[rng_below(&r, WORKLOAD_TENANTS)],
                              .name = workload_sets[rng_below(&r, WORKLOAD_SETS)],
                              .desired = wishes[rng_below(&r, 4)]};
    switch (rng_below(&r, 4)) {
    case 0: s->restart = rng_below(&r, 3) == 0; break;
    case 1: {
        char name[32];
        snprintf(name, sizeof name, "%.*s.%u", SLICE_FMT(s->name), 1 + rng_below(&r, WORKLOAD_REPLICAS));
        s->name = arena_slice(&m->arena, slice_str(name));
        break;
    }
    default:
        s->replicas = 1 + rng_below(&r, WORKLOAD_REPLICAS + 1);
        s->desired = SERVICE_RUNNING;
        break;
    }
    (void)rng_u64(&c->rng); /* the next time another */
    ask(c, m);
    return true;
}

static void do_service(struct simclient *c) {
    if (do_replicas(c)) return;
    if (rng_below(&c->rng, 4) == 0) { /* where a service may be, so that it has to move */
        struct msg *drain = message(c, CMD_DRAIN);
        drain->cmd.as.worker.worker = worker_name(&drain->arena, 1 + rng_below(&c->rng, (uint32_t)c->w->plan.workers));
        drain->cmd.as.worker.on = rng_below(&c->rng, 2);
        ask(c, drain);
        return;
    }
    static const enum service_desired wishes[] = {SERVICE_STOPPED, SERVICE_RUNNING, SERVICE_RUNNING, SERVICE_REMOVED};
    struct msg *m = message(c, CMD_SERVICE);
    m->cmd.as.service = (struct cmd_service){.tenant = workload_tenants[rng_below(&c->rng, WORKLOAD_TENANTS)],
                                             .name = workload_services[rng_below(&c->rng, WORKLOAD_SERVICES)],
                                             .desired = wishes[rng_below(&c->rng, 4)],
                                             .restart = rng_below(&c->rng, 5) == 0};
    ask(c, m);
}

/* Someone outside says that something is over; mostly nobody waits for that. */
static void do_word(struct simclient *c) {
    if (c->w->flows.count == 0) return;
    const struct known_flow *flow = vec_at(&c->w->flows, rng_below(&c->words, c->w->flows.count));
    struct msg *m = message(c, CMD_VERDICT);
    m->cmd.as.verdict = (struct cmd_verdict){.job = {flow->id, rng_below(&c->words, flow->job_count)},
                                             .outside = true,
                                             .verdict = rng_below(&c->words, 4) ? VERDICT_ALLOW : VERDICT_DENY,
                                             .reason = SLICE("it is over")};
    if (m->cmd.as.verdict.verdict == VERDICT_ALLOW) m->cmd.as.verdict.result = SLICE("7");
    tell(c, m);
}

static void act(struct simclient *c) {
    if (rng_below(&c->words, 4) == 0) do_word(c);
    if (c->w->plan.store && rng_below(&c->store_rng, 100) < (uint32_t)c->w->plan.store) {
        simstore_act(c);
        return;
    }
    bool may_submit = c->w->jobs_left > 0;
    if (c->w->plan.keys && c->limits_set < 3) { /* early, so that most of the run is under limits */
        c->limits_set++;
        do_limit(c);
        return;
    }
    if (may_submit && rng_below(&c->rng, 100) >= (uint32_t)c->w->plan.meddle) {
        do_submit(c);
        return;
    }
    if (rng_below(&c->side, 100) < (uint32_t)c->w->plan.schedules) {
        do_schedule(c);
        return;
    }
    switch (rng_below(&c->rng, 16)) {
    case 0: do_conflict(c); break;
    case 1: do_add(c); break;
    case 2:
    case 3: do_cancel(c); break;
    case 4:
    case 5: do_pause(c); break;
    case 6:
    case 7: do_dead(c); break;
    case 8: do_flow(c, CMD_RERUN); break;
    case 9: do_flow(c, CMD_FORGET); break;
    case 10: do_admin(c); break;
    case 11: do_quarantine(c); break;
    case 12:
        if (c->w->plan.keys) do_limit(c);
        break;
    case 13:
    case 14:
        if (c->w->plan.services)
            do_service(c);
        else
            do_read(c);
        break;
    default: do_read(c); break;
    }
}

/* ---- the house ---- */

static enum verdict draw_verdict(struct simclient *c, enum gate gate) {
    if (c->w->quiet) return VERDICT_ALLOW;
    if (rng_below(&c->rng, 10) == 0) return (enum verdict)rng_below(&c->rng, VERDICT_FAIL);
    static const enum verdict policy[] = {VERDICT_ALLOW,     VERDICT_ALLOW, VERDICT_DENY,
                                          VERDICT_CONSTRAIN, VERDICT_HOLD,  VERDICT_AGAIN};
    static const enum verdict output[] = {VERDICT_ALLOW, VERDICT_ALLOW, VERDICT_QUARANTINE, VERDICT_REDACT};
    if (gate == GATE_POLICY) return policy[rng_below(&c->rng, 6)];
    if (gate == GATE_OUTPUT) return output[rng_below(&c->rng, 4)];
    return rng_below(&c->rng, 5) ? VERDICT_ALLOW : VERDICT_DENY;
}

static void answer_question(struct simclient *c, const struct seen_question *q) {
    struct msg *m = message(c, CMD_VERDICT);
    bool wrong = !c->w->quiet && rng_below(&c->rng, 10) == 0; /* of an earlier, or no, sight of the thing */
    uint32_t people = !c->w->quiet && rng_below(&c->rng, 4) == 0 ? 0 : 1 + rng_below(&c->rng, CLIENT_PEOPLE);
    m->cmd.principal =
        people ? principal(&m->arena, "p", people) : principal(&m->arena, "c", (uint32_t)c->w->plan.workers + 1);
    m->cmd.as.verdict = (struct cmd_verdict){
        .question = q->id,
        .revision = q->revision + (wrong ? 1 + rng_below(&c->rng, 2) * UINT32_MAX : 0),
        .hash = wrong && rng_below(&c->rng, 2) ? workload_hash(&m->arena, 7) : arena_slice(&m->arena, q->hash),
        .verdict = draw_verdict(c, q->gate),
        .reason = SLICE("looked at it"),
        .policy = c->w->policy - (!c->w->quiet && c->w->policy && rng_below(&c->store_rng, 8) == 0),
    };
    struct cmd_verdict *v = &m->cmd.as.verdict;
    if (v->verdict == VERDICT_DENY || v->verdict == VERDICT_QUARANTINE) v->fatal = rng_below(&c->rng, 3) == 0;
    if (v->verdict == VERDICT_AGAIN) v->again_ms = world_true(c->w).ms + rng_range(&c->rng, 10, 1000);
    if (v->verdict == VERDICT_CONSTRAIN || v->verdict == VERDICT_REDACT) v->payload = SLICE("{}");
    m->is_inside = q->gate == GATE_POLICY || q->gate == GATE_OUTPUT; /* of people the server takes no such word */
    if (!c->w->quiet && q->gate == GATE_APPROVAL && rng_below(&c->identity_rng, 6) == 0) { /* somebody's agent does */
        m->is_inside = true;
        m->cmd.caller.kind = KIND_AGENT;
    }
    tell(c, m);
}

/* What is evaluated the server answers itself. */
static void answer_questions(struct simclient *c, const struct msg *m) {
    for (uint32_t i = 0; i < m->question_count; i++) {
        enum gate gate = m->questions[i].gate;
        if (gate == GATE_CONDITION || gate == GATE_EXPANSION || gate == GATE_RENDER) continue;
        if (!c->w->quiet && rng_below(&c->rng, 3) == 0) continue; /* forgot */
        answer_question(c, &m->questions[i]);
    }
}

/* In the end nothing is to run any more; what is being deployed may first come to its end. */
static void remove_service(void *ctx, const struct service_view *v) {
    struct simclient *c = ctx;
    if (v->deploying) return;
    struct msg *m = message(c, CMD_SERVICE);
    m->cmd.as.service = (struct cmd_service){.tenant = arena_slice(&m->arena, v->tenant),
                                             .name = arena_slice(&m->arena, v->name),
                                             .desired = SERVICE_REMOVED};
    tell(c, m);
}

static void resume_flow(void *ctx, flow_id id) {
    struct simclient *c = ctx;
    struct flow_view flow;
    if (!view_flow(engine_state(c->w->server.engine), id, &flow) || flow.state != FLOW_RUNNING) return;
    if (flow.of_service) return;
    if (flow.paused) {
        struct msg *m = message(c, CMD_PAUSE);
        m->cmd.as.pause = (struct cmd_pause){.scope = PAUSE_FLOW, .flow = id};
        tell(c, m);
    }
    if (flow.more) {
        struct msg *m = message(c, CMD_ADD);
        workload_add(c->w, &c->rng, m, id, workload_tenant(flow.tenant), false);
        tell(c, m);
    }
}

static void tell_limit(struct simclient *c, uint32_t tenant, enum limit_kind kind, struct slice name) {
    struct msg *m = message(c, CMD_LIMIT);
    m->cmd.as.limit = (struct cmd_limit){
        .tenant = workload_tenants[tenant], .kind = kind, .name = name, .width = 2, .clear = kind != LIMIT_KEY};
    tell(c, m);
}

static void lift_limits(struct simclient *c) {
    for (uint32_t t = 0; t < WORKLOAD_TENANTS; t++) {
        for (uint32_t i = 0; i < WORKLOAD_KEYS; i++) tell_limit(c, t, LIMIT_KEY, workload_keys[i]);
        for (uint32_t i = 0; i < WORKLOAD_RATES; i++) tell_limit(c, t, LIMIT_RATE, workload_rates[i]);
        tell_limit(c, t, LIMIT_TENANT, slice_of(NULL, 0));
    }
}

static void resume_schedule(void *ctx, const struct schedule_view *schedule) {
    struct simclient *c = ctx;
    if (!schedule->paused) return;
    struct msg *m = message(c, CMD_SCHEDULE_PAUSE);
    m->cmd.tenant = arena_slice(&m->arena, schedule->tenant);
    m->cmd.as.schedule_name.name = arena_slice(&m->arena, schedule->name);
    tell(c, m);
}

/* Undoes whatever a person may have done that keeps jobs from running. */
static void tidy(struct simclient *c) {
    for (uint32_t i = 0; i < 2; i++) {
        struct msg *m = message(c, CMD_PAUSE);
        m->cmd.as.pause = (struct cmd_pause){.scope = PAUSE_POOL, .name = workload_pools[i]};
        tell(c, m);
        m = message(c, CMD_PAUSE);
        m->cmd.as.pause = (struct cmd_pause){.scope = PAUSE_TENANT, .name = workload_tenants[i]};
        tell(c, m);
        m = message(c, CMD_POOL);
        m->cmd.as.pool = (struct cmd_pool){.name = workload_pools[i], .state = POOL_ACTIVE};
        tell(c, m);
        m = message(c, CMD_TOPIC);
        struct name_item *pools = ARENA_NEW(&m->arena, struct name_item);
        pools->name = workload_pools[0];
        m->cmd.as.topic = (struct cmd_topic){workload_topics[i], pools, 1};
        tell(c, m);
    }
    for (uint32_t i = 1; i <= c->w->plan.workers; i++) {
        struct msg *m = message(c, CMD_DRAIN);
        m->cmd.as.worker.worker = worker_name(&m->arena, i);
        tell(c, m);
    }
    if (c->w->plan.keys) lift_limits(c);
    if (c->w->server.server == NULL) return;
    view_each_flow(engine_state(c->w->server.engine), resume_flow, c);
    view_each_schedule(engine_state(c->w->server.engine), resume_schedule, c);
    view_each_service(engine_state(c->w->server.engine), remove_service, c);
}

/* Somebody edits the rules; who answers by them knows it at once. */
static void change_policy(struct simclient *c) {
    const struct world *w = c->w;
    bool again = w->policy && rng_below(&c->store_rng, 4) == 0; /* the word may have been lost */
    if (w->plan.policy_ms == 0 || w->quiet) return;
    if (rng_below(&c->store_rng, (uint32_t)w->plan.policy_ms) >= HOUSE_US / 1000) return;
    struct msg *m = message(c, CMD_POLICY);
    m->cmd.tenant = slice_of(NULL, 0);
    m->cmd.as.policy.version = again ? w->policy : ++c->w->policy;
    tell(c, m);
}

/* By the back door, for these come by HTTP: links that are used, also twice, and late; tokens that come and go. The
 * hashes are of nothing. */
static void change_identity(struct simclient *c) {
    if (c->w->quiet || rng_below(&c->identity_rng, 8) != 0) return;
    struct msg *m = message(c, CMD_IDENTITY);
    struct cmd_identity *x = &m->cmd.as.identity;
    struct rec_token_info *t = ARENA_NEW(&m->arena, struct rec_token_info);
    struct rec_session *s = ARENA_NEW(&m->arena, struct rec_session);
    uint32_t link = c->links > 0 ? c->links - rng_below(&c->identity_rng, c->links < 3 ? c->links : 3) : 1;
    uint32_t token = c->tokens > 0 ? c->tokens - rng_below(&c->identity_rng, c->tokens < 5 ? c->tokens : 5) : 1;
    int64_t now = world_true(c->w).ms;
    x->op = (enum identity_op)(IDENTITY_TOKEN_SET + rng_below(&c->identity_rng, IDENTITY_SECRETS - IDENTITY_TOKEN_SET));
    x->who = principal(&m->arena, "u", rng_below(&c->identity_rng, 3));
    x->expires_ms = now + rng_range(&c->identity_rng, 100, 20000);
    if (x->op == IDENTITY_TICKET_ADD) link = ++c->links;
    if (x->op == IDENTITY_TOKEN_SET && rng_below(&c->identity_rng, 3) != 0) token = ++c->tokens;
    uint8_t kind = x->op == IDENTITY_TICKET_ADD || x->op == IDENTITY_TICKET_USE ? 1 : 2;
    x->hash = workload_hash(&m->arena, (link << 8) + kind);
    x->id = principal(&m->arena, "k", token);
    *t =
        (struct rec_token_info){.id = x->id,
                                .hash = workload_hash(&m->arena, (token << 8) + 2 + rng_below(&c->identity_rng, 2) * 3),
                                .name = x->who,
                                .roles = 1u << rng_below(&c->identity_rng, 3),
                                .kind = KIND_SERVICE,
                                .created_ms = now};
    *s = (struct rec_session){x->who, rng_below(&c->identity_rng, 50), x->expires_ms};
    x->tokens = t;
    x->sessions = s;
    x->token_count = x->session_count = 1;
    tell(c, m);
}

static void keep_house(struct simclient *c) {
    change_policy(c);
    change_identity(c);
    struct msg *m = message(c, CMD_READ);
    m->read = READ_QUESTIONS;
    tell(c, m);
    if (c->w->quiet && c->round++ % 8 == 0) tidy(c);
    equeue_in(&c->w->queue, HOUSE_US, think, c, 0);
}

/* ---- life ---- */

static void think(void *ctx, uint64_t arg) {
    struct simclient *c = ctx;
    (void)arg;
    if (c->is_house) {
        keep_house(c);
        return;
    }
    if (c->asking) {
        if (c->w->queue.now_us - c->sent_us >= PATIENCE_US) {
            bool again = c->w->quiet || c->sent_count < 2 + rng_below(&c->rng, 4);
            if (again)
                transmit(c);
            else {
                simmsg_unref(&c->w->msgs, c->asking);
                c->asking = NULL;
            }
        }
    } else if (!c->w->quiet) {
        act(c);
    } else {
        return; /* its day is over */
    }
    equeue_in(&c->w->queue, rng_range(&c->rng, 1000, THINK_US * 2), think, c, 0);
}

static void learn_flow(struct simclient *c, const struct msg *m) {
    struct known_flow *flow = world_flow(c->w, m->reply.flow);
    if (flow == NULL) {
        flow = vec_push(&c->w->flows);
        flow->id = m->reply.flow;
        flow->tenant = workload_tenant(c->asking->cmd.tenant);
    }
    flow->job_count = m->reply.job_count;
    flow->more = m->asked == CMD_SUBMIT ? c->asking->cmd.as.submit.jobs.more : c->asking->cmd.as.add.jobs.more;
}

static void learn_read(struct simclient *c, const struct msg *m) {
    if (c->asking->read == READ_DEAD) {
        c->dead_count = m->job_count < CLIENT_DEAD_MAX ? m->job_count : CLIENT_DEAD_MAX;
        for (uint32_t i = 0; i < c->dead_count; i++) c->dead[i] = m->jobs[i];
    }
    struct known_flow *flow = c->asking->read == READ_FLOW ? world_flow(c->w, c->asking->read_flow) : NULL;
    if (flow == NULL || !m->found) return;
    flow->job_count = m->job_count;
    flow->over = true;
    for (uint32_t i = 0; i < m->job_count; i++) flow->over &= job_state_is_terminal(m->jobs[i].state);
}

void simclient_receive(struct simclient *c, const struct msg *m) {
    if (m->told) simstore_answered(c, m);
    if (m->call != 0) adapter_answered(&c->w->adapter, m);
    if (m->question_count > 0) answer_questions(c, m);
    if (c->asking == NULL || m->request != c->asking->request) return;
    if (err_is_retryable(m->reply.err)) return; /* asks again when its patience is over */
    if (m->reply.err == ERR_OK && (m->asked == CMD_SUBMIT || m->asked == CMD_ADD)) learn_flow(c, m);
    if (m->reply.err == ERR_OK && m->asked == CMD_READ) learn_read(c, m);
    simmsg_unref(&c->w->msgs, c->asking);
    c->asking = NULL;
}

void simclient_init(struct simclient *c, struct world *w, uint32_t node, bool is_house, struct rng rng) {
    *c = (struct simclient){.w = w, .node = node, .is_house = is_house, .rng = rng};
    vec_init(&c->peers, sizeof(struct simpeer *));
    (void)simnet_port(&w->net, node, NULL, NULL);
    simnet_up(&w->net, node);
    rng_init(&c->expand_rng, w->plan.seed * 64 + node + 0xf0e);
    rng_init(&c->store_rng, w->plan.seed * 64 + node + 0x570e); /* its own: it moves no other draw */
    rng_init(&c->side, w->plan.seed ^ 0x5c4ed000u ^ node);      /* draws nothing from the other streams */
    rng_init(&c->words, w->plan.seed ^ 0x3a7d5000u ^ node);
    rng_init(&c->identity_rng, w->plan.seed ^ 0x1de47000u ^ node);
}

void simclient_fini(struct simclient *c) {
    for (uint32_t i = 0; i < c->peers.count; i++) {
        struct simpeer *p = *(struct simpeer **)vec_at(&c->peers, i);
        simpeer_fini(p);
        free(p);
    }
    vec_fini(&c->peers);
    simmsg_unref(&c->w->msgs, c->asking);
    simmsg_unref(&c->w->msgs, c->last_submit);
}

void simclient_start(struct simclient *c) {
    equeue_in(&c->w->queue, rng_range(&c->rng, 0, THINK_US), think, c, 0);
}
