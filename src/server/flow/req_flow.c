/* req_flow.c: new flows and what becomes of them: wire messages as commands of the engine. */
#include <stdio.h>

#include "add_scope.h"
#include "blob.h"
#include "call.h"
#include "evaluator.h"
#include "flow_file.h"
#include "flow_source.h"
#include "history_request.h"
#include "job_token.h"
#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"
#include "target.h"
#include "transfers.h"

static struct tlv_list names_of(struct arena *a, const struct tlv_list *from) {
    if (from->count == 0) return (struct tlv_list){0};
    struct name_item *list = ARENA_ARRAY(a, struct name_item, from->count);
    const struct wire_name *names = from->at;
    for (uint32_t i = 0; i < from->count; i++) list[i].name = names[i].name;
    return (struct tlv_list){list, from->count};
}

static struct tlv_list labels_of(struct arena *a, const struct tlv_list *from) {
    if (from->count == 0) return (struct tlv_list){0};
    struct label *list = ARENA_ARRAY(a, struct label, from->count);
    const struct wire_pair *pairs = from->at;
    for (uint32_t i = 0; i < from->count; i++) list[i] = (struct label){pairs[i].key, pairs[i].value};
    return (struct tlv_list){list, from->count};
}

static struct tlv_list amounts_of(struct arena *a, const struct tlv_list *from) {
    if (from->count == 0) return (struct tlv_list){0};
    struct resource *list = ARENA_ARRAY(a, struct resource, from->count);
    const struct wire_amount *amounts = from->at;
    for (uint32_t i = 0; i < from->count; i++) list[i] = (struct resource){amounts[i].name, amounts[i].amount};
    return (struct tlv_list){list, from->count};
}

static uint32_t priority_of(int64_t relative) {
    if (relative < -(int64_t)PRIORITY_NORMAL) return 0;
    if (relative > UINT32_MAX - (int64_t)PRIORITY_NORMAL) return UINT32_MAX;
    return (uint32_t)((int64_t)PRIORITY_NORMAL + relative);
}

static void options_of(struct arena *a, const struct wire_options *w, struct options *ret) {
    options_default(ret);
    ret->kind = w->kind;
    ret->priority = priority_of(w->priority);
    ret->demand = (struct demand){.pool = w->demand.pool,
                                  .topic = w->demand.topic,
                                  .capabilities = names_of(a, &w->demand.capabilities),
                                  .labels = labels_of(a, &w->demand.labels),
                                  .cpu_milli = w->demand.cpu_milli,
                                  .memory_bytes = w->demand.memory_bytes,
                                  .gpus = w->demand.gpus,
                                  .resources = amounts_of(a, &w->demand.resources),
                                  .keys = names_of(a, &w->demand.keys),
                                  .rates = names_of(a, &w->demand.rates)};
    if (w->attempts_max != 0) ret->retries = w->attempts_max - 1;
#define X(name, type, journal, wire, standard, wait, text) ret->name = JOB_OPTION_OR_##type(w->name, standard);
    JOB_OPTION_TABLE(X)
#undef X
}

/* Bodies that someone may be asked about carry their hash. */
static struct slice hash_of(struct server *s, struct arena *a, struct slice bytes) {
    uint8_t *hash = arena_alloc(a, DIGEST_BYTES);
    s->world.hasher->whole(s->world.hasher, bytes, hash);
    return slice_of(hash, DIGEST_BYTES);
}

static bool is_asked_about(const struct options *o) {
    return o->gates != 0 || job_kind_of(o->kind)->asks != GATE_COUNT;
}

/* `name` of this flow, or `f3k9a/name` of another one. */
static enum err parent_by_name(struct server *s, const struct request *r, struct slice text, struct parent_ref *ret,
                               struct why *why) {
    const uint8_t *slash = text.len > 0 ? memchr(text.ptr, '/', text.len) : NULL;
    *ret = (struct parent_ref){.name = text, .shard = s->options.shard};
    if (slash == NULL) return ERR_OK;
    struct target t;
    struct job_view job;
    enum err e = target_find(s, r->session, text, &t, why);
    if (e != ERR_OK) return e;
    if (!view_job(server_state(s), t.job, &job)) return why_set(why, ERR_NOT_FOUND, "no job %.*s", SLICE_FMT(text));
    ret->flow = t.job.flow;
    ret->name = job.name;
    return ERR_OK;
}

