/* titan_flow.c: see titan_flow.h.
 *
 * An id is a label of its job, and made fit it is its name. What Titan does for every job is written out: four
 * executions, at once; a time for jobs of a DAG and another for others; Titan's interpreters. Scripts lie in the folder
 * that they share on a worker, and jobs of a DAG start in one below it (agent/titan_place.h). Jobs may submit further
 * ones and look at all of their tenant. A script that would only wait for a person is a gate, which needs no worker. */
#include "titan_flow.h"

#include <stdio.h>

#include "map.h"
#include "utf8.h"
#include "wire_run.h"

#define EXECUTIONS 4u
#define TOKEN_RIGHTS 3u /* of its jobs: read and submit, as agents that make DAGs need */
#define AT_ONCE_MS 1u
#define HEALTHY_WITHIN_MS 30000
#define LOG_BYTES_MAX ((uint64_t)1 << 40) /* no limit that anyone meets */

struct making {
    const struct titan_jobs *in;
    const struct titan_rules *rules;
    struct arena *arena;
    struct why *why;
    struct wire_job *jobs;
    struct wire_options *options;
    uint32_t option_count, job_count, gate_count;
    struct index names;
};

static bool is_service(const struct titan_job *j) {
    return j->kind == TITAN_KIND_SERVICE || j->kind == TITAN_KIND_ARCHIVE_SERVICE;
}

static bool is_archive(const struct titan_job *j) {
    return j->kind == TITAN_KIND_ARCHIVE || j->kind == TITAN_KIND_ARCHIVE_SERVICE;
}

/* Another worker of Titan's: it is told its port, and where its master is. */
static bool is_worker(const struct titan_job *j) {
    return j->kind == TITAN_KIND_SERVICE && j->port != 0 && slice_eq(j->file, SLICE(TITAN_WORKER_JAR));
}

static bool is_of_dag(const struct titan_job *j) {
    size_t prefix = sizeof TITAN_DAG_PREFIX - 1;
    return j->id.len >= prefix && memcmp(j->id.ptr, TITAN_DAG_PREFIX, prefix) == 0;
}

bool titan_is_gate(const struct titan_rules *rules, const struct titan_job *j, struct titan_gate *ret) {
    return rules->gates && titan_gate_read(j, ret) && ret->wait_ms <= rules->gate_ms_max &&
           ret->message.len <= WIRE_TEXT_MAX && ret->id.len <= rules->gate_id_bytes_max;
}

static bool ends(struct slice text, const char *with) {
    struct slice w = slice_str(with);
    return text.len >= w.len && slice_eq(slice_of(text.ptr + text.len - w.len, w.len), w);
}

/* ---- names ---- */

static struct slice name_of(const void *ctx, uint32_t value) {
    return ((const struct making *)ctx)->jobs[value - 1].name;
}

/* Two jobs may have one id, and then they are two jobs. */
static struct slice name_make(struct making *m, struct slice id, uint32_t position) {
    size_t len = utf8_cut(id, m->rules->name_bytes_max - 12).len;
    char *name = arena_alloc(m->arena, len + 16);
    for (size_t i = 0; i < len; i++)
        name[i] = (char)(id.ptr[i] < 0x20 || id.ptr[i] == 0x7f || id.ptr[i] == '/' ? '_' : id.ptr[i]);
    bool taken = len < id.len || index_get(&m->names, slice_of(name, len), name_of, m) != 0;
    if (taken) len += (size_t)snprintf(name + len, 16, ".%u", position + 1);
    return slice_of(name, len);
}

/* ---- options ---- */

/* Titan's own workers hand no arguments to archives and services, have no handlers, and start another worker so that it
 * never finds its master. */
static bool is_for_all(const struct titan_job *j) {
    return j->kind != TITAN_KIND_HANDLER && !is_worker(j) && (j->args.len == 0 || j->kind == TITAN_KIND_SCRIPT);
}

static struct slice handler_capability(struct arena *arena, struct slice type) {
    struct slice before = SLICE(WIRE_HANDLER_CAPABILITY);
    uint8_t *name = arena_alloc(arena, before.len + type.len);
    memcpy(name, before.ptr, before.len);
    memcpy(name + before.len, type.ptr, type.len);
    return slice_of(name, before.len + type.len);
}

static void gate_options_make(const struct titan_job *j, const struct titan_gate *gate, struct wire_options *ret) {
    *ret = (struct wire_options){.kind = JOB_GATE,
                                 .approval_ms = gate->wait_ms,
                                 .delay_from_submit = j->delay_ms > 0,
                                 .delay_ms = j->delay_ms > 0 ? j->delay_ms : 0};
}

