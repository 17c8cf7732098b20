/* titan_gates.c: see titan_gates.h. */
#include "titan_gates.h"

#include <inttypes.h>
#include <stdio.h>

#include "server_impl.h"
#include "titan_flow.h"
#include "titan_session.h"
#include "view_history.h"
#include "view_store.h"

#define KEYS "user:titan:hitl:"
#define QUEUE_KEY KEYS "queue"
#define STATUS_KEY KEYS "status:"
#define MESSAGE_KEY KEYS "message:"
#define TS_KEY KEYS "ts:"
#define MARK_KEY "titan:gate:"
#define REASON "by the key " STATUS_KEY
#define RETRY_MS 1000
#define ARENA_MAX ((size_t)64 << 20)
#define LOOK_PAGE 1000u

struct due {
    question_id question;    /* that opened; 0 = what the keys of `id` say is looked at */
    struct bytes *id;        /* of the gate */
    struct bytes *principal; /* who wrote the key, when that could not be taken at once */
    int64_t at_ms;
};

struct mark { /* which question the keys of a gate are about */
    question_id question;
    uint32_t revision;
    struct job_ref job;
};

extern const uint8_t titan_gates_slot;

static struct titan_gates *gates_of(const struct server *s) {
    return shard_part(server_shard(s), titan_gates_slot);
}

void titan_gates_init(struct titan_gates *g) {
    vec_init(&g->due, sizeof(struct due));
    arena_init(&g->arena, 4096, ARENA_MAX);
}

static void due_free(struct due *d) {
    bytes_free(d->id);
    bytes_free(d->principal);
}

void titan_gates_fini(struct titan_gates *g) {
    for (uint32_t i = 0; i < g->due.count; i++) due_free(vec_at(&g->due, i));
    vec_fini(&g->due);
    arena_fini(&g->arena);
}

size_t titan_gate_id_bytes_max(const struct server *s) {
    size_t key = (size_t)s->limits->store_key_bytes_max, longest = sizeof MESSAGE_KEY - 1;
    return key > longest ? key - longest : 0;
}

/* ---- gates ---- */

static struct slice tenant_of(const struct server *s) {
    return slice_str(titan_of(s)->options->tenant);
}

struct asks {
    struct slice id, message;
};

/* Jobs that someone adds to a flow of Titan's come behind those that were submitted. */
static bool was_submitted(struct server *s, struct job_ref ref) {
    const struct label *labels = NULL;
    uint32_t count = view_labels(server_state(s), ref.flow, &gates_of(s)->arena, &labels);
    int64_t jobs = 0;
    for (uint32_t i = 0; i < count; i++)
        if (slice_eq(labels[i].key, SLICE(TITAN_JOBS_LABEL)) && titan_number(labels[i].value, &jobs))
            return ref.ordinal < jobs;
    return false;
}

/* True: it came by Titan's protocol. Labels of jobs anybody can write, but the principal `titan` is given by its
 * listener; and a job that a policy, a role or several people have to do with is not decided by a key. */
static bool gate_read(struct server *s, struct job_ref ref, struct asks *ret) {
    struct job_view job;
    struct flow_view flow;
    struct wire_run run;
    struct why ignored;
    if (!view_job(server_state(s), ref, &job) || job.options->kind != JOB_GATE) return false;
    const struct options *o = job.options;
    if (o->gates != GATE_BIT(GATE_APPROVAL) || o->quorum > 1 || o->four_eyes || o->approval_role.len > 0) return false;
    if (!view_flow(server_state(s), ref.flow, &flow) || !slice_eq(flow.principal, SLICE(TITAN_PRINCIPAL)) ||
        !slice_eq(flow.tenant, tenant_of(s)) || !was_submitted(s, ref))
        return false;
    if (tlv_decode(&wire_run_desc, job.body, TLV_SKIP_UNKNOWN, &gates_of(s)->arena, &run, &ignored) != ERR_OK)
        return false;
    const struct wire_pair *pairs = run.labels.at;
    for (uint32_t i = 0; i < run.labels.count; i++) {
        if (!slice_eq(pairs[i].key, SLICE(TITAN_GATE_LABEL))) continue;
        *ret = (struct asks){pairs[i].value, run.message};
        return true;
    }
    return false;
}

/* ---- keys ---- */

