/* spec_job.c: one job of a flow file: what it runs, what it is given, what undoes it. */
#include <stdio.h>

#include "panic.h"
#include "spec_impl.h"
#include "spec_value.h"

/* ---- files ---- */

static enum err file_load(struct spec *s, const struct json_node *node, struct slice path, struct spec_file *ret) {
    struct why inner = {{0}};
    const struct spec_world *w = &s->in->world;
    if (w->file == NULL)
        return spec_refuse(s, node->at, ERR_UNSUPPORTED, "files cannot be named here: include the text itself");
    enum err e = w->file(w->ctx, path, ret, &inner);
    return e == ERR_OK ? ERR_OK : spec_refuse(s, node->at, e, "%s", inner.text);
}

static enum err read_script(struct spec *s, struct spec_job *job) {
    const struct json_node *node = job->script;
    struct spec_script x = {0};
    struct spec_file file = {0};
    enum err e = ERR_OK;
    if (node->kind == JSON_OBJECT) {
        e = spec_object_read(s, &spec_script_keys, node, 0, &x);
    } else {
        e = spec_text(s, node, "the path of a script, or an object with `file` or `text`", &x.file);
        x.given = 1;
    }
    if (e != ERR_OK) return e;
    if (x.given != 1 && x.given != 2)
        return spec_refuse(s, node->at, ERR_INVALID, "expected exactly one of `file` and `text`");
    if (x.given == 1)
        e = file_load(s, node, x.file, &file);
    else
        e = spec_script_text(s, x.text, &file.bytes);
    if (e == ERR_OK && x.args != NULL) e = spec_args(s, x.args, true, &job->r.argv);
    job->r.script = file.bytes;
    job->r.script_hash = file.hash;
    job->r.script_name = x.name.len > 0 ? x.name : slice_base_name(x.file);
    return e;
}

static enum err read_archive(struct spec *s, struct spec_job *job) {
    const struct json_node *node = job->archive;
    struct spec_archive x = {0};
    struct spec_file file = {0};
    enum err e = node->kind == JSON_OBJECT
                     ? spec_object_read(s, &spec_archive_keys, node, 0, &x)
                     : spec_text(s, node, "the path of an archive, or an object with `file`", &x.file);
    if (e != ERR_OK) return e;
    if (x.file.len == 0) return spec_refuse(s, node->at, ERR_INVALID, "an archive needs its `file`");
    if (job->r.workdir.len > 0)
        return spec_refuse(s, node->at, ERR_INVALID,
                           "an archive runs where it is unpacked: use `dir` instead of `workdir`");
    e = file_load(s, node, x.file, &file);
    if (e == ERR_OK && x.args != NULL) e = spec_args(s, x.args, true, &job->r.argv);
    job->r.script = file.bytes;
    job->r.script_hash = file.hash;
    job->r.script_name = slice_base_name(x.file);
    job->r.entry = x.entry;
    job->r.shared = false; /* it starts where it is unpacked */
    job->r.dir = x.dir;
    job->r.strip = x.strip;
    return e;
}

static enum err read_stdin(struct spec *s, struct spec_job *job) {
    const struct json_node *node = job->stdin_node;
    struct spec_stdin x = {0};
    struct spec_file file = {0};
    if (node == NULL) return ERR_OK;
    if (node->kind != JSON_OBJECT)
        return spec_template(s, node, "a text, or an object with `file`", INTO_TEXT, &job->r.stdin_text);
    enum err e = spec_object_read(s, &spec_stdin_keys, node, 0, &x);
    if (e != ERR_OK) return e;
    if (x.given != 1 && x.given != 2)
        return spec_refuse(s, node->at, ERR_INVALID, "expected exactly one of `text` and `file`");
    if (x.given == 2)
        e = file_load(s, node, x.file, &file);
    else
        file.bytes = x.text;
    if (e == ERR_OK && x.given == 2) e = spec_escape(s, &file.bytes);
    job->r.stdin_text = file.bytes;
    job->r.stdin_hash = file.hash;
    return e;
}