static enum err parents_of(struct server *s, const struct request *r, const struct wire_jobs *part,
                           const struct wire_job *w, struct job_spec *ret, struct why *why) {
    const struct wire_job *jobs = part->jobs.at;
    const struct wire_name *names = w->parent_names.at;
    uint32_t count = w->parents.count + w->parent_names.count, n = 0;
    if (count == 0) return ERR_OK;
    struct parent_ref *list = ARENA_ARRAY(r->arena, struct parent_ref, count);
    for (uint32_t i = 0; i < w->parents.count; i++) {
        uint32_t at = w->parents.at[i];
        if (at >= part->jobs.count)
            return why_set(why, ERR_INVALID, "job %.*s: its parent %u is not in the list", SLICE_FMT(w->name), at);
        list[n++] = (struct parent_ref){.name = jobs[at].name, .shard = s->options.shard};
    }
    for (uint32_t i = 0; i < w->parent_names.count; i++) {
        enum err e = parent_by_name(s, r, names[i].name, &list[n++], why);
        if (e != ERR_OK) return why_wrap(why, e, "job %.*s: a parent", SLICE_FMT(w->name));
    }
    ret->parents = list;
    ret->parent_count = count;
    return ERR_OK;
}

/* A blob that a job names must be there, and durable, before the job is. */
static enum err blob_there(struct server *s, const struct request *r, struct slice hash, const char *what,
                           struct why *why) {
    blob_hash h;
    if (hash.len != DIGEST_BYTES) return ERR_OK;
    memcpy(h.at, hash.ptr, DIGEST_BYTES);
    if (blobs_touch(s->store.blobs, session_tenant(r->session), &h)) return ERR_OK;
    return why_set(why, ERR_NOT_FOUND, "the %s names a blob that is not stored here: upload it first", what);
}

/* Whether the jobs are those of a flow that a schedule makes, or has made. */
static bool has_slot(struct server *s, const struct request *r) {
    flow_id id;
    struct flow_view flow;
    struct why ignored;
    if (r->op != WIRE_ADD_JOBS) return r->op == WIRE_SCHEDULE_SET;
    return target_flow(s, r->session, ((const struct wire_add_jobs *)r->message)->flow, &id, &ignored) == ERR_OK &&
           view_flow(server_state(s), id, &flow) && flow.schedule.len > 0;
}

/* `job`: whose expressions and templates are looked at, too; NULL = a compensation, which has none. */
static enum err check_body(struct server *s, const struct request *r, struct slice body, const struct job_spec *job,
                           const struct options *o, struct why *why) {
    struct wire_run run;
    struct why ignored;
    bool is_asked = job != NULL && o->gates != 0;
    if (!is_asked && (tlv_tags(body) & WIRE_RUN_BLOB_TAGS) == 0) return ERR_OK; /* mostly */
    if (body.len == 0 || tlv_decode(&wire_run_desc, body, TLV_SKIP_UNKNOWN, r->arena, &run, &ignored) != ERR_OK)
        return ERR_OK; /* opaque to us: its worker will say what it thinks of it */
    enum err e = blob_there(s, r, run.script_hash, "script", why);
    if (e == ERR_OK) e = blob_there(s, r, run.stdin_hash, "standard input", why);
    const struct wire_file *files = run.files.at;
    for (uint32_t i = 0; e == ERR_OK && i < run.files.count; i++) e = blob_there(s, r, files[i].hash, "file", why);
    return e == ERR_OK && is_asked ? evaluator_check(s, job, o, &run, has_slot(s, r), why) : e;
}