static struct slice key_of(struct server *s, const char *prefix, struct slice id) {
    struct slice before = slice_str(prefix);
    uint8_t *key = arena_space(&gates_of(s)->arena, before.len + id.len + 1);
    memcpy(key, before.ptr, before.len);
    if (id.len > 0) memcpy(key + before.len, id.ptr, id.len);
    return slice_of(key, before.len + id.len);
}

/* Empty: it is not there, or no text. */
static struct slice value_of(struct server *s, const char *prefix, struct slice id) {
    struct item_view v;
    struct store_place place = {.tenant = tenant_of(s)};
    bool there = view_item(server_state(s), engine_now(server_shard(s)->engine), place, key_of(s, prefix, id), &v);
    return there && v.kind == ITEM_TEXT ? v.value : (struct slice){0};
}

static bool mark_read(struct server *s, struct slice id, struct mark *ret) {
    char text[96];
    struct slice value = value_of(s, MARK_KEY, id);
    if (value.len == 0 || value.len >= sizeof text) return false;
    memcpy(text, value.ptr, value.len);
    text[value.len] = 0;
    *ret = (struct mark){0};
    return sscanf(text, "%" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu32, &ret->question.v, &ret->revision,
                  &ret->job.flow.v, &ret->job.ordinal) == 4;
}

static enum err change(struct server *s, const struct cmd_store *what) {
    struct command cmd = {.kind = CMD_STORE, .principal = SLICE("server"), .tenant = tenant_of(s)};
    struct reply reply;
    cmd.as.store = *what;
    gates_of(s)->is_writing = true;
    server_ask(s, (conn_id){0}, &cmd, &reply);
    gates_of(s)->is_writing = false;
    if (reply.err != ERR_OK && !err_is_retryable(reply.err))
        server_log(s, SERVER_WARN, "titan", "the keys of a gate: %s", reply.why.text);
    return reply.err;
}

static enum err status_set(struct server *s, struct slice id, const char *word) {
    struct store_entry entry = {key_of(s, STATUS_KEY, id), slice_str(word)};
    return change(s, &(struct cmd_store){.op = STORE_SET, .entries = &entry, .entry_count = 1});
}

static enum err queue_change(struct server *s, enum store_op op, struct slice id) {
    struct store_place place = {.tenant = tenant_of(s)};
    bool is_in = view_member(server_state(s), engine_now(server_shard(s)->engine), place, SLICE(QUEUE_KEY), id);
    if (is_in == (op == STORE_ADD)) return ERR_OK;
    return change(s, &(struct cmd_store){.op = op, .key = SLICE(QUEUE_KEY), .members = &id, .member_count = 1});
}

/* ---- a question opens ---- */

/* What was decided before it was asked does not count: whoever did cannot have seen it. */
static enum err announce(struct server *s, const struct question_view *q, const struct asks *gate) {
    char mark[96], ts[24];
    snprintf(mark, sizeof mark, "%" PRIu64 " %" PRIu32 " %" PRIu64 " %" PRIu32, q->id.v, q->revision, q->job.flow.v,
             q->job.ordinal);
    snprintf(ts, sizeof ts, "%" PRId64, q->asked.ms);
    struct store_entry entries[] = {{key_of(s, STATUS_KEY, gate->id), SLICE("WAITING")},
                                    {key_of(s, MESSAGE_KEY, gate->id), gate->message},
                                    {key_of(s, TS_KEY, gate->id), slice_str(ts)},
                                    {key_of(s, MARK_KEY, gate->id), slice_str(mark)}};
    enum err e = queue_change(s, STORE_ADD, gate->id);
    if (e != ERR_OK) return e;
    return change(
        s, &(struct cmd_store){.op = STORE_SET, .entries = entries, .entry_count = sizeof entries / sizeof entries[0]});
}

/* Of two gates with one id, the keys are about the one that was asked last. */
static enum err opened(struct server *s, question_id question) {
    struct question_view q;
    struct asks gate;
    struct mark mark;
    if (!view_question(server_state(s), question, &q) || q.gate != GATE_APPROVAL || !gate_read(s, q.job, &gate))
        return ERR_OK; /* answered since, or not ours */
    bool marked = mark_read(s, gate.id, &mark);
    if (marked && (mark.question.v > q.id.v || (mark.question.v == q.id.v && mark.revision >= q.revision)))
        return ERR_OK;
    return announce(s, &q, &gate);
}