static enum err read_artifacts(struct spec *s, struct spec_job *job) {
    const struct json_node *node = job->artifacts;
    uint32_t count = 0;
    if (node == NULL) return ERR_OK;
    if (node->kind != JSON_ARRAY)
        return spec_refuse(s, node->at, ERR_INVALID, "expected a list of paths, found %s", json_kind_word(node->kind));
    struct wire_artifact *list = spec_alloc(s, sizeof *list * node->count);
    if (list == NULL) return spec_full(s);
    for (const struct json_node *n = node->first; n != NULL; n = n->next) {
        struct spec_artifact x = {0};
        enum err e = n->kind == JSON_OBJECT
                         ? spec_object_read(s, &spec_artifact_keys, n, 0, &x)
                         : spec_template(s, n, "a path, or an object with `path`", INTO_TEXT, &x.kept.path);
        if (e != ERR_OK) return e;
        if (x.kept.path.len == 0) return spec_refuse(s, n->at, ERR_INVALID, "an artifact needs its `path`");
        if (x.kept.name.len == 0 && !spec_is_pattern(x.kept.path)) x.kept.name = x.kept.path; /* else each its own */
        list[count++] = x.kept;
    }
    job->r.artifacts = (struct tlv_list){list, count};
    return ERR_OK;
}

bool spec_is_pattern(struct slice path) {
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] == '*' || path.ptr[i] == '?') return true;
    return false;
}

/* PATH: JOB/NAME. Whether it needs that job, and whether that one keeps such a file, is for spec_graph.c. */
static enum err read_input(struct spec *s, const struct json_node *n, struct wire_take *ret) {
    struct slice from = {0};
    enum err e = spec_text(s, n, "an artifact of a job: JOB/NAME", &from);
    if (e != ERR_OK) return e;
    const uint8_t *slash = from.len > 0 ? memchr(from.ptr, '/', from.len) : NULL;
    size_t job_len = slash != NULL ? (size_t)(slash - from.ptr) : 0;
    if (job_len == 0 || job_len + 1 == from.len)
        return spec_refuse(s, n->at, ERR_INVALID, "expected an artifact of a job, like `extract/out.csv`, found `%.*s`",
                           SLICE_FMT(from));
    *ret = (struct wire_take){
        .path = n->key, .job = slice_of(from.ptr, job_len), .name = slice_of(slash + 1, from.len - job_len - 1)};
    return ERR_OK;
}

static enum err read_inputs(struct spec *s, struct spec_job *job) {
    const struct json_node *node = job->inputs;
    uint32_t count = 0;
    if (node == NULL) return ERR_OK;
    if (node->kind != JSON_OBJECT)
        return spec_refuse(s, node->at, ERR_INVALID, "expected an object like `{data.csv: extract/out.csv}`, found %s",
                           json_kind_word(node->kind));
    const struct job_kind_row *kind = job_kind_of(job->o.kind);
    if (kind->runs != JOB_RUNS_PROGRAM || kind->ends != JOB_ENDS_ON_WORKER)
        return spec_refuse(s, node->at, ERR_INVALID,
                           "only a job with `run`, `script` or `archive` has a directory for inputs");
    if (job->cache != NULL)
        return spec_refuse(s, node->at, ERR_INVALID,
                           "`inputs` or `cache`, not both: the content of inputs is not known at submit");
    struct wire_take *list = spec_alloc(s, sizeof *list * node->count);
    if (list == NULL) return spec_full(s);
    for (const struct json_node *n = node->first; n != NULL; n = n->next) {
        enum err e = read_input(s, n, &list[count++]);
        if (e != ERR_OK) return e;
    }
    job->r.inputs = (struct tlv_list){list, count};
    return ERR_OK;
}

/* ---- what it is ---- */

static enum err read_run(struct spec *s, struct spec_job *job) {
    if (job->run->kind == JSON_ARRAY && job->run->count == 0)
        return spec_refuse(s, job->run->at, ERR_INVALID, "expected a program and its arguments, found an empty list");
    return job->run->kind == JSON_ARRAY ? spec_args(s, job->run, false, &job->r.argv)
                                        : spec_template(s, job->run, "a command", true, &job->r.shell);
}

static enum err read_http(struct spec *s, struct spec_job *job) {
    return spec_http_read(s, job->http, &job->r.http);
}

