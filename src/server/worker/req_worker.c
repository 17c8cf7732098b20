/* req_worker.c: what workers say. */
#include <stdio.h>

#include "blob.h"
#include "call.h"
#include "external_step.h"
#include "mutant.h"
#include "playground.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"
#include "transfers.h"

extern const uint8_t ends_slot;

struct held_done { /* waits for its logs to be durable */
    conn_id conn;
    uint32_t request;
    struct bytes *body;
    uint64_t ticket;
};

struct ends {
    struct vec held; /* struct held_done */
};

/* ---- attach ---- */

static struct tlv_list names_of(struct arena *a, const struct tlv_list *from) {
    struct name_item *list = ARENA_ARRAY(a, struct name_item, from->count ? from->count : 1);
    const struct wire_name *names = from->at;
    for (uint32_t i = 0; i < from->count; i++) list[i].name = names[i].name;
    return (struct tlv_list){list, from->count};
}

static struct tlv_list capabilities_of(const struct server *s, struct arena *a, const struct wire_worker_info *w) {
    struct tlv_list all;
    for (const struct dialect_ops *const *d = server_dialects; *d != NULL; d++)
        if ((*d)->capabilities != NULL && (*d)->capabilities(s, a, w, &all)) return all;
    return names_of(a, &w->capabilities);
}

struct worker_info req_worker_info(const struct server *s, struct arena *a, const struct wire_worker_info *w) {
    struct label *labels = ARENA_ARRAY(a, struct label, w->labels.count + 1);
    struct resource *resources = ARENA_ARRAY(a, struct resource, w->resources.count + 1);
    const struct wire_pair *pairs = w->labels.at;
    const struct wire_amount *amounts = w->resources.at;
    for (uint32_t i = 0; i < w->labels.count; i++) labels[i] = (struct label){pairs[i].key, pairs[i].value};
    for (uint32_t i = 0; i < w->resources.count; i++)
        resources[i] = (struct resource){amounts[i].name, amounts[i].amount};
    return (struct worker_info){.pool = w->pool,
                                .capabilities = capabilities_of(s, a, w),
                                .labels = {labels, w->labels.count},
                                .slots = w->slots,
                                .cpu_milli = w->cpu_milli,
                                .memory_bytes = w->memory_bytes,
                                .gpus = w->gpus,
                                .resources = {resources, w->resources.count},
                                .permanent = w->permanent,
                                .build = w->build};
}

static struct cmd_worker load_of(const struct session *n, const struct wire_load *load) {
    return (struct cmd_worker){.worker = bytes_slice(n->worker),
                               .incarnation = n->incarnation,
                               .credit = load->credit,
                               .cpu_percent = load->cpu_percent,
                               .gpu_percent = load->gpu_percent};
}

/* The worker's new connection takes the place of its old one, whose end the engine must not hear of any more. */
static void take_over(struct server *s, struct session *n, uint32_t number) {
    struct session *before = session_of_worker(s, number);
    if (before != NULL) {
        struct wire_goodbye m = {.reason = SLICE("the worker came back on another connection")};
        session_worker_remove(s, before);
        session_send(s, before, WIRE_GOODBYE, 0, 0, &m);
        session_end(s, before);
    }
    session_worker_add(s, n, number);
}

/* A worker with a certificate is the one that the certificate names: its id is that name, a dash and six digits. */
static enum err check_certified(const struct server *s, const struct session *n, struct slice worker, struct why *why) {
    const char *name = n->certified.name;
    size_t len = strlen(name);
    if (len == 0 && s->options.certified >= SERVER_CERTIFIED_WORKERS && !n->is_local)
        return why_set(
            why, ERR_UNAUTHENTICATED,
            "this server requires a certificate of workers: make one with `reeve cert worker NAME` and pass it with "
            "--tls-cert");
    if (len == 0 || (worker.len == len + 7 && memcmp(worker.ptr, name, len) == 0 && worker.ptr[len] == '-'))
        return ERR_OK;
    return why_set(
        why, ERR_FORBIDDEN,
        "the certificate is for worker %s, but this worker is %.*s: start it with --name %s and its own --data", name,
        SLICE_FMT(worker), name);
}