static enum err job_of(struct server *s, const struct request *r, const struct wire_jobs *part,
                       const struct options *profiles, const struct wire_job *w, struct job_spec *ret,
                       struct why *why) {
    *ret = (struct job_spec){.name = w->name,
                             .profile = w->options,
                             .body = w->body,
                             .undo_profile = w->undo_options,
                             .undo_body = w->undo_body,
                             .service = w->service,
                             .cache_key = w->cache_key};
    if (w->child_options != 0)
        return why_set(why, ERR_UNSUPPORTED, "job %.*s: children with options of their own are not supported yet",
                       SLICE_FMT(w->name));
    if (w->options >= part->options.count || w->undo_options > part->options.count)
        return why_set(why, ERR_INVALID, "job %.*s refers to missing options", SLICE_FMT(w->name));
    if (is_asked_about(&profiles[w->options])) ret->body_hash = hash_of(s, r->arena, w->body);
    if (w->undo_options != 0 && is_asked_about(&profiles[w->undo_options - 1]))
        ret->undo_hash = hash_of(s, r->arena, w->undo_body);
    enum err e = parents_of(s, r, part, w, ret, why);
    if (e == ERR_OK) e = check_body(s, r, w->body, ret, &profiles[w->options], why);
    if (e == ERR_OK && w->undo_body.len > 0) e = check_body(s, r, w->undo_body, NULL, NULL, why);
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "job %.*s", SLICE_FMT(w->name));
}

/* What the engine may know the set by. */
static struct slice key_of(struct server *s, const struct request *r, const struct wire_options *w) {
    if (w->raw.ptr != NULL) return w->raw;
    buf_clear(&s->out);
    tlv_encode(&wire_options_desc, w, &s->out);
    ENSURE(!s->out.full);
    return arena_slice(r->arena, buf_slice(&s->out));
}

/* The option sets of a part; of a single one that came before, the engine's own. `keys`: of each set, at least one;
 * NULL = nobody asks for them. */
static const struct options *sets_of(struct server *s, const struct request *r, const struct wire_options *list,
                                     uint32_t count, struct slice *keys) {
    struct options *sets = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (keys != NULL) keys[i] = key_of(s, r, &list[i]);
        const struct options *known = keys != NULL ? engine_set(server_shard(s)->engine, keys[i]) : NULL;
        if (known != NULL && count == 1) return known;
        if (sets == NULL) sets = ARENA_ARRAY(r->arena, struct options, count);
        if (known != NULL)
            sets[i] = *known;
        else
            options_of(r->arena, &list[i], &sets[i]);
    }
    return sets;
}

/* Nobody gives the token of a job more than he has himself. */
static enum err check_rights(const struct request *r, const struct cmd_jobs *jobs, struct why *why) {
    uint32_t asked = 0;
    for (uint32_t i = 0; i < jobs->profile_count; i++) asked |= jobs->profiles[i].token_rights;
    if (asked == 0 || (asked & ~(uint32_t)job_token_rights(&r->session->who)) == 0) return ERR_OK;
    return why_set(why, ERR_FORBIDDEN, "%s cannot give a job's token rights that %s does not have itself",
                   r->session->who.name, r->session->who.name);
}

static enum err jobs_of(struct server *s, const struct request *r, const struct wire_jobs *part, struct slice *keys,
                        struct cmd_jobs *ret, struct why *why) {
    static const struct wire_options usual; /* who sends jobs without options means these */
    struct wire_jobs filled = *part;
    if (part->options.count == 0) filled.options = (struct tlv_list){(void *)(uintptr_t)&usual, 1};
    const struct options *profiles = sets_of(s, r, filled.options.at, filled.options.count, keys);
    struct job_spec *jobs = ARENA_ARRAY(r->arena, struct job_spec, part->jobs.count ? part->jobs.count : 1);
    const struct wire_job *list = part->jobs.at;
    for (uint32_t i = 0; i < part->jobs.count; i++) {
        enum err e = job_of(s, r, &filled, profiles, &list[i], &jobs[i], why);
        if (e != ERR_OK) return e;
    }
    *ret = (struct cmd_jobs){profiles, filled.options.count, jobs, part->jobs.count, part->more};
    return check_rights(r, ret, why);
}

/* ---- submit ---- */