static enum err read_service(struct spec *s, struct spec_job *job) {
    enum err e = spec_service_check(s, job);
    if (e != ERR_OK) return e;
    job->r.is_archive = job->archive != NULL;
    return job->run != NULL ? read_run(s, job) : job->r.is_archive ? read_archive(s, job) : read_script(s, job);
}

static enum err read_noop(struct spec *s, struct spec_job *job) {
    return job->noop ? ERR_OK : spec_refuse(s, job->at, ERR_INVALID, "`noop` can only be true");
}

static enum err read_fail(struct spec *s, struct spec_job *job) {
    if (job->r.exit_code >= 1 && job->r.exit_code <= 255) return ERR_OK;
    return spec_refuse(s, job->at, ERR_INVALID, "`fail` is an exit code between 1 and 255");
}

static const struct {
    uint8_t kind; /* enum job_kind */
    enum err (*read)(struct spec *s, struct spec_job *job);
} kinds[SPEC_KIND_COUNT] = {
#define X(bit, kind, read) {kind, read},
    SPEC_KIND_TABLE(X)
#undef X
};

static const struct spec_field *kind_key(uint32_t bit) {
    const struct spec_field *f = spec_job_keys.fields;
    while (f < spec_job_keys.fields + spec_job_keys.count && f->given != bit) f++;
    ENSURE(f < spec_job_keys.fields + spec_job_keys.count); /* else it is a kind without a key */
    return f;
}

/* Names all keys that may stand there. */
static enum err refuse_without_kind(struct spec *s, const struct spec_job *job, const char *of, unsigned where) {
    char names[256] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < SPEC_KIND_COUNT; i++) {
        const struct spec_field *f = kind_key(1u << i);
        if (!(f->where & where)) continue;
        int n = snprintf(names + len, sizeof names - len, "%s%s", len > 0 ? ", " : "", f->key);
        ENSURE(n > 0 && len + (size_t)n < sizeof names);
        len += (size_t)n;
    }
    return spec_refuse(s, job->at, ERR_INVALID, "%s needs one of %s", of, names);
}

static enum err read_kind(struct spec *s, struct spec_job *job, bool is_undo) {
    const char *of = is_undo ? "a compensation" : "a job";
    uint32_t given = job->given & GIVEN_KINDS, kind = 0;
    if (given == 0) return refuse_without_kind(s, job, of, is_undo ? IN_UNDO : IN_JOB);
    if (given & (given - 1))
        return spec_refuse(s, job->at, ERR_INVALID, "%s has exactly one kind: found `%s` and `%s`", of,
                           kind_key(given & -given)->key, kind_key(given & (given - 1) & -(given & (given - 1)))->key);
    if ((job->given & GIVEN_PAYLOAD) && given != GIVEN_HANDLER)
        return spec_refuse(s, job->at, ERR_INVALID, "`payload` needs a `handler`");
    while (given != 1u << kind) kind++;
    job->o.kind = kinds[kind].kind;
    return kinds[kind].read != NULL ? kinds[kind].read(s, job) : ERR_OK;
}

/* `on_upstream: run` says when a job starts, as `trigger` does: one of them in the job takes the place of the other in
 * the defaults. */
static enum err settle_trigger(struct spec *s, const struct json_node *node, struct spec_job *job) {
    if (job->o.on_upstream != UPSTREAM_RUN || job->o.trigger == TRIGGER_ALL_DONE) return ERR_OK;
    bool says_when = json_tree_get(node, SLICE("trigger")) != NULL;
    if (says_when && json_tree_get(node, SLICE("on_upstream")) != NULL)
        return spec_refuse(s, node->at, ERR_INVALID,
                           "`on_upstream: run` means `trigger: all_done`; beside `trigger: %s` write `fail` or `skip`",
                           trigger_words[job->o.trigger]);
    if (says_when)
        job->o.on_upstream = UPSTREAM_FAIL;
    else
        job->o.trigger = TRIGGER_ALL_SUCCEEDED;
    return ERR_OK;
}

