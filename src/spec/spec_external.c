/* spec_external.c: a job that waits for something outside: what begins it, what asks how it is, and for how long. */
#include "spec_impl.h"

/* A command or a request; with what only a poll has. */
static enum err read_step(struct spec *s, const struct json_node *node, struct spec_step *x) {
    *x = (struct spec_step){.given = 1, .run = node};
    if (node->kind == JSON_OBJECT) {
        *x = (struct spec_step){0};
        enum err e = spec_object_read(s, &spec_step_keys, node, 0, x);
        if (e != ERR_OK) return e;
    }
    if (x->run == NULL && x->http == NULL)
        return spec_refuse(s, node->at, ERR_INVALID, "expected a command, or an object with `run` or `http`");
    if (x->run != NULL && x->http != NULL) return spec_refuse(s, node->at, ERR_INVALID, "`run` or `http`, not both");
    if (x->http != NULL) return spec_http_read(s, x->http, &x->step.http);
    if (x->run->kind != JSON_ARRAY) return spec_template(s, x->run, "a command", INTO_PROGRAM, &x->step.shell);
    if (x->run->count == 0)
        return spec_refuse(s, x->run->at, ERR_INVALID, "expected a program and its arguments, found an empty list");
    return spec_args(s, x->run, false, &x->step.argv);
}

static enum err keep_step(struct spec *s, const struct spec_step *x, struct tlv_list *ret) {
    struct wire_step *step = spec_alloc(s, sizeof *step);
    if (step == NULL) return spec_full(s);
    *step = x->step;
    *ret = (struct tlv_list){step, 1};
    return ERR_OK;
}

static enum err read_submit(struct spec *s, const struct json_node *node, struct spec_job *job) {
    struct spec_step x;
    if (node == NULL) return ERR_OK;
    enum err e = read_step(s, node, &x);
    if (e == ERR_OK && (x.every_ms != 0 || x.up_to_ms != 0 || x.until != NULL || x.failed != NULL))
        e = spec_refuse(s, node->at, ERR_INVALID, "`every`, `up_to`, `until` and `failed` belong to a `poll`");
    return e == ERR_OK ? keep_step(s, &x, &job->r.submit) : e;
}

static enum err read_poll(struct spec *s, const struct json_node *node, struct spec_job *job) {
    struct spec_step x;
    if (node == NULL) return ERR_OK;
    enum err e = read_step(s, node, &x);
    if (e == ERR_OK && x.every_ms == 0)
        e = spec_refuse(s, node->at, ERR_INVALID, "a poll needs its interval: `every: 30s`");
    if (e == ERR_OK && x.http != NULL && x.until == NULL)
        e = spec_refuse(s, node->at, ERR_INVALID, "a poll by `http` needs `until`: the condition that ends it");
    if (e == ERR_OK && x.until != NULL) e = spec_expression(s, x.until, "until", &x.step.until);
    if (e == ERR_OK && x.failed != NULL) e = spec_expression(s, x.failed, "failed", &x.step.failed);
    if (e == ERR_OK) e = keep_step(s, &x, &job->r.poll);
    job->o.poll_ms = x.every_ms;
    job->o.poll_cap_ms = x.up_to_ms;
    return e;
}

enum err spec_external_read(struct spec *s, struct spec_job *job) {
    struct spec_external x = {0};
    const struct json_node *node = job->external;
    if (node->kind != JSON_OBJECT) return spec_template(s, node, "a text, or an object", INTO_TEXT, &job->r.message);
    enum err e = spec_object_read(s, &spec_external_keys, node, 0, &x);
    if (e != ERR_OK) return e;
    job->r.message = x.message;
    if (x.timeout_ms != 0) job->o.approval_ms = x.timeout_ms;
    job->o.calls = x.submit != NULL || x.poll != NULL;
    e = read_submit(s, x.submit, job);
    return e == ERR_OK ? read_poll(s, x.poll, job) : e;
}