static void options_make(struct making *m, const struct titan_job *j, struct wire_options *ret) {
    int64_t priority = j->priority < 0                        ? 0
                       : j->priority > m->rules->priority_max ? m->rules->priority_max
                                                              : j->priority;
    struct wire_name *capability = ARENA_ARRAY(m->arena, struct wire_name, 2);
    capability[0].name = j->requirement;
    if (j->kind == TITAN_KIND_HANDLER) capability[1].name = handler_capability(m->arena, j->file);
    *ret = (struct wire_options){.kind = is_service(j)                   ? JOB_SERVICE
                                         : is_archive(j)                 ? JOB_ARCHIVE
                                         : j->kind == TITAN_KIND_HANDLER ? JOB_COMMAND
                                                                         : JOB_SCRIPT,
                                 .priority = priority - 1, /* above or below our normal level, which is 1 */
                                 .demand.capabilities = {capability, j->kind == TITAN_KIND_HANDLER ? 2 : 1},
                                 .demand.topic = is_for_all(j) ? SLICE(TITAN_TOPIC) : SLICE(""),
                                 .attempts_max = EXECUTIONS,
                                 .delay_from_submit = j->delay_ms > 0,
                                 .delay_ms = j->delay_ms > 0 ? j->delay_ms : 0,
                                 .token_rights = TOKEN_RIGHTS,
                                 .run_timeout_ms = is_of_dag(j) ? m->rules->dag_ms : m->rules->alone_ms,
                                 .affinity = j->affinity};
    if (!m->rules->backoff) ret->backoff_base_ms = ret->backoff_cap_ms = ret->backoff_jitter_ms = AT_ONCE_MS;
    if (!is_service(j)) return;
    ret->run_timeout_ms = 0;
    ret->healthy_within_ms = HEALTHY_WITHIN_MS;
}

static bool options_equal(const struct wire_options *a, const struct wire_options *b) {
    const struct wire_name *x = a->demand.capabilities.at, *y = b->demand.capabilities.at;
    if (a->demand.capabilities.count != b->demand.capabilities.count || a->demand.topic.len != b->demand.topic.len)
        return false;
    for (uint32_t i = 0; i < a->demand.capabilities.count; i++)
        if (!slice_eq(x[i].name, y[i].name)) return false;
    return a->kind == b->kind && a->priority == b->priority && a->delay_ms == b->delay_ms &&
           a->run_timeout_ms == b->run_timeout_ms && a->affinity == b->affinity && a->approval_ms == b->approval_ms;
}

/* Each different set once. */
static uint32_t options_add(struct making *m, const struct titan_job *j) {
    struct wire_options *o = &m->options[m->option_count];
    struct titan_gate gate;
    if (titan_is_gate(m->rules, j, &gate))
        gate_options_make(j, &gate, o);
    else
        options_make(m, j, o);
    for (uint32_t i = m->option_count; i > 0; i--)
        if (options_equal(&m->options[i - 1], o)) return i - 1;
    return m->option_count++;
}

/* ---- what is run ---- */

static struct tlv_list args_of(struct arena *arena, struct slice text) {
    uint32_t most = 1, count = 0;
    for (size_t i = 0; i < text.len; i++) most += text.ptr[i] == ' ';
    struct wire_arg *args = ARENA_ARRAY(arena, struct wire_arg, most);
    for (size_t from = 0, i = 0; i <= text.len; i++) {
        if (i < text.len && text.ptr[i] != ' ') continue;
        if (i > from) args[count++].text = slice_of(text.ptr + from, i - from);
        from = i + 1;
    }
    return (struct tlv_list){args, count};
}

static struct tlv_list words_of(struct arena *arena, const char *first, const char *second) {
    struct wire_arg *args = ARENA_ARRAY(arena, struct wire_arg, 2);
    args[0].text = slice_str(first);
    if (second != NULL) args[1].text = slice_str(second);
    return (struct tlv_list){args, second != NULL ? 2 : 1};
}

static struct tlv_list worker_args(struct making *m, const struct titan_job *j) {
    struct slice host = m->rules->listen;
    char *port = arena_alloc(m->arena, 16), *master = arena_alloc(m->arena, host.len + 1);
    while (host.len > 0 && host.ptr[host.len - 1] != ':') host.len--;
    if (host.len > 0) host.len--;
    bool is_any = host.len == 0 || slice_eq(host, SLICE("0.0.0.0")) || slice_eq(host, SLICE("[::]"));
    snprintf(port, 16, "%u", j->port);
    memcpy(master, host.ptr, host.len);
    return words_of(m->arena, port, is_any ? "127.0.0.1" : master);
}

static struct slice folder_of(struct slice path) {
    size_t len = path.len;
    while (len > 0 && path.ptr[len - 1] != '/') len--;
    return slice_of(path.ptr, len > 0 ? len - 1 : 0);
}