/* ---- a question closes ---- */

/* Of a gate that is over; NULL: of one that is not. */
static const char *outcome_of(const struct job_view *job) {
    if (job->state == JOB_SUCCEEDED) return "APPROVED";
    if (job->state == JOB_TIMED_OUT) return "TIMEOUT";
    if (job->state == JOB_DENIED) return job->cause == CAUSE_NO_VERDICT ? "TIMEOUT" : "REJECTED";
    return job_state_is_terminal(job->state) ? "CLEARED" : NULL;
}

/* The mark goes last: while it is there, all of this is done again. */
static enum err closed(struct server *s, struct slice id, const struct mark *mark) {
    struct job_view job;
    const char *word = view_job(server_state(s), mark->job, &job) ? outcome_of(&job) : NULL;
    struct store_entry entry = {.key = key_of(s, MARK_KEY, id)};
    enum err e = ERR_OK;
    if (word == NULL) word = "CLEARED"; /* it is to be asked anew, or has left memory */
    if (!slice_eq(value_of(s, STATUS_KEY, id), slice_str(word))) e = status_set(s, id, word);
    if (e == ERR_OK) e = queue_change(s, STORE_REMOVE, id);
    if (e == ERR_OK) e = change(s, &(struct cmd_store){.op = STORE_DELETE, .entries = &entry, .entry_count = 1});
    return e;
}

/* ---- a key was written ---- */

static bool is_decision(struct slice word) {
    return slice_eq(word, SLICE("APPROVED")) || slice_eq(word, SLICE("REJECTED"));
}

static enum err decide(struct server *s, const struct question_view *q, bool yes, struct slice principal) {
    struct command cmd = {.kind = CMD_VERDICT, .tenant = tenant_of(s)};
    struct reply reply;
    cmd.principal = principal.len > 0 ? principal : SLICE(TITAN_PRINCIPAL);
    cmd.as.verdict = (struct cmd_verdict){.question = q->id,
                                          .job = q->job,
                                          .revision = q->revision,
                                          .hash = q->hash,
                                          .verdict = yes ? VERDICT_ALLOW : VERDICT_DENY,
                                          .reason = SLICE(REASON)};
    server_ask(s, (conn_id){0}, &cmd, &reply);
    if (reply.err != ERR_OK && !err_is_retryable(reply.err))
        server_log(s, SERVER_WARN, "titan", "a gate that was decided by its key: %s", reply.why.text);
    return reply.err;
}

/* A second decision changes nothing, and does not stay. */
static enum err put_back(struct server *s, struct slice id) {
    struct titan_entry entry;
    struct job_view job;
    struct asks gate;
    struct slice word = value_of(s, STATUS_KEY, id);
    if (!is_decision(word) || !titan_book_find(s, id, &entry) || !gate_read(s, entry.job, &gate)) return ERR_OK;
    if (!slice_eq(gate.id, id) || !view_job(server_state(s), entry.job, &job)) return ERR_OK;
    const char *was = outcome_of(&job);
    return was == NULL || slice_eq(word, slice_str(was)) ? ERR_OK : status_set(s, id, was);
}

static enum err look(struct server *s, struct slice id, struct slice principal) {
    struct mark mark;
    struct question_view q;
    struct asks gate;
    if (!mark_read(s, id, &mark)) return put_back(s, id);
    bool open = view_question(server_state(s), mark.question, &q) && q.revision == mark.revision;
    if (!open) return closed(s, id, &mark);
    if (q.gate != GATE_APPROVAL || !gate_read(s, q.job, &gate) || !slice_eq(gate.id, id)) return ERR_OK;
    struct slice word = value_of(s, STATUS_KEY, id);
    if (slice_eq(word, SLICE("WAITING"))) return ERR_OK;
    if (!is_decision(word)) return status_set(s, id, "WAITING"); /* CLEARED comes late when the SDK is slow */
    enum err e = decide(s, &q, slice_eq(word, SLICE("APPROVED")), principal);
    return e == ERR_OK ? closed(s, id, &mark) : e;
}

/* ---- what the server tells ---- */

static bool is_off(const struct server *s) {
    return titan_of(s)->options == NULL;
}