HANDLER(req_attach) {
    const struct wire_attach *m = r->message;
    struct session *n = r->session;
    struct command cmd = {.kind = CMD_ATTACH};
    struct why why = {{0}};
    enum err e = check_certified(s, n, m->worker, &why);
    if (e != ERR_OK) {
        session_error(s, n, r->id, e, why.text);
        return;
    }
    if (n->attach != ATTACH_NONE) {
        session_error(s, n, r->id, ERR_STATE, "this connection is already attached");
        return;
    }
    if (m->epoch_seen > server_shard(s)->epoch) {
        session_error(s, n, r->id, ERR_FENCED, "the worker has already talked to a newer server than this one");
        return;
    }
    const struct wire_held *held = m->held.at;
    struct held_attempt *list = ARENA_ARRAY(r->arena, struct held_attempt, m->held.count + 1);
    for (uint32_t i = 0; i < m->held.count; i++)
        list[i] = (struct held_attempt){.job = {{held[i].attempt.flow}, held[i].attempt.ordinal},
                                        .attempt = held[i].attempt.attempt,
                                        .phase = (enum held_phase)held[i].phase};
    cmd.as.attach = (struct cmd_attach){.worker = m->worker,
                                        .incarnation = m->incarnation,
                                        .info = req_worker_info(s, r->arena, &m->info),
                                        .held = list,
                                        .held_count = m->held.count};
    cmd.as.attach.info.tenant = session_tenant(n);
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    bool accepted = call_command(s, r, c, 0, &cmd) == ERR_OK;
    uint32_t number = view_worker_by_id(server_state(s), m->worker);
    if (!accepted && !(MUTANT(attach_by_state) && number != 0)) return;
    bytes_free(n->worker);
    n->worker = bytes_new(m->worker);
    n->incarnation = m->incarnation;
    take_over(s, n, number);
    playground_attached(s, number, list, m->held.count);
    struct command beat = {.kind = CMD_HEARTBEAT};
    beat.as.worker = load_of(n, &m->load);
    server_command(s, r->session->conn, 0, &beat);
}

HANDLER(req_heartbeat) {
    const struct wire_heartbeat *m = r->message;
    struct command cmd = {.kind = CMD_HEARTBEAT};
    cmd.as.worker = load_of(r->session, &m->load);
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    c->sent_ms = m->sent_ms;
    call_command(s, r, c, 0, &cmd);
}

HANDLER(req_credit) {
    struct command cmd = {.kind = CMD_HEARTBEAT};
    cmd.as.worker = load_of(r->session, r->message);
    server_command(s, r->session->conn, 0, &cmd);
}

HANDLER(req_detach) {
    struct command cmd = {.kind = CMD_DETACH};
    cmd.as.worker =
        (struct cmd_worker){.worker = bytes_slice(r->session->worker), .incarnation = r->session->incarnation};
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    call_command(s, r, c, 0, &cmd);
    /* An order may have crossed the goodbye. What it led to is told after another `attach`: here its log is nobody's,
     * and its end must not be taken without its log. */
    session_worker_remove(s, r->session);
    server_log(s, SERVER_INFO, "worker_gone", "%.*s detached", SLICE_FMT(bytes_slice(r->session->worker)));
}

/* ---- attempts ---- */

static struct cmd_attempt attempt_of(const struct session *n, const struct wire_attempt *a) {
    return (struct cmd_attempt){.worker = bytes_slice(n->worker),
                                .incarnation = n->incarnation,
                                .job = {{a->flow}, a->ordinal},
                                .attempt = a->attempt};
}

HANDLER(req_started) {
    const struct wire_attempts *m = r->message;
    const struct wire_attempt *list = m->attempts.at;
    for (uint32_t i = 0; i < m->attempts.count; i++) {
        struct command cmd = {.kind = CMD_STARTED};
        cmd.as.attempt = attempt_of(r->session, &list[i]);
        server_command(s, r->session->conn, 0, &cmd);
    }
}

