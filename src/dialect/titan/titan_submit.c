/* titan_submit.c: submissions by Titan's protocol. Each is one flow, and goes these steps:
 *
 *     read the text -> files that are named -> parents of earlier submissions -> large scripts as blobs -> submit
 *
 * Titan looks a file up when a job is dispatched; here it is what it was when the job was accepted. */
#include <stdio.h>

#include "base64.h"
#include "blob.h"
#include "server_impl.h"
#include "session.h"
#include "titan_files.h"
#include "titan_flow.h"
#include "titan_gates.h"
#include "titan_impl.h"
#include "titan_submit.h"
#include "transfers.h"

#define INLINE_BYTES_MAX 16384u         /* a script up to this is part of its job; a longer one is a blob */
#define INLINE_ALL_BYTES_MAX (4u << 20) /* of all in one submission, so that it fits a record */

struct submission {
    struct titan_jobs jobs;
    const char *accepted; /* what is said when all went well */
    const char *no_file;  /* and when a file is not there; NULL = which, in our words */
    uint32_t *named;      /* jobs whose file is one of the name space */
    uint32_t named_count;
    struct titan_parent **foreign; /* parents of earlier submissions */
    uint32_t foreign_count;
    uint32_t blob_at; /* the job whose script is next */
    size_t inline_bytes;
    struct titan_about about; /* no name = nothing more is known of it */
};

static struct submission *work_of(const struct session *n) {
    return talk_of(n)->work;
}

static bool is_archive(const struct titan_job *j) {
    return j->kind == TITAN_KIND_ARCHIVE || j->kind == TITAN_KIND_ARCHIVE_SERVICE;
}

/* ---- submit ---- */

static void submitted_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct wire_submitted *m = message;
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    const struct wire_submitted_flow *flow = m->flows.at;
    if (flow->code.len > 0)
        titan_sayf(s, n, "ERROR: %.*s", SLICE_FMT(flow->message));
    else
        titan_say(s, n, slice_str(work_of(n)->accepted));
}

/* Its name has to be one of a flow; its label says what it is. */
static void about_put(struct session *n, struct wire_flow *flow) {
    const struct titan_about *about = &work_of(n)->about;
    const struct wire_pair *own = flow->labels.at;
    uint32_t count = flow->labels.count;
    struct wire_pair *labels = ARENA_ARRAY(&talk_of(n)->arena, struct wire_pair, count + about->label_count);
    uint8_t *name = arena_copy(&talk_of(n)->arena, about->name.ptr, about->name.len);
    for (size_t i = 0; i < about->name.len; i++)
        if (name[i] < 0x20 || name[i] == 0x7f || name[i] == '/') name[i] = '_';
    for (uint32_t i = 0; i < count; i++) labels[i] = own[i];
    for (uint32_t i = 0; i < about->label_count; i++) labels[count + i] = about->labels[i];
    flow->name = slice_of(name, about->name.len);
    flow->labels = (struct tlv_list){labels, count + about->label_count};
}

static struct titan_rules rules_of(struct server *s) {
    return (struct titan_rules){.listen = slice_str(titan_of(s)->options->listen),
                                .backoff = titan_of(s)->options->backoff,
                                .dag_ms = titan_of(s)->options->dag_seconds * 1000,
                                .alone_ms = titan_of(s)->options->job_seconds * 1000,
                                .gates = titan_of(s)->options->gates,
                                .gate_ms_max = s->limits->delay_ms_max,
                                .gate_id_bytes_max = titan_gate_id_bytes_max(s),
                                .priority_max = s->limits->priority_max,
                                .name_bytes_max = (size_t)s->limits->name_bytes_max};
}

static void submit(struct server *s, struct session *n) {
    struct titan_rules rules = rules_of(s);
    struct wire_flow flow;
    struct why why = {{0}};
    if (titan_flow(&work_of(n)->jobs, &rules, &talk_of(n)->arena, &flow, &why) != ERR_OK) {
        titan_sayf(s, n, "ERROR: %s", why.text);
        return;
    }
    if (work_of(n)->about.name.len > 0) about_put(n, &flow);
    struct wire_submit m = {.flows = {&flow, 1}};
    titan_ask(s, n, WIRE_SUBMIT, &m, submitted_told);
}