static void run_make(struct making *m, const struct titan_job *j, struct wire_run *ret) {
    struct wire_pair *label = ARENA_ARRAY(m->arena, struct wire_pair, 2);
    struct titan_gate gate;
    label[0] = (struct wire_pair){SLICE(TITAN_ID_LABEL), j->id};
    if (titan_is_gate(m->rules, j, &gate)) {
        m->gate_count++;
        label[1] = (struct wire_pair){SLICE(TITAN_GATE_LABEL), gate.id};
        *ret = (struct wire_run){.message = gate.message, .labels = {label, 2}};
        return;
    }
    *ret = (struct wire_run){.argv = args_of(m->arena, j->args),
                             .script = j->bytes,
                             .script_name = j->file,
                             .script_hash = j->hash,
                             .log_bytes_max = LOG_BYTES_MAX,
                             .labels = {label, 1},
                             .port = is_service(j) ? j->port : 0,
                             .titan = m->rules->listen};
    if (is_worker(j)) ret->argv = worker_args(m, j);
    if (j->kind == TITAN_KIND_HANDLER) {
        *ret = (struct wire_run){
            .handler = j->file, .stdin_text = j->args, .log_bytes_max = LOG_BYTES_MAX, .labels = {label, 1}};
    } else if (is_archive(j)) {
        ret->entry = j->entry;
        ret->dir = folder_of(j->entry);
        ret->is_archive = is_service(j);
    } else {
        ret->shared = is_of_dag(j);
        if (ends(j->file, ".sh")) ret->interpreter = words_of(m->arena, "/bin/bash", NULL);
        if (ends(j->file, ".py")) ret->interpreter = words_of(m->arena, "python3", "-u");
    }
}

static enum err body_make(struct making *m, const struct titan_job *j, struct slice *ret) {
    struct wire_run run;
    struct buf b;
    run_make(m, j, &run);
    enum err e = tlv_check(&wire_run_desc, &run, m->why);
    if (e != ERR_OK) return why_wrap(m->why, e, "job %.*s", SLICE_FMT(j->id));
    buf_init(&b, 2 * WIRE_BODY_MAX);
    tlv_encode(&wire_run_desc, &run, &b);
    *ret = arena_slice(m->arena, buf_slice(&b));
    bool full = b.full;
    buf_fini(&b);
    return full ? why_set(m->why, ERR_LIMIT, "job %.*s is too long", SLICE_FMT(j->id)) : ERR_OK;
}

/* ---- jobs ---- */

static struct slice parent_id(const void *ctx, uint32_t value) {
    return ((const struct titan_job *)ctx)->parents[value - 1].id;
}

static void parents_make(struct making *m, const struct titan_job *j, struct wire_job *ret) {
    uint32_t *here = ARENA_ARRAY(m->arena, uint32_t, j->parent_count + 1), here_count = 0;
    struct wire_name *there = ARENA_ARRAY(m->arena, struct wire_name, j->parent_count + 1);
    uint32_t there_count = 0;
    struct index seen;
    index_init(&seen);
    for (uint32_t i = 0; i < j->parent_count; i++) {
        if (index_get(&seen, j->parents[i].id, parent_id, j) != 0) continue; /* who is named twice is one parent */
        index_put(&seen, j->parents[i].id, i + 1);
        if (j->parents[i].at != TITAN_ELSEWHERE)
            here[here_count++] = j->parents[i].at;
        else
            there[there_count++].name = j->parents[i].target;
    }
    index_fini(&seen);
    ret->parents = (struct tlv_u32s){here, here_count};
    ret->parent_names = (struct tlv_list){there, there_count};
}

static enum err job_make(struct making *m, const struct titan_job *j) {
    struct wire_job *to = &m->jobs[m->job_count];
    if (!utf8_is_valid(j->id)) return why_set(m->why, ERR_INVALID, "the id of a job is not UTF-8");
    *to = (struct wire_job){.name = name_make(m, j->id, m->job_count), .options = options_add(m, j)};
    if (is_service(j)) to->service = to->name;
    parents_make(m, j, to);
    index_put(&m->names, to->name, ++m->job_count);
    return body_make(m, j, &to->body);
}

static struct tlv_list labels_make(struct making *m) {
    struct wire_pair *labels = ARENA_ARRAY(m->arena, struct wire_pair, 2);
    char *count = arena_alloc(m->arena, 16);
    snprintf(count, 16, "%u", m->job_count);
    labels[0] = (struct wire_pair){SLICE("dialect"), SLICE(TITAN_DIALECT)};
    labels[1] = (struct wire_pair){SLICE(TITAN_JOBS_LABEL), slice_str(count)};
    return (struct tlv_list){labels, m->gate_count > 0 ? 2 : 1};
}

enum err titan_flow(const struct titan_jobs *jobs, const struct titan_rules *rules, struct arena *arena,
                    struct wire_flow *ret, struct why *why) {
    struct making m = {.in = jobs,
                       .rules = rules,
                       .arena = arena,
                       .why = why,
                       .jobs = ARENA_ARRAY(arena, struct wire_job, jobs->count + 1),
                       .options = ARENA_ARRAY(arena, struct wire_options, jobs->count + 1)};
    enum err e = ERR_OK;
    index_init(&m.names);
    for (uint32_t i = 0; i < jobs->count && e == ERR_OK; i++) e = job_make(&m, &jobs->at[i]);
    index_fini(&m.names);
    if (e != ERR_OK) return e;
    *ret = (struct wire_flow){
        .name = m.jobs[0].name,
        .labels = labels_make(&m),
        .part = {.options = {m.options, m.option_count}, .jobs = {m.jobs, m.job_count}},
    };
    return ERR_OK;
}