/* What an idempotency key is for: the flow, not the file it was made from. */
static struct slice key_hash(struct server *s, const struct request *r, const struct wire_flow *flow) {
    struct wire_flow plain = *flow;
    struct buf body;
    plain.source = (struct wire_source){0};
    plain.source_name = plain.params = (struct slice){0};
    buf_init(&body, (size_t)s->limits->frame_bytes_max + 4096);
    tlv_encode(&wire_flow_desc, &plain, &body);
    struct slice hash = hash_of(s, r->arena, buf_slice(&body));
    buf_fini(&body);
    return hash;
}

enum err req_flow_made(struct server *s, const struct request *r, const struct wire_flow *flow, struct command *ret,
                       struct why *why) {
    *ret = (struct command){.kind = CMD_SUBMIT};
    if (r->session->who.tenant[0] == 0) ret->tenant = SLICE(TENANT_STANDARD);
    struct cmd_submit *c = &ret->as.submit;
    struct tlv_list labels = labels_of(r->arena, &flow->labels);
    c->check = flow->check;
    c->name = flow->name;
    c->trace = flow->trace;
    c->compensate_on = (enum compensate_on)flow->compensate_on;
    c->labels = labels.at;
    c->label_count = labels.count;
    if (flow->key.len > 0) {
        c->key = flow->key;
        c->key_ms = flow->key_ms;
        c->key_hash = key_hash(s, r, flow);
    }
    c->adder = r->session->job.job;
    c->fence = r->session->job.fence;
    bool by_job = c->adder.flow.v != 0;
    struct slice *keys = by_job ? NULL : ARENA_ARRAY(r->arena, struct slice, flow->part.options.count + 1);
    c->set_keys = keys;
    enum err e = jobs_of(s, r, &flow->part, keys, &c->jobs, why);
    return e == ERR_OK && by_job ? add_scope_check(s, c->adder, &c->jobs, r->arena, why) : e;
}

enum err req_flow_kept(struct server *s, const struct request *r, const struct rec_submitted *kept, struct command *ret,
                       struct why *why) {
    const struct rec_job *from = kept->jobs.at;
    struct job_spec *jobs = ARENA_ARRAY(r->arena, struct job_spec, kept->jobs.count + 1);
    struct options *sets = ARENA_ARRAY(r->arena, struct options, kept->profiles.count + 1);
    if (kept->profiles.count > 0) memcpy(sets, kept->profiles.at, kept->profiles.count * sizeof *sets);
    for (uint32_t i = 0; i < kept->profiles.count; i++) /* others are derived from them, whose bytes are not these */
        sets[i].raw = sets[i].demand.raw = (struct slice){0};
    *ret = (struct command){.kind = CMD_SUBMIT};
    if (r->session->who.tenant[0] == 0) ret->tenant = SLICE(TENANT_STANDARD);
    for (uint32_t i = 0; i < kept->jobs.count; i++) {
        jobs[i] = (struct job_spec){.name = from[i].name,
                                    .profile = from[i].profile,
                                    .body = from[i].body,
                                    .body_hash = from[i].body_hash,
                                    .service = from[i].service};
        enum err e = check_body(s, r, from[i].body, NULL, NULL, why);
        if (e != ERR_OK) return e;
    }
    ret->as.submit.name = kept->name;
    ret->as.submit.jobs = (struct cmd_jobs){
        .profiles = sets, .profile_count = kept->profiles.count, .jobs = jobs, .job_count = kept->jobs.count};
    return check_rights(r, &ret->as.submit.jobs, why);
}

static enum err flow_read(struct server *s, const struct request *r, const struct wire_flow *from,
                          struct wire_flow *ret, struct why *why) {
    *ret = *from;
    enum err e = from->spec.len > 0 ? flow_file_read(s, r, from, ret, why) : ERR_OK;
    ret->check = from->check;
    return e;
}

enum err req_flow_command(struct server *s, const struct request *r, const struct wire_flow *flow, struct command *ret,
                          struct why *why) {
    struct wire_flow read;
    enum err e = flow_read(s, r, flow, &read, why);
    return e == ERR_OK ? req_flow_made(s, r, &read, ret, why) : e;
}

