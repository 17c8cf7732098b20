/* spec_impl.h: what the files of spec/ share. */
#ifndef REEVE_SPEC_IMPL_H
#define REEVE_SPEC_IMPL_H

#include "limit.h"
#include "map.h"
#include "options.h"
#include "spec_keys.h"
#include "template.h"
#include "vec.h"

struct spec {
    const struct spec_input *in;
    struct arena *arena;
    struct why *why;
    struct spec_param *params;
    uint32_t param_count;
    struct slice params_json; /* those that are known now, an object */
    struct slice late_json;   /* of those that a slot decides, their templates; empty = there are none */
    struct slice rehearsed_json; /* all of them, for some slot */
    struct slice *late;       /* their names */
    uint32_t late_count;
    struct limits limits;     /* the standard ones: of evaluating, for who only reads */
    int64_t eval_steps_left;  /* of all templates of the file together: a server reads files, too */
    struct spec_flow flow;
    struct spec_job defaults;
    struct spec_job *jobs;
    uint32_t job_count;
    struct index names; /* of jobs: position + 1 */
};

struct spec_scalar { /* a plain value after its parameters were filled in */
    uint8_t kind;    /* enum json_kind: JSON_TEXT, JSON_NUMBER, JSON_BOOL */
    bool truth;
    struct slice text;
};

/* Sets `file:line:column: …` and returns `e`. */
enum err spec_refuse(struct spec *s, uint32_t at, enum err e, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* spec_read.c: objects by their tables, plain values by their types. */
CHECKED enum err spec_object_read(struct spec *s, const struct spec_object *o, const struct json_node *node,
                                  unsigned where, void *ret);
CHECKED enum err spec_scalar(struct spec *s, const struct json_node *node, const char *wanted, struct spec_scalar *ret);
CHECKED enum err spec_text(struct spec *s, const struct json_node *node, const char *wanted, struct slice *ret);
CHECKED enum err spec_names(struct spec *s, const struct json_node *node, struct tlv_list *ret);
CHECKED enum err spec_args(struct spec *s, const struct json_node *node, bool of_script, struct tlv_list *ret);
void *spec_alloc(struct spec *s, size_t bytes); /* NULL: the arena is full */
enum err spec_full(struct spec *s);             /* says so */

/* spec_params.c */
CHECKED enum err spec_params_read(struct spec *s);
CHECKED enum err spec_fill(struct spec *s, const struct json_node *node, struct spec_scalar *ret);
CHECKED enum err spec_param_check(struct spec *s, uint32_t at, struct slice name); /* there is one of that name */

/* spec_param_type.c: what a parameter may be. */
struct spec_param_value { /* as it is kept in struct spec_param */
    uint8_t kind;
    bool truth;
    struct slice text;
};
/* The word of its type, its bounds and its pattern; its default is known as it was written. */
CHECKED enum err spec_param_type_read(struct spec *s, struct spec_param *p);
/* A value in the form that its type gives it; false: it is none of that type, and *ret is as it was. */
bool spec_param_value(struct spec *s, const struct spec_param *p, const struct spec_given *from,
                      struct spec_param_value *ret);
/* Choices, bounds and pattern. ERR_INVALID with what was expected. */
CHECKED enum err spec_param_fits(struct spec *s, const struct spec_param *p, struct slice value);
enum err spec_param_unfit(struct spec *s, const struct spec_param *p, struct slice value); /* says so */
void spec_param_wanted(const struct spec_param *p, char *ret, size_t size); /* "an integer from 1 to 9" */
struct slice spec_plain_text(const struct json_node *n);                    /* of a plain value */
bool spec_is_plain(const struct json_node *n);

/* spec_template.c */
CHECKED enum err spec_params_json(struct spec *s);
/* Whether a default is a template of the slot; refuses one that uses anything else beside it. */
CHECKED enum err spec_default_check(struct spec *s, const struct json_node *standard, bool *ret_is_late);
/* A text in which `${…}` may stand: parameters are filled in, the rest is read. */
CHECKED enum err spec_template(struct spec *s, const struct json_node *node, const char *wanted,
                               enum template_into into, struct slice *ret);
CHECKED enum err spec_script_text(struct spec *s, const struct json_node *node, struct slice *ret);
CHECKED enum err spec_escape(struct spec *s, struct slice *text); /* of a file: nothing in it is a template */
CHECKED enum err spec_expression(struct spec *s, const struct json_node *node, const char *name, struct slice *ret);
/* What is asked before it because of its templates; takes escapes away when nothing is left to fill in. */
CHECKED enum err spec_job_templates(struct spec *s, struct spec_job *job, bool is_undo);
/* The jobs that its expressions and templates name are among its parents. */
CHECKED enum err spec_uses_check(struct spec *s, const struct spec_job *job, const uint32_t *parents,
                                 uint32_t parent_count, const struct tlv_list *foreign);
/* Whether it is a job of the flow that the file adds to, among the needs that are not in the file. */
bool spec_is_there(const struct spec *s, const struct tlv_list *foreign, struct slice name);

/* spec_job.c: one job, as far as it does not concern others. */
CHECKED enum err spec_job_read(struct spec *s, const struct json_node *node, unsigned where, struct spec_job *job);
bool spec_is_pattern(struct slice path); /* of an artifact: it may fit several files */
CHECKED enum err spec_job_finish(struct spec *s, struct spec_job *job, bool is_undo);
CHECKED enum err spec_need_capability(struct spec *s, struct spec_job *job, struct slice word); /* of its worker */

/* spec_foreach.c */
CHECKED enum err spec_foreach_read(struct spec *s, struct spec_job *job);

/* spec_handler.c */
CHECKED enum err spec_handler_read(struct spec *s, struct spec_job *job);

/* spec_http.c: a request; and what a job that makes one keeps, and never does again. */
CHECKED enum err spec_http_read(struct spec *s, const struct json_node *node, struct tlv_list *ret);
CHECKED enum err spec_http_finish(struct spec *s, struct spec_job *job);

/* spec_external.c */
CHECKED enum err spec_external_read(struct spec *s, struct spec_job *job);

/* spec_sandbox.c: of a job whose kind is known. */
CHECKED enum err spec_sandbox_read(struct spec *s, struct spec_job *job);

/* spec_service.c: what a job that deploys a service says beside its program. */
CHECKED enum err spec_service_check(struct spec *s, struct spec_job *job);
CHECKED enum err spec_service_reach(struct spec *s, const struct spec_job *job); /* its sandbox is known */

/* spec_schedule.c: but for its name, left as it is when the flow has none. */
CHECKED enum err spec_schedule_read(struct spec *s, struct spec_schedule *ret);

/* spec_graph.c: names, needs, phases, order; fills the jobs of the flow. */
uint32_t spec_job_find(struct spec *s, struct slice name); /* position + 1; 0 = there is none */
enum err spec_job_unknown(struct spec *s, uint32_t at, struct slice name);
CHECKED enum err spec_graph(struct spec *s, struct wire_jobs *ret);

#endif