/* ---- scripts ---- */

static void scripts_next(struct server *s, struct session *n);

static void script_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct submission *w = work_of(n);
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    struct titan_job *j = &w->jobs.at[w->blob_at++];
    j->hash = arena_slice(&talk_of(n)->arena, ((const struct wire_blob_kept *)message)->hash);
    j->bytes = (struct slice){0};
    scripts_next(s, n);
}

static bool is_stored(struct server *s, struct session *n, struct titan_job *j) {
    blob_hash hash;
    s->world.hasher->whole(s->world.hasher, j->bytes, hash.at);
    if (!blobs_touch(s->store.blobs, session_tenant(n), &hash)) return false;
    j->hash = slice_of(arena_copy(&talk_of(n)->arena, hash.at, DIGEST_BYTES), DIGEST_BYTES);
    j->bytes = (struct slice){0};
    return true;
}

static void scripts_next(struct server *s, struct session *n) {
    struct submission *w = work_of(n);
    for (; w->blob_at < w->jobs.count; w->blob_at++) {
        struct titan_job *j = &w->jobs.at[w->blob_at];
        bool fits = j->bytes.len <= INLINE_BYTES_MAX && w->inline_bytes + j->bytes.len <= INLINE_ALL_BYTES_MAX;
        if (fits) w->inline_bytes += j->bytes.len;
        if (fits || j->hash.len > 0 || is_stored(s, n, j)) continue;
        titan_keep(s, n, j->bytes, script_told);
        return;
    }
    submit(s, n);
}

/* ---- parents ---- */

static void parents_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct submission *w = work_of(n);
    const struct wire_titan *m = message;
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    const struct wire_titan_job *jobs = m->jobs.at;
    for (uint32_t i = 0; i < w->foreign_count; i++) {
        if (jobs[i].target.len == 0) {
            titan_sayf(s, n, "ERROR: the parent %.*s is not known here: submit it before, or with its children",
                       SLICE_FMT(w->foreign[i]->id));
            return;
        }
        w->foreign[i]->target = arena_slice(&talk_of(n)->arena, jobs[i].target);
    }
    scripts_next(s, n);
}

static void parents_ask(struct server *s, struct session *n) {
    struct submission *w = work_of(n);
    struct wire_titan_name *names = ARENA_ARRAY(&talk_of(n)->arena, struct wire_titan_name, w->foreign_count + 1);
    for (uint32_t i = 0; i < w->foreign_count; i++) names[i].id = w->foreign[i]->id;
    struct wire_titan_get get = {.what = WIRE_TITAN_JOBS, .names = {names, w->foreign_count}};
    if (w->foreign_count == 0)
        scripts_next(s, n);
    else
        titan_ask(s, n, WIRE_TITAN_GET, &get, parents_told);
}

/* ---- files of the name space ---- */

static const struct wire_kv_item *item_of(const struct wire_kv_items *m, struct slice key) {
    const struct wire_kv_item *items = m->items.at;
    for (uint32_t i = 0; i < m->items.count; i++)
        if (slice_eq(items[i].key, key)) return &items[i];
    return NULL;
}

static void files_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct submission *w = work_of(n);
    (void)more;
    struct titan_rules rules = rules_of(s);
    struct titan_gate gate;
    if (titan_refused(s, n, op, message)) return;
    for (uint32_t i = 0; i < w->named_count; i++) {
        struct titan_job *j = &w->jobs.at[w->named[i]];
        const struct wire_kv_item *item = item_of(message, titan_file_key(n, j->file));
        if (item != NULL && titan_file_hash(item->value, &talk_of(n)->arena, &j->hash)) continue;
        if (j->named && titan_is_gate(&rules, j, &gate)) continue;
        if (w->no_file != NULL)
            titan_say(s, n, slice_str(w->no_file));
        else if (j->named)
            titan_sayf(s, n, "ERROR: " TITAN_NO_FILE "%.*s", SLICE_FMT(j->file));
        else
            titan_sayf(s, n, "ERROR: job %.*s: there is no file %.*s here: upload it first", SLICE_FMT(j->id),
                       SLICE_FMT(j->file));
        return;
    }
    parents_ask(s, n);
}