struct flow_submit { /* one flow of a request, before it is a command */
    struct wire_flow flow;
    struct flow_source source;
    enum err err;
    struct slice text; /* of a refusal */
};

static enum err flow_submit_read(struct server *s, const struct request *r, const struct wire_flow *from,
                                 struct flow_submit *ret, struct vec *puts, struct why *why) {
    enum err e = flow_read(s, r, from, &ret->flow, why);
    bool has_source = ret->flow.source_name.len > 0 || ret->flow.source.text.len > 0 || ret->flow.params.len > 0;
    if (e == ERR_OK && has_source)
        e = flow_source_take(s, r, &ret->flow, session_tenant(r->session), &ret->source, puts, why);
    ret->err = e;
    if (e != ERR_OK) ret->text = arena_slice(r->arena, slice_str(why->text));
    return e;
}

static void submit_one(struct server *s, const struct request *r, struct call *c, uint32_t part,
                       const struct flow_submit *one) {
    struct command cmd;
    struct why why = {{0}};
    if (one->err != ERR_OK) {
        call_refuse(s, r, c, part, one->err, (const char *)one->text.ptr);
        return;
    }
    enum err e = req_flow_made(s, r, &one->flow, &cmd, &why);
    cmd.as.submit.source = one->source;
    if (e == ERR_OK)
        call_command(s, r, c, part, &cmd);
    else
        call_refuse(s, r, c, part, e, why.text);
}

HANDLER(req_submit) {
    const struct wire_submit *m = r->message;
    const struct wire_flow *flows = m->flows.at;
    struct vec puts;
    bool busy = false;
    if (m->flows.count == 0) {
        session_error(s, r->session, r->id, ERR_INVALID, "the request contains no flow");
        return;
    }
    vec_init(&puts, sizeof(struct blob_put *));
    struct flow_submit *list = ARENA_ARRAY(r->arena, struct flow_submit, m->flows.count);
    for (uint32_t i = 0; i < m->flows.count; i++) {
        struct why why = {{0}};
        busy |= flow_submit_read(s, r, &flows[i], &list[i], &puts, &why) == ERR_BUSY;
    }
    if ((busy || puts.count > 0) && flow_source_wait(s, r, &puts, busy)) return;
    struct call *c = call_open(s, r, m->flows.count);
    for (uint32_t i = 0; c != NULL && i < m->flows.count; i++) submit_one(s, r, c, i, &list[i]);
}

HANDLER(req_add) {
    const struct wire_add_jobs *m = r->message;
    struct command cmd = {.kind = CMD_ADD};
    struct why why = {{0}};
    struct wire_jobs part = m->part;
    enum err e = target_flow(s, r->session, m->flow, &cmd.as.add.flow, &why);
    if (e != ERR_OK) e = history_request_explain(s, r->session, m->flow, e, &why);
    if (e == ERR_OK && m->spec.len > 0) e = flow_file_read_jobs(s, r, m, &part, &why);
    if (e == ERR_OK) e = jobs_of(s, r, &part, NULL, &cmd.as.add.jobs, &why);
    struct job_ref adder = r->session->job.job;
    if (e == ERR_OK && adder.flow.v != 0) e = add_scope_check(s, adder, &cmd.as.add.jobs, r->arena, &why);
    cmd.as.add.adder = adder;
    cmd.as.add.fence = r->session->job.fence;
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    if (e == ERR_OK)
        call_command(s, r, c, 0, &cmd);
    else
        call_refuse(s, r, c, 0, e, why.text);
}

/* ---- cancel, retry, discard, rerun ---- */

static enum err change_of(uint8_t op, const struct target *t, struct slice reason, struct command *ret,
                          struct why *why) {
    if (op == WIRE_CANCEL) {
        ret->kind = CMD_CANCEL;
        ret->as.cancel = (struct cmd_cancel){t->job.flow, t->whole, t->job.ordinal, reason};
        return ERR_OK;
    }
    if (op == WIRE_RERUN) {
        if (!t->whole) return why_set(why, ERR_INVALID, "rerun takes flows; use retry for a single job");
        ret->kind = CMD_RERUN;
        ret->as.flow = t->job.flow;
        return ERR_OK;
    }
    if (t->whole) return why_set(why, ERR_INVALID, "this is a flow: name one of its jobs, like FLOW/JOB");
    ret->kind = op == WIRE_RETRY ? CMD_RETRY : CMD_DISCARD;
    ret->as.job = t->job;
    return ERR_OK;
}

