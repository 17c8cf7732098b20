/* pipeline.c: see pipeline.h. */
#include "pipeline.h"

#include "find.h"
#include "map.h"

#define ARGS_MAX 256u
#define GENERAL "GENERAL" /* a requirement that every worker meets */

/* ---- reading: Titan's tool and its files have different words for some keys ---- */

static const struct json_node *get(const struct json_node *job, const char *key, const char *also) {
    const struct json_node *n = json_tree_get(job, slice_str(key));
    if (n == NULL && also != NULL) n = json_tree_get(job, slice_str(also));
    return n != NULL && n->kind != JSON_NULL ? n : NULL;
}

static const char *const known_keys[] = {
    "job_id",      "id",           "script_content",   "file",       "args",
    "requirement", "priority",     "parents",          "depends_on", "affinity",
    "delay",       "hitl_message", "max_wait_seconds", "type",       "port",
};

static enum err check_keys(const struct json_node *job, struct why *why) {
    for (const struct json_node *n = job->first; n != NULL; n = n->next) {
        bool known = false;
        for (size_t i = 0; i < sizeof known_keys / sizeof known_keys[0]; i++)
            known |= slice_eq(n->key, slice_str(known_keys[i]));
        if (!known)
            return why_set(why, ERR_INVALID,
                           "a job has no `%.*s`: job_id, script_content, args, requirement, priority, parents, "
                           "hitl_message, delay, affinity are known",
                           SLICE_FMT(n->key));
    }
    return ERR_OK;
}

static enum err text_of(const struct json_node *job, const char *key, const char *also, struct slice *ret,
                        struct why *why) {
    const struct json_node *n = get(job, key, also);
    if (n == NULL) return ERR_OK;
    if (n->kind != JSON_TEXT && n->kind != JSON_NUMBER)
        return why_set(why, ERR_INVALID, "`%s` of a job: expected a text", key);
    *ret = n->text;
    return ERR_OK;
}

static enum err number_of(const struct json_node *job, const char *key, int64_t *ret, struct why *why) {
    const struct json_node *n = get(job, key, NULL);
    if (n == NULL) return ERR_OK;
    if (n->kind == JSON_NUMBER && json_number_i64(n->text, ret) == ERR_OK) return ERR_OK;
    return why_set(why, ERR_INVALID, "`%s` of a job: expected a whole number", key);
}

static enum err parents_of(struct tool_call *c, const struct json_node *job, struct pipeline_step *ret,
                           struct why *why) {
    const struct json_node *list = get(job, "parents", "depends_on");
    if (list == NULL) return ERR_OK;
    if (list->kind != JSON_ARRAY) return why_set(why, ERR_INVALID, "`parents` of a job: expected a list of job ids");
    ret->parents = ARENA_ARRAY(c->arena, struct pipeline_parent, list->count + 1);
    for (const struct json_node *n = list->first; n != NULL; n = n->next) {
        if (n->kind != JSON_TEXT || n->text.len == 0)
            return why_set(why, ERR_INVALID, "`parents` of a job: expected a list of job ids");
        ret->parents[ret->parent_count++].id = n->text;
    }
    return ERR_OK;
}

/* The text of the script is in the list, or in a file beside the one that the list is in. */
static enum err script_of(struct tool_call *c, const struct json_node *job, struct slice path,
                          struct pipeline_step *ret, struct why *why) {
    enum err e = text_of(job, "script_content", NULL, &ret->script, why);
    ret->file = SLICE("script.py");
    if (e == ERR_OK && path.len > 0) e = text_of(job, "file", NULL, &ret->file, why);
    if (e == ERR_OK && path.len > 0 && ret->script.len == 0)
        e = c->world->file(c->world->ctx, ret->file, path, c->arena, &ret->script, why);
    if (e != ERR_OK) return e;
    const uint8_t *slash = ret->file.len > 0 ? memrchr(ret->file.ptr, '/', ret->file.len) : NULL;
    if (slash != NULL) ret->file = slice_of(slash + 1, (size_t)(ret->file.ptr + ret->file.len - slash - 1));
    if (ret->script.len > 0) return ERR_OK;
    return why_set(why, ERR_INVALID, "job %.*s needs `script_content`, the text of a Python script",
                   SLICE_FMT(ret->id));
}