static void files_ask(struct server *s, struct session *n) {
    struct submission *w = work_of(n);
    struct wire_kv_key *keys = ARENA_ARRAY(&talk_of(n)->arena, struct wire_kv_key, w->named_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->named_count; i++) {
        struct slice key = titan_file_key(n, w->jobs.at[w->named[i]].file);
        if (count == 0 || !slice_eq(keys[count - 1].text, key)) keys[count++].text = key; /* mostly one for all */
    }
    struct wire_kv_get get = {.keys = {keys, count}};
    if (count == 0)
        parents_ask(s, n);
    else
        titan_ask(s, n, WIRE_KV_GET, &get, files_told);
}

/* ---- the beginning ---- */

static bool scripts_decode(struct server *s, struct session *n, struct titan_jobs *jobs) {
    for (uint32_t i = 0; i < jobs->count; i++) {
        struct titan_job *j = &jobs->at[i];
        struct why why = {{0}};
        if ((j->kind != TITAN_KIND_SCRIPT && j->kind != TITAN_KIND_SERVICE) || j->named) continue;
        enum err e = base64_read(j->base64, &talk_of(n)->arena, &j->bytes, &why);
        if (e == ERR_OK && j->bytes.len == 0) e = why_set(&why, ERR_INVALID, "there is nothing in it");
        if (e == ERR_OK) continue;
        titan_sayf(s, n, "ERROR: job %.*s: its file %.*s: %s", SLICE_FMT(j->id), SLICE_FMT(j->file), why.text);
        return false;
    }
    return true;
}

static void begin(struct session *n, struct titan_jobs jobs, const char *accepted) {
    struct arena *a = &talk_of(n)->arena;
    struct submission *w = ARENA_NEW(a, struct submission);
    uint32_t parents = 0;
    talk_of(n)->work = w;
    *w = (struct submission){.jobs = jobs, .accepted = accepted, .named = ARENA_ARRAY(a, uint32_t, jobs.count + 1)};
    for (uint32_t i = 0; i < jobs.count; i++) parents += jobs.at[i].parent_count;
    w->foreign = ARENA_ARRAY(a, struct titan_parent *, parents + 1);
    for (uint32_t i = 0; i < jobs.count; i++) {
        if (is_archive(&jobs.at[i]) || jobs.at[i].named) w->named[w->named_count++] = i;
        for (uint32_t k = 0; k < jobs.at[i].parent_count; k++)
            if (jobs.at[i].parents[k].at == TITAN_ELSEWHERE) w->foreign[w->foreign_count++] = &jobs.at[i].parents[k];
    }
}

void titan_submit_jobs(struct server *s, struct session *n, struct titan_jobs jobs, const struct titan_about *about) {
    if (!scripts_decode(s, n, &jobs)) return;
    begin(n, jobs, "DAG_ACCEPTED");
    work_of(n)->about = *about;
    files_ask(s, n);
}

void titan_submit_dag(struct server *s, struct session *n, struct slice body) {
    struct titan_jobs jobs;
    struct why why = {{0}};
    if (titan_dag_read(body, &talk_of(n)->arena, &jobs, &why) != ERR_OK) {
        titan_sayf(s, n, "ERROR: %s", why.text);
        return;
    }
    titan_submit_jobs(s, n, jobs, &(struct titan_about){0});
}

/* An id that nobody else has. */
static struct slice id_make(struct server *s, struct session *n, const char *prefix) {
    struct clock *c = s->world.clock;
    char *id = arena_alloc(&talk_of(n)->arena, 64);
    uint64_t a = c->random(c), b = c->random(c);
    snprintf(id, 64, "%s%08x-%04x-4%03x-%04x-%012llx", prefix, (uint32_t)(a >> 32), (uint32_t)(a >> 16 & 0xffff),
             (uint32_t)(a & 0xfff), (uint32_t)(0x8000 | (b >> 48 & 0x3fff)), (unsigned long long)(b & 0xffffffffffff));
    return slice_str(id);
}