HANDLER(req_targets) {
    const struct wire_targets *m = r->message;
    const struct wire_name *names = m->targets.at;
    if (m->targets.count == 0) {
        session_error(s, r->session, r->id, ERR_INVALID, "name at least one flow or job");
        return;
    }
    struct call *c = call_open(s, r, m->targets.count);
    if (c == NULL) return;
    for (uint32_t i = 0; i < m->targets.count; i++) {
        struct command cmd = {0};
        struct target t;
        struct why why = {{0}};
        c->parts[i].target = arena_slice(&c->arena, names[i].name);
        enum err e = target_find(s, r->session, names[i].name, &t, &why);
        if (e == ERR_OK) e = change_of(r->op, &t, m->reason, &cmd, &why);
        if (e == ERR_OK)
            call_command(s, r, c, i, &cmd);
        else
            call_refuse(s, r, c, i, history_request_explain(s, r->session, names[i].name, e, &why), why.text);
    }
}

HANDLER(req_pause) {
    const struct wire_pause *m = r->message;
    struct command cmd = {.kind = CMD_PAUSE};
    struct why why = {{0}};
    enum err e = ERR_OK;
    cmd.as.pause = (struct cmd_pause){.scope = (enum pause_scope)m->scope, .name = m->name, .on = r->op == WIRE_PAUSE};
    if (m->scope == WIRE_SCOPE_FLOW) e = target_flow(s, r->session, m->name, &cmd.as.pause.flow, &why);
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    if (e == ERR_OK)
        call_command(s, r, c, 0, &cmd);
    else
        call_refuse(s, r, c, 0, e, why.text);
}

/* ---- verdicts ---- */

/* The question itself, or the one that the named job stands before. */
static enum err question_of(struct server *s, const struct request *r, uint64_t number, struct slice job_text,
                            struct question_view *ret, struct why *why) {
    struct job_view job;
    question_id id = {number};
    if (number == 0) {
        enum err e = target_job(s, r->session, job_text, &job, why);
        if (e != ERR_OK) return e;
        if (job.question.v == 0)
            return why_set(why, ERR_STATE, "%.*s is not waiting for approval (state: %s)", SLICE_FMT(job_text),
                           job_state_word(job.state));
        id = job.question;
    }
    if (!view_question(server_state(s), id, ret))
        return why_set(why, ERR_NOT_FOUND, "there is no open question %llu", (unsigned long long)id.v);
    return ERR_OK;
}

static void send_verdict(struct server *s, struct request *r, struct command *cmd, enum err e, struct why *why) {
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    if (e == ERR_OK)
        call_command(s, r, c, 0, cmd);
    else
        call_refuse(s, r, c, 0, e, why->text);
}

HANDLER(req_verdict) {
    const struct wire_verdict *m = r->message;
    struct command cmd = {.kind = CMD_VERDICT};
    struct why why = {{0}};
    struct question_view q = {0};
    struct job_view job;
    enum err e = ERR_OK;
    bool late = m->question == 0 && m->verdict == WIRE_VERDICT_QUARANTINE &&
                target_job(s, r->session, m->job, &job, &why) == ERR_OK && job.question.v == 0;
    if (!late) e = question_of(s, r, m->question, m->job, &q, &why);
    cmd.as.verdict = (struct cmd_verdict){.question = late ? (question_id){0} : q.id,
                                          .job = late ? job.ref : q.job,
                                          .revision = m->revision != 0 ? m->revision : q.revision,
                                          .hash = m->hash,
                                          .verdict = (enum verdict)m->verdict,
                                          .reason = m->reason,
                                          .again_ms = m->again_ms,
                                          .fatal = m->fatal};
    send_verdict(s, r, &cmd, e, &why);
}
