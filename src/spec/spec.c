/* spec.c: see spec.h. */
#include "spec.h"

#include "replicas.h"
#include "spec_impl.h"

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

static enum err read_jobs(struct spec *s) {
    const struct json_node *node = s->flow.jobs;
    if (node == NULL) return spec_refuse(s, s->in->source.root->at, ERR_INVALID, "a flow needs its `jobs`");
    if (node->kind != JSON_OBJECT)
        return spec_refuse(s, node->at, ERR_INVALID, "expected jobs by their names, found %s",
                           json_kind_word(node->kind));
    if (s->in->jobs_max != 0 && node->count > s->in->jobs_max)
        return spec_refuse(s, node->at, ERR_LIMIT, "more than %u jobs: send them in parts", s->in->jobs_max);
    if (node->count == 0) return spec_refuse(s, node->at, ERR_INVALID, "a flow needs at least one job");
    s->jobs = spec_alloc(s, sizeof *s->jobs * node->count);
    if (s->jobs == NULL) return spec_full(s);
    index_reserve(&s->names, node->count);
    for (const struct json_node *n = node->first; n != NULL; n = n->next) {
        struct spec_job *job = &s->jobs[s->job_count];
        enum err e = check_name(s, n);
        if (e != ERR_OK) return e;
        *job = s->defaults;
        job->name = n->key;
        job->at = n->key_at;
        e = spec_job_read(s, n, IN_JOB, job);
        if (e == ERR_OK) e = spec_job_finish(s, job, false);
        if (e != ERR_OK) return e;
        index_put(&s->names, job->name, ++s->job_count);
    }
    return ERR_OK;
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
                             .labels = s->flow.labels};
    e = spec_graph(s, &flow.part);
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