HANDLER(req_progress) {
    const struct wire_progress *m = r->message;
    const struct wire_progress_item *list = m->items.at;
    for (uint32_t i = 0; i < m->items.count; i++) {
        struct command cmd = {.kind = CMD_PROGRESS};
        cmd.as.attempt = attempt_of(r->session, &list[i].attempt);
        cmd.as.attempt.percent = list[i].percent;
        cmd.as.attempt.note = list[i].text;
        server_command(s, r->session->conn, 0, &cmd);
    }
}

HANDLER(req_health) {
    const struct wire_health *m = r->message;
    const struct wire_health_item *list = m->items.at;
    for (uint32_t i = 0; i < m->items.count; i++) {
        struct command cmd = {.kind = CMD_HEALTH};
        cmd.as.attempt = attempt_of(r->session, &list[i].attempt);
        cmd.as.attempt.healthy = list[i].healthy;
        cmd.as.attempt.port = list[i].port;
        cmd.as.attempt.note = list[i].text;
        server_command(s, r->session->conn, 0, &cmd);
    }
}

/* ---- the end of attempts ---- */

/* Up to which ticket the logs of these ends must be durable; 0 = they are. */
static enum err logs_ticket(struct server *s, struct session *n, const struct wire_done *m, uint64_t *ret,
                            struct why *why) {
    const struct wire_end *ends = m->ends.at;
    uint64_t ticket = 0;
    for (uint32_t i = 0; i < m->ends.count; i++) {
        const struct wire_attempt *a = &ends[i].attempt;
        struct log_key key = {.flow = a->flow, .shard = a->shard, .ordinal = a->ordinal, .attempt = a->attempt};
        struct log_state log;
        /* Of an attempt that is no longer its own no log was taken: the engine refuses the end, and all is said. */
        if (ends[i].log_bytes == 0 || !transfer_log_is_own(s, n, a)) continue;
        joblogs_state(s->store.logs, &key, &log);
        if (log.end < ends[i].log_bytes) {
            transfer_log_mark(n, &key, &log);
            transfer_log_ack(s, n);
            return why_set(why, ERR_CONFLICT,
                           "log incomplete: received %llu of %llu bytes; send the rest, then repeat DONE",
                           (unsigned long long)log.end, (unsigned long long)ends[i].log_bytes);
        }
        if (!log.synced && log.ticket > ticket) ticket = log.ticket;
    }
    *ret = ticket;
    return ERR_OK;
}

static bool is_stored(struct server *s, const struct session *n, struct slice hash) {
    blob_hash h;
    if (hash.len != DIGEST_BYTES) return false;
    memcpy(h.at, hash.ptr, DIGEST_BYTES);
    return blobs_touch(s->store.blobs, session_tenant(n), &h);
}

/* What it leaves as blobs must be here before its end is recorded. A worker that was away for longer than they wait
 * unnamed comes too late: its attempt then counts as failed, and perhaps another one makes them again. */
static void take_leavings(struct server *s, struct request *r, const struct wire_end *w, struct cmd_attempt *a) {
    const struct wire_kept *kept = w->artifacts.at;
    struct rec_artifact *files = ARENA_ARRAY(r->arena, struct rec_artifact, w->artifacts.count + 1);
    bool all = w->result_hash.len == 0 || w->result.len > 0 || is_stored(s, r->session, w->result_hash);
    for (uint32_t i = 0; i < w->artifacts.count; i++) {
        files[i] = (struct rec_artifact){kept[i].name, kept[i].hash, kept[i].bytes};
        all = all && is_stored(s, r->session, kept[i].hash);
    }
    a->artifacts = (struct tlv_list){files, w->artifacts.count};
    if (all) return;
    a->artifacts.count = 0;
    a->result_hash = (struct slice){0};
    if (a->outcome == OUTCOME_OK) a->outcome = OUTCOME_EXIT;
    a->reason = SLICE("its artifacts or outputs are no longer stored: DONE came too late");
}