static enum err step_read(struct tool_call *c, const struct json_node *job, struct slice path,
                          struct pipeline_step *ret, struct why *why) {
    const struct json_node *affinity = get(job, "affinity", NULL);
    struct slice type = {0};
    int64_t wait_s = 0, delay = 0;
    *ret = (struct pipeline_step){.priority = 1};
    if (job->kind != JSON_OBJECT) return why_set(why, ERR_INVALID, "expected a list of objects, one for each job");
    enum err e = check_keys(job, why);
    if (e == ERR_OK) e = text_of(job, "job_id", "id", &ret->id, why);
    if (e == ERR_OK && ret->id.len == 0) e = why_set(why, ERR_INVALID, "a job needs a `job_id`");
    if (e == ERR_OK) e = text_of(job, "type", NULL, &type, why);
    if (e == ERR_OK && type.len > 0 && (slice_eq(type, SLICE("service")) || slice_eq(type, SLICE("SERVICE"))))
        e = why_set(why, ERR_UNSUPPORTED, "job %.*s is a service: submit it as a flow file, with `service`",
                    SLICE_FMT(ret->id));
    if (e == ERR_OK) e = script_of(c, job, path, ret, why);
    if (e == ERR_OK) e = text_of(job, "args", NULL, &ret->args, why);
    if (e == ERR_OK) e = text_of(job, "requirement", NULL, &ret->requirement, why);
    if (e == ERR_OK) e = text_of(job, "hitl_message", NULL, &ret->hitl_message, why);
    if (e == ERR_OK) e = number_of(job, "priority", &ret->priority, why);
    if (e == ERR_OK) e = number_of(job, "max_wait_seconds", &wait_s, why);
    if (e == ERR_OK) e = number_of(job, "delay", &delay, why);
    if (e == ERR_OK && (delay < 0 || delay > 100000000 || wait_s < 0 || wait_s > 100000000))
        e = why_set(why, ERR_INVALID, "`delay` and `max_wait_seconds` are seconds, from 0 to 100000000");
    ret->hitl_ms = wait_s * 1000;
    ret->delay_ms = delay * 1000;
    ret->affinity = affinity != NULL && affinity->kind == JSON_BOOL && affinity->truth;
    return e == ERR_OK ? parents_of(c, job, ret, why) : e;
}

enum err pipeline_read(struct tool_call *c, const struct json_node *jobs, struct slice path, struct pipeline *ret,
                       struct why *why) {
    if (jobs == NULL || jobs->kind != JSON_ARRAY || jobs->count == 0)
        return why_set(why, ERR_INVALID, "the jobs: expected a list with at least one");
    if (jobs->count > PIPELINE_STEPS_MAX)
        return why_set(why, ERR_LIMIT, "more than %u jobs: submit them in several pipelines", PIPELINE_STEPS_MAX);
    ret->steps = ARENA_ARRAY(c->arena, struct pipeline_step, jobs->count);
    enum err e = ERR_OK;
    for (const struct json_node *n = jobs->first; n != NULL && e == ERR_OK; n = n->next)
        e = step_read(c, n, path, &ret->steps[ret->step_count++], why);
    return e;
}

enum err pipeline_read_file(struct tool_call *c, const struct json_node *root, struct slice path, struct pipeline *ret,
                            struct why *why) {
    const struct json_node *project = json_tree_get(root, SLICE("project"));
    if (project != NULL && project->kind == JSON_BOOL && project->truth)
        return why_set(why, ERR_UNSUPPORTED,
                       "a project is a folder that is run as an archive: make a flow file with "
                       "`archive` of it, and submit that");
    return pipeline_read(c, json_tree_get(root, SLICE("jobs")), path, ret, why);
}

/* ---- names ---- */

static struct slice name_of(const void *ctx, uint32_t value) {
    return ((const struct pipeline *)ctx)->steps[value - 1].name;
}