enum err spec_job_read(struct spec *s, const struct json_node *node, unsigned where, struct spec_job *job) {
    if (node->kind == JSON_TEXT && where != IN_DEFAULTS) {
        job->run = node;
        job->given |= GIVEN_RUN;
        return ERR_OK;
    }
    enum err e = spec_object_read(s, &spec_job_keys, node, where, job);
    if (e != ERR_OK) return e;
    /* A pool in the job takes the place of a topic in the defaults, and the other way round. */
    bool both = (job->given & GIVEN_POOL) && (job->given & GIVEN_TOPIC);
    if (both && json_tree_get(node, SLICE("pool")) != NULL && json_tree_get(node, SLICE("topic")) != NULL)
        return spec_refuse(s, node->at, ERR_INVALID, "`pool` or `topic`, not both");
    if (both && json_tree_get(node, SLICE("pool")) != NULL) job->o.demand.topic = (struct slice){0};
    if (both && json_tree_get(node, SLICE("topic")) != NULL) job->o.demand.pool = (struct slice){0};
    return settle_trigger(s, node, job);
}

#define LIMIT_MEMORY_MIN (1u << 20) /* below it no program starts */
#define LIMIT_CPU_MIN 10u           /* thousandths: the kernel keeps no finer share */

/* Limits that nothing could run under, and those below what is asked for: a slip, most likely of a unit. */
static enum err check_limits(struct spec *s, const struct spec_job *job) {
    const struct wire_ceilings *l = &job->r.limits;
    const struct wire_demand *d = &job->o.demand;
    if (l->memory_bytes != 0 && l->memory_bytes < LIMIT_MEMORY_MIN)
        return spec_refuse(s, job->at, ERR_INVALID, "`limits.memory` is at least 1MiB, found %llu bytes",
                           (unsigned long long)l->memory_bytes);
    if (l->cpu_milli != 0 && l->cpu_milli < LIMIT_CPU_MIN)
        return spec_refuse(s, job->at, ERR_INVALID, "`limits.cpu` is at least 0.01");
    if (l->memory_bytes != 0 && d->memory_bytes > l->memory_bytes)
        return spec_refuse(s, job->at, ERR_INVALID, "`resources.memory` asks for more than `limits.memory` allows");
    if (l->cpu_milli != 0 && d->cpu_milli > l->cpu_milli)
        return spec_refuse(s, job->at, ERR_INVALID, "`resources.cpu` asks for more than `limits.cpu` allows");
    return ERR_OK;
}

/* Lengths that the wire allows; everything else that could not be sent is a mistake of ours. */
static enum err check_lengths(struct spec *s, const struct spec_job *job, bool runs_nothing) {
    struct why inner = {{0}};
    enum err e = runs_nothing ? ERR_OK : tlv_check(&wire_run_desc, &job->r, &inner);
    if (e == ERR_OK) e = tlv_check(&wire_options_desc, &job->o, &inner);
    return e == ERR_OK ? ERR_OK : spec_refuse(s, job->at, e, "%s", inner.text);
}

enum err spec_job_finish(struct spec *s, struct spec_job *job, bool is_undo) {
    enum err e = read_kind(s, job, is_undo);
    if (e == ERR_OK) e = read_stdin(s, job);
    if (e == ERR_OK) e = read_artifacts(s, job);
    if (e == ERR_OK) e = spec_http_finish(s, job);
    if (e == ERR_OK) e = read_inputs(s, job);
    if (e == ERR_OK) e = spec_foreach_read(s, job);
    if (e == ERR_OK) e = check_limits(s, job);
    if (e == ERR_OK) e = spec_sandbox_read(s, job);
    if (e == ERR_OK && job->o.kind == JOB_SERVICE) e = spec_service_reach(s, job);
    if (e != ERR_OK) return e;
    if (job->when != NULL) e = spec_expression(s, job->when, "when", &job->r.when);
    if (job->when != NULL) job->o.gates |= GATE_BIT(GATE_CONDITION);
    if (job->given & GIVEN_APPROVAL) job->o.gates |= GATE_BIT(GATE_APPROVAL);
    bool runs_nothing = tlv_is_blank(&wire_run_desc, &job->r); /* so it has no texts either */
    if (e == ERR_OK && !runs_nothing) e = spec_job_templates(s, job, is_undo);
    return e == ERR_OK ? check_lengths(s, job, runs_nothing) : e;
}