static void record_ends(struct server *s, struct request *r, const struct wire_done *m) {
    static const enum outcome outcomes[WIRE_OUTCOME_COUNT] = {OUTCOME_OK, OUTCOME_EXIT, OUTCOME_STOPPED,
                                                              OUTCOME_REFUSED};
    const struct wire_end *ends = m->ends.at;
    struct call *c = call_open(s, r, m->ends.count);
    if (c == NULL) return;
    for (uint32_t i = 0; i < m->ends.count; i++) {
        const struct wire_end *w = &ends[i];
        struct command cmd = {.kind = CMD_DONE};
        struct cmd_attempt *a = &cmd.as.attempt;
        *a = attempt_of(r->session, &w->attempt);
        a->outcome = outcomes[w->outcome];
        a->exit_code = w->exit_code;
        a->signal = w->signal;
        a->fatal = w->fatal;
        a->result = w->result;
        a->result_hash = w->result_hash;
        a->log_bytes = w->log_bytes;
        a->log_cut_bytes = w->log_cut_bytes;
        a->reason = w->reason;
        a->retry_after_ms = w->retry_after_ms;
        a->ended_ago_ms = w->ended_ago_ms;
        a->usage = (struct rec_usage){w->cpu_ms, w->memory_bytes_max, w->throttled_ms, w->hit, w->hit_count, w->unkept};
        take_leavings(s, r, w, a);
        external_step_ended(s, r->arena, a);
        c->parts[i].attempt = w->attempt;
        call_command(s, r, c, i, &cmd);
    }
}

HANDLER(req_done) {
    const struct wire_done *m = r->message;
    struct why why = {{0}};
    uint64_t ticket = 0;
    if (m->ends.count == 0) {
        session_error(s, r->session, r->id, ERR_INVALID, "DONE without an outcome");
        return;
    }
    enum err e = logs_ticket(s, r->session, m, &ticket, &why);
    if (e != ERR_OK) {
        session_error(s, r->session, r->id, e, why.text);
        return;
    }
    if (ticket == 0 || MUTANT(done_before_log)) {
        record_ends(s, r, m);
        return;
    }
    struct ends *x = shard_part(server_shard(s), ends_slot);
    *(struct held_done *)vec_push(&x->held) = (struct held_done){r->session->conn, r->id, request_bytes(r), ticket};
}

static void stored(struct shard *h, void *own, enum err e) {
    struct ends *x = own;
    struct vec held = x->held;
    uint64_t durable = joblogs_durable(h->server->store.logs);
    if (e != ERR_OK) return;
    vec_init(&x->held, sizeof(struct held_done));
    for (uint32_t i = 0; i < held.count; i++) {
        struct held_done *d = vec_at(&held, i);
        if (d->ticket > durable) {
            *(struct held_done *)vec_push(&x->held) = *d;
            continue;
        }
        struct lane_entry entry = {d->conn, WIRE_DONE, d->request, bytes_slice(d->body)};
        request_serve(h->server, &entry);
        bytes_free(d->body);
    }
    vec_fini(&held);
}

static void init(struct shard *h, void *own) {
    struct ends *x = own;
    (void)h;
    vec_init(&x->held, sizeof(struct held_done));
}

static void fini(struct shard *h, void *own) {
    struct ends *x = own;
    (void)h;
    for (uint32_t i = 0; i < x->held.count; i++) bytes_free(((struct held_done *)vec_at(&x->held, i))->body);
    vec_fini(&x->held);
}

static bool is_idle(const struct shard *h, const void *own) {
    const struct ends *x = own;
    (void)h;
    return x->held.count == 0;
}

const struct server_part ends_part = {.name = "ends",
                                      .scope = PART_OF_SHARD,
                                      .bytes = sizeof(struct ends),
                                      .init = init,
                                      .fini = fini,
                                      .stored = stored,
                                      .is_idle = is_idle};
