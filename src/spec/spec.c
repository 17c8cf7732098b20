/* spec.c: see spec.h. */
#include "spec.h"

#include "replicas.h"
#include "spec_impl.h"
#include "spec_value.h"

#define EVALS_OF_A_FILE 10 /* what its templates may take together, in evaluations: a file has many jobs */

static enum err check_name(struct spec *s, const struct json_node *n) {
    if (n->key.len == 0) return spec_refuse(s, n->key_at, ERR_INVALID, "a job needs a name");
    if (n->key.len > WIRE_NAME_MAX)
        return spec_refuse(s, n->key_at, ERR_LIMIT, "the name of a job is longer than %u bytes", WIRE_NAME_MAX);
    for (size_t i = 0; i < n->key.len; i++) {
        uint8_t c = n->key.ptr[i];
        if (c < 0x20 || c == 0x7f || c == '/' || c == '#' || c == '~' || c == '[')
            return spec_refuse(s, n->key_at, ERR_INVALID,
                               "the name of a job cannot contain control characters or / # ~ [");
    }
    return ERR_OK;
}

/* What makes no sense behind the main jobs; of the defaults it is left out, with the place of a job it is refused. */
static void leave_out(struct spec_job *job) {
    job->cache = job->phase = job->foreach = job->compensate = NULL;
    job->o.deadline_ms = 0;
}

static enum err check_stage(struct spec *s, const struct spec_job *job) {
    const struct {
        bool is_there;
        const char *key, *why;
    } keys[] = {
        {job->cache != NULL, "cache", "it has to run each time"},
        {job->phase != NULL, "phase", "phases are of `jobs`"},
        {job->foreach != NULL, "foreach", "write one job per item"},
        {job->compensate != NULL, "compensate", "nothing follows that could call for it"},
        {job->o.deadline_ms != 0, "deadline", "it would pass while `jobs` run; use `timeout`"},
        {job->o.kind == JOB_SERVICE, "service", "deploy it in `jobs`"},
    };
    for (size_t i = 0; job->o.stage != FLOW_STAGE_MAIN && i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].is_there)
            return spec_refuse(s, job->at, ERR_INVALID, "a job of `%s` cannot have `%s`: %s",
                               flow_stage_words[job->o.stage], keys[i].key, keys[i].why);
    return ERR_OK;
}

static enum err read_job(struct spec *s, const struct json_node *n, enum flow_stage stage) {
    struct spec_job *job = &s->jobs[s->job_count];
    enum err e = check_name(s, n);
    if (e != ERR_OK) return e;
    *job = s->defaults;
    job->name = n->key;
    job->at = n->key_at;
    job->o.stage = (uint8_t)stage;
    if (stage != FLOW_STAGE_MAIN) leave_out(job);
    if (spec_job_find(s, job->name) != 0)
        return spec_refuse(s, n->key_at, ERR_DUPLICATE_NAME, "there are two jobs `%.*s`", SLICE_FMT(job->name));
    e = spec_job_read(s, n, IN_JOB, job);
    if (e == ERR_OK) e = spec_job_finish(s, job, false);
    if (e == ERR_OK) e = check_stage(s, job);
    if (e == ERR_OK) index_put(&s->names, job->name, ++s->job_count);
    return e;
}

static enum err check_jobs(struct spec *s, const struct json_node *node) {
    if (node->kind != JSON_OBJECT)
        return spec_refuse(s, node->at, ERR_INVALID, "expected jobs by their names, found %s",
                           json_kind_word(node->kind));
    return node->count > 0 ? ERR_OK : spec_refuse(s, node->at, ERR_INVALID, "a flow needs at least one job");
}

static enum err read_jobs(struct spec *s) {
    const struct json_node *const nodes[JOB_STAGE_COUNT] = {[FLOW_STAGE_MAIN] = s->flow.jobs,
                                                            [FLOW_STAGE_SUCCESS] = s->flow.on_success,
                                                            [FLOW_STAGE_FAILURE] = s->flow.on_failure,
                                                            [FLOW_STAGE_FINALLY] = s->flow.finally};
    uint32_t count = 0;
    bool may_lack = s->in->grows && (s->flow.on_success || s->flow.on_failure || s->flow.finally);
    if (nodes[0] == NULL && !may_lack)
        return spec_refuse(s, s->in->source.root->at, ERR_INVALID, "a flow needs its `jobs`");
    for (uint32_t i = 0; i < JOB_STAGE_COUNT; i++) {
        enum err e = nodes[i] != NULL ? check_jobs(s, nodes[i]) : ERR_OK;
        if (e != ERR_OK) return e;
        count += nodes[i] != NULL ? nodes[i]->count : 0;
        if (s->in->jobs_max != 0 && count > s->in->jobs_max)
            return spec_refuse(s, nodes[i]->at, ERR_LIMIT, "more than %u jobs: send them in parts", s->in->jobs_max);
    }
    s->jobs = spec_alloc(s, sizeof *s->jobs * count);
    if (s->jobs == NULL) return spec_full(s);
    index_reserve(&s->names, count);
    for (uint32_t i = 0; i < JOB_STAGE_COUNT; i++) {
        for (const struct json_node *n = nodes[i] != NULL ? nodes[i]->first : NULL; n != NULL; n = n->next) {
            enum err e = read_job(s, n, (enum flow_stage)i);
            if (e != ERR_OK) return e;
        }
    }
    return ERR_OK;
}