void titan_submit_job(struct server *s, struct session *n, struct slice body) {
    struct titan_jobs jobs = {ARENA_NEW(&talk_of(n)->arena, struct titan_job), 1};
    struct why why = {{0}};
    if (titan_job_read(body, &talk_of(n)->arena, jobs.at, &why) != ERR_OK) {
        titan_sayf(s, n, "ERROR: %s", why.text);
        return;
    }
    if (jobs.at->id.len == 0) jobs.at->id = id_make(s, n, "");
    if (!scripts_decode(s, n, &jobs)) return;
    begin(n, jobs, "JOB_ACCEPTED");
    files_ask(s, n);
}

/* ---- files that were sent before ---- */

static void named_begin(struct server *s, struct session *n, const struct titan_job *job, const char *accepted,
                        const char *no_file) {
    struct titan_jobs jobs = {ARENA_NEW(&talk_of(n)->arena, struct titan_job), 1};
    *jobs.at = *job;
    if (jobs.at->requirement.len == 0) jobs.at->requirement = SLICE(TITAN_GENERAL);
    begin(n, jobs, accepted);
    work_of(n)->no_file = no_file;
    work_of(n)->named[work_of(n)->named_count++] = 0;
    files_ask(s, n);
}

void titan_run(struct server *s, struct session *n, struct slice body) {
    struct titan_job job = {.kind = TITAN_KIND_SCRIPT, .priority = 1};
    if (!titan_cut(&body, &job.file))
        job.file = body;
    else
        job.requirement = titan_trim(body);
    job.file = titan_trim(job.file);
    if (job.file.len == 0) {
        titan_say(s, n, SLICE("ERROR: Missing filename"));
        return;
    }
    job.id = id_make(s, n, "TSK-");
    struct slice on = job.requirement.len > 0 ? job.requirement : SLICE(TITAN_GENERAL);
    size_t room = job.id.len + on.len + 32;
    char *accepted = arena_alloc(&talk_of(n)->arena, room);
    snprintf(accepted, room, "JOB_QUEUED%.*s on %.*s", SLICE_FMT(job.id), SLICE_FMT(on));
    named_begin(s, n, &job, accepted, "ERROR: File not found recursively in perm_files");
}

static void worker_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    (void)more;
    if (!titan_refused(s, n, op, message)) titan_say(s, n, SLICE("DEPLOY_QUEUED"));
}

/* Another worker of ours, which Titan's clients know by the port that they asked for. */
static void worker_start(struct server *s, struct session *n, struct slice port, struct slice requirement) {
    struct wire_pair labels[2] = {{SLICE("titan.port"), port}, {SLICE("capability"), requirement}};
    struct wire_worker_start start = {.labels = {labels, requirement.len > 0 ? 2 : 1}};
    titan_ask(s, n, WIRE_WORKER_START, &start, worker_told);
}

void titan_deploy(struct server *s, struct session *n, struct slice body) {
    struct titan_job job = {.kind = TITAN_KIND_SERVICE, .priority = 1};
    struct slice port = {0};
    int64_t number = 0;
    if (!titan_cut(&body, &job.file)) job.file = body, body = SLICE("");
    if (!titan_cut(&body, &port)) port = body, body = SLICE("");
    job.file = titan_trim(job.file);
    port = titan_trim(port);
    job.requirement = titan_trim(body);
    if (titan_number(port, &number) && number > 0 && number < 65536) job.port = (uint32_t)number;
    if (job.file.len == 0) {
        titan_say(s, n, SLICE("ERROR: Server File IO issue"));
        return;
    }
    if (slice_eq(job.file, SLICE(TITAN_WORKER_JAR)) && job.port != 0) {
        worker_start(s, n, port, job.requirement);
        return;
    }
    job.id = id_make(s, n, "TSK-");
    named_begin(s, n, &job, "DEPLOY_QUEUED", "ERROR: File not found in perm_files");
}