static enum err step_link(struct tool_call *c, struct pipeline *p, uint32_t at, struct index *names, struct why *why) {
    struct pipeline_step *s = &p->steps[at];
    if (s->id.len == 0 || s->script.len == 0)
        return why_set(why, ERR_INVALID, "a job needs an id, and the text of a script");
    s->titan_id = find_id(c, s->id);
    s->name = find_name(c, s->id);
    if (index_get(names, s->name, name_of, p) != 0)
        return why_set(why, ERR_DUPLICATE_NAME, "two jobs have the id %.*s", SLICE_FMT(s->id));
    index_put(names, s->name, at + 1);
    if (s->hitl_message.len == 0) return ERR_OK;
    size_t prefix = sizeof FIND_PREFIX - 1;
    struct slice plain = slice_of(s->titan_id.ptr + prefix, s->titan_id.len - prefix);
    s->gate_id = find_id(c, tool_call_format(c, FIND_GATE "%.*s", SLICE_FMT(plain)));
    s->gate_name = find_name(c, s->gate_id);
    return ERR_OK;
}

/* Parents elsewhere are looked for one by one. */
static enum err parents_link(struct tool_call *c, struct pipeline *p, const struct index *names, struct why *why) {
    uint32_t elsewhere = 0;
    for (uint32_t i = 0; i < p->step_count; i++)
        for (uint32_t k = 0; k < p->steps[i].parent_count; k++) {
            struct pipeline_parent *parent = &p->steps[i].parents[k];
            uint32_t found = index_get(names, find_name(c, parent->id), name_of, p);
            parent->is_here = found != 0;
            parent->step = found != 0 ? found - 1 : 0;
            if (found == 0 && ++elsewhere > PIPELINE_ELSEWHERE_MAX)
                return why_set(why, ERR_LIMIT, "more than %u parents that are not among these jobs",
                               PIPELINE_ELSEWHERE_MAX);
        }
    return ERR_OK;
}

enum err pipeline_link(struct tool_call *c, struct pipeline *p, struct why *why) {
    struct index names;
    enum err e = ERR_OK;
    index_init(&names);
    for (uint32_t i = 0; i < p->step_count && e == ERR_OK; i++) e = step_link(c, p, i, &names, why);
    if (e == ERR_OK) e = parents_link(c, p, &names, why);
    index_fini(&names);
    return e;
}

/* ---- as a flow ---- */

struct pipeline_making {
    const struct pipeline *p;
    struct arena *arena;
    struct wire_job *jobs;
    struct wire_options *options;
    uint32_t count;
    enum err err;
    struct why *why;
    uint32_t *last; /* of each step: the job that what follows it needs: the gate, if there is one */
};

static struct tlv_list args_of(struct arena *a, struct slice text) {
    struct wire_arg *list = ARENA_ARRAY(a, struct wire_arg, ARGS_MAX);
    uint32_t count = 0;
    for (size_t at = 0; at < text.len && count < ARGS_MAX;) {
        while (at < text.len && text.ptr[at] == ' ') at++;
        size_t from = at;
        while (at < text.len && text.ptr[at] != ' ') at++;
        if (at > from) list[count++].text = slice_of(text.ptr + from, at - from);
    }
    return (struct tlv_list){list, count};
}

/* Empty when it does not fit, and then m->err says so. */
static struct slice body_of(struct pipeline_making *m, const struct wire_run *run) {
    struct buf out;
    struct slice body = {0};
    if (m->err == ERR_OK) m->err = tlv_check(&wire_run_desc, run, m->why);
    if (m->err != ERR_OK) return body;
    buf_init(&out, WIRE_BODY_MAX);
    tlv_encode(&wire_run_desc, run, &out);
    if (out.full)
        m->err = why_set(m->why, ERR_LIMIT, "a job is longer than %u bytes", WIRE_BODY_MAX);
    else
        body = arena_slice(m->arena, buf_slice(&out));
    buf_fini(&out);
    return body;
}

static struct tlv_list label_of(struct arena *a, struct slice titan_id) {
    struct wire_pair *label = ARENA_NEW(a, struct wire_pair);
    *label = (struct wire_pair){SLICE(FIND_ID_LABEL), titan_id};
    return (struct tlv_list){label, 1};
}

static void job_add(struct pipeline_making *m, struct slice name, struct slice body, struct tlv_u32s parents,
                    const struct wire_options *o) {
    m->options[m->count] = *o;
    m->jobs[m->count] = (struct wire_job){.name = name, .options = m->count, .parents = parents, .body = body};
    m->count++;
}