/* `deadline`: a moment, or a duration that counts from the submit or from the slot. */
static enum err read_deadline(struct spec *s, struct wire_flow *flow) {
    const struct json_node *node = s->flow.deadline;
    struct spec_scalar v;
    if (node == NULL || node->kind == JSON_NULL) return ERR_OK;
    enum err e = spec_scalar(s, node, "a time or a duration", &v);
    if (e != ERR_OK || spec_time(v.text, &flow->deadline_ms)) return e;
    if (spec_duration(v.text, &flow->late_after_ms) && flow->late_after_ms > 0) return ERR_OK;
    return spec_refuse(s, node->at, ERR_INVALID,
                       "expected a time like 2026-03-01T08:00:00Z, or a duration like 2h, found `%.*s`",
                       SLICE_FMT(v.text));
}

/* Options were looked at with their job. */
static enum err check_flow(struct spec *s, struct wire_flow flow) {
    struct why inner = {{0}};
    flow.part.options = (struct tlv_list){0};
    enum err e = tlv_check(&wire_flow_desc, &flow, &inner);
    return e == ERR_OK ? ERR_OK : spec_refuse(s, s->in->source.root->at, e, "%s", inner.text);
}

static enum err read_flow(struct spec *s, struct wire_flow *ret, struct spec_schedule *ret_schedule) {
    const struct json_node *root = s->in->source.root;
    /* Parameters first: every other value may name one. */
    s->flow.params = json_tree_get(root, SLICE("params"));
    if (s->flow.params != NULL && s->flow.params->kind == JSON_NULL) s->flow.params = NULL;
    enum err e = spec_params_read(s);
    if (e == ERR_OK) e = spec_object_read(s, &spec_flow_keys, root, 0, &s->flow);
    if (e == ERR_OK && s->flow.defaults != NULL) e = spec_job_read(s, s->flow.defaults, IN_DEFAULTS, &s->defaults);
    if (e == ERR_OK) e = spec_schedule_read(s, ret_schedule);
    if (e == ERR_OK) e = read_jobs(s);
    if (e != ERR_OK) return e;
    struct wire_flow flow = {.name = s->flow.name,
                             .key = s->flow.key,
                             .key_ms = s->flow.key_ms,
                             .trace = s->flow.trace,
                             .compensate_on = s->flow.compensate_on,
                             .timeout_ms = s->flow.timeout_ms,
                             .labels = s->flow.labels};
    e = read_deadline(s, &flow);
    if (e == ERR_OK) e = spec_graph(s, &flow.part);
    if (e == ERR_OK && !s->in->keeps_replicas) {
        struct why inner = {{0}};
        e = replicas_expand(s->arena, &flow.part, &inner);
        if (e != ERR_OK) e = spec_refuse(s, s->in->source.root->at, e, "%s", inner.text);
    }
    if (e == ERR_OK) e = check_flow(s, flow);
    if (e == ERR_OK) *ret = flow;
    return e;
}

enum err spec_read_scheduled(const struct spec_input *in, struct arena *arena, struct wire_flow *ret_flow,
                             struct spec_schedule *ret, struct why *why) {
    struct spec *s = arena_try(arena, sizeof *s);
    if (s == NULL) return why_set(why, ERR_LIMIT, "%s: no memory for it", in->source.name);
    s->in = in;
    s->arena = arena;
    s->why = why;
    limits_default(&s->limits);
    s->eval_steps_left = s->limits.eval_steps_max * EVALS_OF_A_FILE;
    index_init(&s->names);
    struct spec_schedule schedule = {0};
    enum err e = read_flow(s, ret_flow, &schedule);
    index_fini(&s->names);
    if (e == ERR_OK) *ret = schedule;
    return e;
}

enum err spec_read(const struct spec_input *in, struct arena *arena, struct wire_flow *ret, struct why *why) {
    struct spec_schedule unused;
    return spec_read_scheduled(in, arena, ret, &unused, why);
}