static struct due *due_add(struct server *s, struct slice id) {
    struct due *d = vec_push(&gates_of(s)->due);
    if (id.len > 0) d->id = bytes_new(id);
    return d;
}

void titan_gates_question(struct server *s, const struct question_effect *q) {
    if (!is_off(s) && q->gate == GATE_APPROVAL) due_add(s, (struct slice){0})->question = q->question;
}

void titan_gates_event(struct server *s, const struct event *e) {
    struct asks gate;
    if (is_off(s) || e->kind != EVENT_JOB || e->from != JOB_HELD) return;
    arena_reset(&gates_of(s)->arena);
    if (gate_read(s, e->job, &gate)) due_add(s, gate.id);
}

static void key_written(struct server *s, struct slice key, struct slice principal) {
    size_t prefix = sizeof STATUS_KEY - 1;
    if (key.len <= prefix || memcmp(key.ptr, STATUS_KEY, prefix) != 0) return;
    struct slice id = slice_of(key.ptr + prefix, key.len - prefix);
    arena_reset(&gates_of(s)->arena);
    if (err_is_retryable(look(s, id, principal))) due_add(s, id)->principal = bytes_new(principal);
}

/* At once, and so in the same batch. Whoever may write the key may decide: his right was checked when he came. */
void titan_gates_wrote(struct server *s, const struct command *cmd) {
    const struct cmd_store *c = &cmd->as.store;
    if (is_off(s) || cmd->kind != CMD_STORE || gates_of(s)->is_writing || c->flow.v != 0) return;
    if (c->op == STORE_PUBLISH || c->op == STORE_WATCH || c->op == STORE_UNWATCH) return;
    if (!slice_eq(cmd->tenant, tenant_of(s))) return;
    bool has_entries = c->op == STORE_SET || c->op == STORE_DELETE;
    for (uint32_t i = 0; has_entries && i < c->entry_count; i++) key_written(s, c->entries[i].key, cmd->principal);
    if (!has_entries) key_written(s, c->key, cmd->principal);
}

/* ---- passes ---- */

static void one_mark(void *ctx, const struct item_view *v) {
    size_t prefix = sizeof MARK_KEY - 1;
    due_add(ctx, slice_of(v->key.ptr + prefix, v->key.len - prefix));
}

/* After a start: what was asked and not announced, what was decided and not taken, what is over and still shown. */
static void look_at_all(struct server *s) {
    struct question_view q;
    struct store_place place = {.tenant = tenant_of(s)};
    struct store_page page = {.prefix = SLICE(MARK_KEY), .most = LOOK_PAGE};
    struct slice last = {0};
    for (uint32_t at = 0; (at = view_question_next(server_state(s), at, &q)) != 0;)
        if (q.gate == GATE_APPROVAL) due_add(s, (struct slice){0})->question = q.id;
    while (view_items(server_state(s), engine_now(server_shard(s)->engine), place, &page, one_mark, s, &last))
        page.after = last;
    gates_of(s)->has_looked = true;
}

static enum err due_serve(struct server *s, const struct due *d) {
    arena_reset(&gates_of(s)->arena);
    return d->question.v != 0 ? opened(s, d->question) : look(s, bytes_slice(d->id), bytes_slice(d->principal));
}

void titan_gates_step(struct server *s) {
    struct vec *list = &gates_of(s)->due;
    uint32_t kept = 0;
    if (is_off(s)) return;
    if (!gates_of(s)->has_looked) look_at_all(s);
    for (uint32_t i = 0; i < list->count; i++) {
        struct due d = *(struct due *)vec_at(list, i);
        bool waits = d.at_ms > s->now_ms || engine_is_full(server_shard(s)->engine);
        if (!waits && err_is_retryable(due_serve(s, &d))) {
            d.at_ms = s->now_ms + RETRY_MS;
            waits = true;
        }
        if (waits)
            *(struct due *)vec_at(list, kept++) = d;
        else
            due_free(&d);
    }
    list->count = kept;
}

int64_t titan_gates_next(const struct server *s) {
    const struct vec *list = &gates_of(s)->due;
    int64_t next = TIME_NEVER;
    if (is_off(s)) return TIME_NEVER;
    if (!gates_of(s)->has_looked) return s->now_ms;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct due *d = vec_at(list, i);
        if (d->at_ms < next) next = d->at_ms;
    }
    return next;
}