/* Parents come in their own order, so positions of gates are known only when all steps have one. */
static void parents_put(const struct pipeline_making *m, const struct pipeline_step *s, struct wire_job *job) {
    uint32_t *here = ARENA_ARRAY(m->arena, uint32_t, s->parent_count + 1), here_count = 0;
    struct wire_name *there = ARENA_ARRAY(m->arena, struct wire_name, s->parent_count + 1);
    uint32_t there_count = 0;
    for (uint32_t i = 0; i < s->parent_count; i++)
        if (s->parents[i].is_here)
            here[here_count++] = m->last[s->parents[i].step];
        else
            there[there_count++].name = s->parents[i].target;
    job->parents = (struct tlv_u32s){here, here_count};
    job->parent_names = (struct tlv_list){there, there_count};
}

static void script_add(struct pipeline_making *m, const struct pipeline_step *s) {
    struct wire_pair *env = ARENA_NEW(m->arena, struct wire_pair);
    *env = (struct wire_pair){SLICE("PYTHONUNBUFFERED"), SLICE("1")};
    struct wire_run run = {.argv = args_of(m->arena, s->args),
                           .script = s->script_hash.len > 0 ? (struct slice){0} : s->script,
                           .script_hash = s->script_hash,
                           .script_name = s->file,
                           .env = {env, 1},
                           .labels = label_of(m->arena, s->titan_id)};
    struct wire_options o = {.kind = JOB_SCRIPT,
                             .priority = s->priority - 1,
                             .delay_ms = s->delay_ms,
                             .affinity = s->affinity,
                             .backoff_base_ms = 1, /* Titan tries again at once */
                             .backoff_cap_ms = 1,
                             .backoff_jitter_ms = 1};
    if (s->requirement.len > 0 && !slice_eq(s->requirement, SLICE(GENERAL))) {
        struct wire_name *name = ARENA_NEW(m->arena, struct wire_name);
        name->name = s->requirement;
        o.demand.capabilities = (struct tlv_list){name, 1};
    }
    job_add(m, s->name, body_of(m, &run), (struct tlv_u32s){0}, &o);
}

static void gate_add(struct pipeline_making *m, const struct pipeline_step *s) {
    struct wire_run run = {.message = s->hitl_message, .labels = label_of(m->arena, s->gate_id)};
    struct wire_options o = {.kind = JOB_GATE, .approval_ms = s->hitl_ms};
    uint32_t *parent = ARENA_NEW(m->arena, uint32_t);
    *parent = m->count - 1;
    job_add(m, s->gate_name, body_of(m, &run), (struct tlv_u32s){parent, 1}, &o);
}

enum err pipeline_flow(const struct pipeline *p, struct arena *arena, struct wire_flow *ret, struct why *why) {
    struct pipeline_making m = {.p = p, .arena = arena, .why = why};
    m.jobs = ARENA_ARRAY(arena, struct wire_job, 2 * (size_t)p->step_count);
    m.options = ARENA_ARRAY(arena, struct wire_options, 2 * (size_t)p->step_count);
    m.last = ARENA_ARRAY(arena, uint32_t, p->step_count);
    uint32_t *own = ARENA_ARRAY(arena, uint32_t, p->step_count);
    for (uint32_t i = 0; i < p->step_count; i++) {
        own[i] = m.count;
        script_add(&m, &p->steps[i]);
        if (p->steps[i].hitl_message.len > 0) gate_add(&m, &p->steps[i]);
        m.last[i] = m.count - 1;
    }
    for (uint32_t i = 0; i < p->step_count; i++) parents_put(&m, &p->steps[i], &m.jobs[own[i]]);
    struct wire_pair *labels = ARENA_ARRAY(arena, struct wire_pair, 2);
    labels[0] = (struct wire_pair){SLICE("dialect"), SLICE("titan")};
    labels[1] = (struct wire_pair){SLICE("agent_run_id"), p->run_id};
    *ret = (struct wire_flow){.name = p->name,
                              .labels = {labels, p->run_id.len > 0 ? 2 : 1},
                              .part = {.options = {m.options, m.count}, .jobs = {m.jobs, m.count}}};
    return m.err == ERR_OK ? tlv_check(&wire_flow_desc, ret, why) : m.err;
}
