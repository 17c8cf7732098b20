/* verb_submit.c: a flow file, read here, sent as jobs. Files that it names go along: small ones inside the job, larger
 * ones as blobs, which are stored before the flow is. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api_print.h"
#include "limit.h"
#include "out.h"
#include "params.h"
#include "spec.h"
#include "verbs.h"
#include "yaml_tree.h"

#define FILE_BYTES_MAX ((size_t)256 << 20)
#define INLINE_BYTES_MAX 32768u     /* of a script or an input: beyond it, a blob */
#define FILES_MAX 1000u             /* that are kept with the flow file */
#define SOURCE_BYTES_MAX (1u << 20) /* of it and of those: what a server keeps, unless it is set up otherwise */
#define PART_JOBS_MAX 5000u
#define PART_BYTES_MAX (8u << 20)

enum err file_read(struct cli *c, const char *path, size_t most, struct slice *ret) {
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "re");
    struct buf b;
    if (f == NULL) return cli_refuse(c, ERR_NOT_FOUND, "%s: %s", path, strerrordesc_np(errno));
    buf_init(&b, most);
    for (;;) {
        uint8_t *at = buf_space(&b, 65536);
        if (at == NULL) break;
        size_t n = fread(at, 1, 65536, f);
        buf_cut(&b, b.len - 65536 + n);
        if (n == 0) break;
    }
    enum err e = ERR_OK;
    if (ferror(f))
        e = cli_refuse(c, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    else if (b.full)
        e = cli_refuse(c, ERR_LIMIT, "%s: more than %zu bytes", path, most);
    if (e == ERR_OK) *ret = arena_slice(&c->arena, buf_slice(&b));
    buf_fini(&b);
    if (!is_stdin) fclose(f);
    return e;
}

/* ---- what the flow file needs of the world ---- */

struct spec_reading {
    struct cli *cli;
    const char *path; /* of the flow file */
    enum flow_use use;
    struct wire_source_file *kept; /* those that it names, FILES_MAX of them */
    uint32_t kept_count;
    struct params *params;
};

static void hash(void *ctx, struct slice bytes, uint8_t ret[SPEC_HASH_BYTES]) {
    struct spec_reading *r = ctx;
    r->cli->world->hasher->whole(r->cli->world->hasher, bytes, ret);
}

/* A flow file may come from somebody else: it takes along what lies beside it or below, not the submitter's keys. Links
 * are followed first. What is not there is told by whoever opens it. */
static enum err beside(const struct spec_reading *r, const char *path, struct why *why) {
    const char *slash = strrchr(r->path, '/');
    char folder[PATH_MAX], roots[PATH_MAX], reals[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - r->path) + 1 : 1,
             slash != NULL ? r->path : ".");
    const char *root = realpath(folder, roots), *real = realpath(path, reals);
    size_t len = root != NULL && strcmp(root, "/") != 0 ? strlen(root) : 0;
    bool is_beside = root == NULL || real == NULL || (strncmp(real, root, len) == 0 && real[len] == '/');
    if (is_beside || cli_flag(r->cli, "allow-outside") != NULL) return ERR_OK;
    return why_set(why, ERR_FORBIDDEN,
                   "%s is outside the folder of the flow file; pass --allow-outside to send it along", path);
}

/* The path as the flow file means it. */
static enum err path_beside(const struct spec_reading *r, struct slice path, char full[PATH_MAX], struct why *why) {
    const char *slash = strrchr(r->path, '/');
    int folder = slash != NULL && path.len > 0 && path.ptr[0] != '/' ? (int)(slash - r->path) + 1 : 0;
    if (snprintf(full, PATH_MAX, "%.*s%.*s", folder, r->path, SLICE_FMT(path)) >= PATH_MAX)
        return why_set(why, ERR_LIMIT, "a path of more than %d bytes", PATH_MAX - 1);
    return beside(r, full, why);
}

static enum err text(void *ctx, struct slice path, struct slice *ret, struct why *why) {
    const struct spec_reading *r = ctx;
    char full[PATH_MAX];
    enum err e = path_beside(r, path, full, why);
    if (e != ERR_OK) return e;
    e = file_read(r->cli, full, WIRE_CALENDAR_MAX, ret);
    return e == ERR_OK ? ERR_OK : why_set(why, e, "%s", r->cli->why->text);
}

static enum err file_take(struct spec_reading *r, struct slice path, struct spec_file *ret, struct why *why) {
    struct slice bytes = {0};
    char full[PATH_MAX];
    enum err e = path_beside(r, path, full, why);
    if (e != ERR_OK) return e;
    e = file_read(r->cli, full, FILE_BYTES_MAX, &bytes);
    if (e == ERR_OK && bytes.len <= INLINE_BYTES_MAX) {
        ret->bytes = bytes;
        return ERR_OK;
    }
    if (e == ERR_OK && r->use == FLOW_ASKED) {
        ret->bytes = slice_of(bytes.ptr, INLINE_BYTES_MAX);
        return ERR_OK;
    }
    if (e == ERR_OK && r->use == FLOW_SHOWN) {
        uint8_t *at = arena_alloc(&r->cli->arena, SPEC_HASH_BYTES);
        hash(r, bytes, at);
        ret->hash = slice_of(at, SPEC_HASH_BYTES);
        return ERR_OK;
    }
    if (e == ERR_OK) e = blob_put(r->cli, full, bytes, &ret->hash);
    if (e != ERR_OK) why_set(why, e, "%s", r->cli->why->text);
    return e;
}

static enum err file(void *ctx, struct slice path, struct spec_file *ret, struct why *why) {
    struct spec_reading *r = ctx;
    enum err e = file_take(r, path, ret, why);
    if (e == ERR_OK && r->kept_count++ < FILES_MAX)
        r->kept[r->kept_count - 1] = (struct wire_source_file){path, ret->bytes, ret->hash};
    return e;
}

static bool param(void *ctx, struct slice name, struct slice env, struct slice *ret) {
    struct spec_reading *r = ctx;
    return params_from_environment(r->params, name, env, ret);
}

static bool is_json(const char *path, struct slice text) {
    size_t len = strlen(path), i = 0;
    if (len > 5 && strcmp(path + len - 5, ".json") == 0) return true;
    while (i < text.len && (text.ptr[i] == ' ' || text.ptr[i] == '\n' || text.ptr[i] == '\t')) i++;
    return i < text.len && text.ptr[i] == '{';
}

/* ---- what is kept of it with the flow ---- */

/* A server reads JSON, so what is written in YAML goes along in both. What is too much goes by its name alone. */
static void source_keep(const struct spec_reading *r, const struct spec_input *in, bool is_json,
                        struct wire_flow *ret) {
    struct wire_source source = {.text = in->source.text, .files = {r->kept, r->kept_count}};
    const char *slash = strrchr(r->path, '/');
    size_t bytes = source.text.len;
    struct buf spec;
    struct json j;
    ret->source_name = slice_str(slash != NULL ? slash + 1 : r->path);
    ret->params = params_json(r->params);
    buf_init(&spec, SOURCE_BYTES_MAX);
    json_init(&j, &spec);
    bool fits = r->kept_count <= FILES_MAX && bytes <= SOURCE_BYTES_MAX;
    if (fits && !is_json) fits = json_tree_put(in->source.root, &j) && !spec.full;
    if (fits && !is_json) source.spec = arena_slice(&r->cli->arena, buf_slice(&spec));
    bytes += source.spec.len;
    for (uint32_t i = 0; fits && i < r->kept_count; i++) bytes += r->kept[i].path.len + r->kept[i].bytes.len + 40;
    if (fits && bytes <= SOURCE_BYTES_MAX) ret->source = source;
    buf_fini(&spec);
}

enum err verb_flow_file_read(struct cli *c, const char *path, enum flow_use use, struct wire_flow *ret,
                             struct spec_schedule *ret_schedule) {
    struct wire_source_file *kept = ARENA_ARRAY(&c->arena, struct wire_source_file, FILES_MAX);
    struct params *params = ARENA_NEW(&c->arena, struct params);
    struct spec_reading r = {c, strcmp(path, "-") == 0 ? "stdin" : path, use, kept, 0, params};
    struct limits limits;
    limits_default(&limits);
    struct spec_input in = {.source = {.name = r.path},
                            .grows = use == FLOW_ADDED,
                            .keeps_replicas = use == FLOW_DEPLOYED,
                            .has_slot = use == FLOW_SCHEDULED,
                            .world = {.ctx = &r,
                                      .file = file,
                                      .text = text,
                                      .hash = hash,
                                      .param = param,
                                      .now_ms = c->world->clock->wall(c->world->clock).ms}};
    enum err e = file_read(c, path, (size_t)limits.json_bytes_max, &in.source.text);
    if (e == ERR_OK && in.source.text.len == 0)
        e = cli_refuse(c, ERR_INVALID, "%s: the file is empty: a flow needs jobs", r.path);
    if (e == ERR_OK) e = params_read(c, params);
    if (e != ERR_OK) return e;
    in.given = params->given;
    in.given_count = params->count;
    bool json = is_json(path, in.source.text);
    e = json ? json_tree_read(in.source.text, &limits, &c->arena, &in.source.root, c->why)
             : yaml_tree_read(in.source.text, &limits, &c->arena, &in.source.root, c->why);
    if (e != ERR_OK) return why_wrap(c->why, e, "%s", r.path);
    e = spec_read_scheduled(&in, &c->arena, ret, ret_schedule, c->why);
    bool is_kept = use == FLOW_SUBMITTED || use == FLOW_DEPLOYED || use == FLOW_SCHEDULED;
    if (e == ERR_OK && is_kept) source_keep(&r, &in, json, ret);
    return e;
}

static enum err flags_over(struct cli *c, struct wire_flow *flow) {
    struct tlv_list labels = {0};
    if (cli_flag(c, "name") != NULL) flow->name = cli_flag_text(c, "name");
    if (cli_flag(c, "key") != NULL) flow->key = cli_flag_text(c, "key");
    enum err e = cli_pairs(c, "label", &labels);
    if (e != ERR_OK || labels.count == 0) return e;
    struct wire_pair *all = ARENA_ARRAY(&c->arena, struct wire_pair, flow->labels.count + labels.count);
    if (flow->labels.count > 0) memcpy(all, flow->labels.at, sizeof *all * flow->labels.count);
    memcpy(all + flow->labels.count, labels.at, sizeof *all * labels.count);
    flow->labels = (struct tlv_list){all, flow->labels.count + labels.count};
    return ERR_OK;
}

/* ---- what it would be ---- */

static void dry_body(struct cli *c, struct json *j, const char *key, struct slice body) {
    struct wire_run run;
    if (body.len == 0 || tlv_decode(&wire_run_desc, body, TLV_STRICT, &c->arena, &run, NULL) != ERR_OK) return;
    json_key(j, key);
    json_object(j);
    struct slice script = run.script, input = run.stdin_text; /* bytes, but mostly text: shown as such */
    if (script.len > 0 && memchr(script.ptr, 0, script.len) != NULL) script.len = 0; /* an archive is not */
    run.script = run.stdin_text = (struct slice){0};
    tlv_json(&wire_run_desc, &run, j);
    if (script.len > 0) json_key(j, "script"), json_text(j, script);
    if (input.len > 0) json_key(j, "stdin"), json_text(j, input);
    json_object_end(j);
}

static void dry_options(const struct wire_options *o, struct json *j, const char *key) {
    struct wire_options rest = *o;
    rest.kind = 0;
    json_key(j, key);
    json_object(j);
    tlv_json(&wire_options_desc, &rest, j);
    json_object_end(j);
}

static void dry_job(struct cli *c, const struct wire_flow *flow, const struct wire_job *job, struct json *j) {
    const struct wire_options *options = flow->part.options.at;
    const struct wire_job *jobs = flow->part.jobs.at;
    const struct wire_name *foreign = job->parent_names.at;
    json_object(j);
    json_key(j, "name");
    json_text(j, job->name);
    json_key(j, "kind");
    json_str(j, job_kind_words[options[job->options].kind]);
    json_key(j, "needs");
    json_array(j);
    for (uint32_t i = 0; i < job->parents.count; i++) json_text(j, jobs[job->parents.at[i]].name);
    for (uint32_t i = 0; i < job->parent_names.count; i++) json_text(j, foreign[i].name);
    json_array_end(j);
    dry_options(&options[job->options], j, "options");
    dry_body(c, j, "run", job->body);
    if (job->cache_key.len > 0) json_key(j, "cache_key"), json_hex(j, job->cache_key);
    if (job->undo_options != 0) {
        dry_options(&options[job->undo_options - 1], j, "undo_options");
        dry_body(c, j, "undo", job->undo_body);
    }
    json_object_end(j);
}

static void dry_print(struct cli *c, const struct wire_flow *flow) {
    struct out_object o;
    struct wire_flow head = *flow;
    const struct wire_job *jobs = flow->part.jobs.at;
    head.part = (struct wire_jobs){0};
    out_object_begin(&o);
    tlv_json(&wire_flow_desc, &head, &o.json);
    json_key(&o.json, "jobs");
    json_array(&o.json);
    for (uint32_t i = 0; i < flow->part.jobs.count; i++) dry_job(c, flow, &jobs[i], &o.json);
    json_array_end(&o.json);
    out_object_end(&o);
}

/* ---- sending: a flow that is too large for one request goes in parts, parents before children ---- */

/* Jobs `first` to `end`, those before them named. */
static struct wire_jobs part_of(struct cli *c, const struct wire_jobs *all, uint32_t first, uint32_t end) {
    const struct wire_job *jobs = all->jobs.at;
    struct wire_job *list = ARENA_ARRAY(&c->arena, struct wire_job, end - first);
    for (uint32_t i = first; i < end; i++) {
        struct wire_job *to = &list[i - first];
        *to = jobs[i];
        uint32_t *near = ARENA_ARRAY(&c->arena, uint32_t, to->parents.count + 1), near_count = 0;
        struct wire_name *far =
            ARENA_ARRAY(&c->arena, struct wire_name, to->parents.count + to->parent_names.count + 1);
        uint32_t far_count = to->parent_names.count;
        if (far_count > 0) memcpy(far, to->parent_names.at, sizeof *far * far_count);
        for (uint32_t k = 0; k < to->parents.count; k++) {
            uint32_t at = to->parents.at[k];
            if (at >= first)
                near[near_count++] = at - first;
            else
                far[far_count++].name = jobs[at].name;
        }
        to->parents = (struct tlv_u32s){near, near_count};
        to->parent_names = (struct tlv_list){far, far_count};
    }
    return (struct wire_jobs){.options = all->options, .jobs = {list, end - first}, .more = end < all->jobs.count};
}

static uint32_t part_end(const struct wire_jobs *all, uint32_t first) {
    const struct wire_job *jobs = all->jobs.at;
    uint32_t end = first;
    size_t bytes = 0;
    for (; end < all->jobs.count && end - first < PART_JOBS_MAX && bytes < PART_BYTES_MAX; end++)
        bytes += 64 + jobs[end].body.len + jobs[end].undo_body.len + 8 * (size_t)jobs[end].parents.count;
    return end;
}

struct wire_jobs flow_first_part(struct cli *c, const struct wire_flow *flow) {
    return part_of(c, &flow->part, 0, part_end(&flow->part, 0));
}

/* Its answer is about one flow. */
static enum err send_part(struct cli *c, enum wire_op op, const void *message, struct flow_sent *ret) {
    struct client_frame f;
    enum err e = client_ask(&c->client, op, message, &f, c->why);
    if (e != ERR_OK) return e;
    const struct wire_submitted *m = f.message;
    if (f.op != WIRE_SUBMITTED || m->flows.count != 1)
        return cli_refuse(c, ERR_UNSUPPORTED, "unexpected answer from the server");
    *ret = (struct flow_sent){m->lsn, *(const struct wire_submitted_flow *)m->flows.at};
    if (ret->flow.code.len == 0) return ERR_OK;
    return cli_refuse(c, client_err(ret->flow.code), "%.*s", SLICE_FMT(ret->flow.message));
}

/* A flow of which only a part came would wait for the rest for ever. */
static void call_off(struct cli *c, struct slice flow) {
    struct client_frame f;
    struct why ignored;
    struct wire_name name = {flow};
    struct wire_targets m = {.targets = {&name, 1}, .reason = SLICE("the rest of its jobs was refused")};
    (void)!client_ask(&c->client, WIRE_CANCEL, &m, &f, &ignored);
}

/* Jobs from `first` on, for a flow that is there. */
static enum err send_jobs(struct cli *c, struct slice flow, const struct wire_jobs *all, uint32_t first,
                          struct flow_sent *ret) {
    enum err e = ERR_OK;
    while (e == ERR_OK && first < all->jobs.count) {
        uint32_t end = part_end(all, first);
        struct wire_add_jobs add = {.flow = flow, .part = part_of(c, all, first, end)};
        e = send_part(c, WIRE_ADD_JOBS, &add, ret);
        first = end;
    }
    return e;
}

enum err flow_send(struct cli *c, const struct wire_flow *flow, struct flow_sent *ret) {
    struct flow_sent added;
    uint32_t end = part_end(&flow->part, 0);
    struct wire_flow first = *flow;
    struct wire_submit m = {{&first, 1}};
    first.part = part_of(c, &flow->part, 0, end);
    enum err e = send_part(c, WIRE_SUBMIT, &m, ret);
    if (e != ERR_OK || ret->flow.repeated) return e;
    ret->flow.flow = arena_slice(&c->arena, ret->flow.flow);
    e = send_jobs(c, ret->flow.flow, &flow->part, end, &added);
    if (e != ERR_OK) call_off(c, ret->flow.flow);
    ret->flow.job_count = flow->part.jobs.count;
    return e;
}

void flow_sent_print(struct cli *c, const struct flow_sent *sent) {
    struct wire_submitted_flow flow = sent->flow;
    struct wire_submitted m = {.lsn = sent->lsn, .flows = {&flow, 1}};
    api_print_answer(c, "POST /flows", WIRE_SUBMITTED, &m);
}

enum err flow_sent_end(struct cli *c, const struct flow_sent *sent) {
    const struct wire_submitted_flow *got = &sent->flow;
    if (c->json)
        flow_sent_print(c, sent);
    else if (c->is_terminal)
        printf("%.*s  %s%u job%s\n", SLICE_FMT(got->flow), got->repeated ? "as before, " : "", got->job_count,
               got->job_count == 1 ? "" : "s");
    else
        printf("%.*s\n", SLICE_FMT(got->flow));
    if (cli_flag(c, "wait") == NULL) return ERR_OK;
    fflush(stdout);
    struct wire_name name = {arena_slice(&c->arena, got->flow)};
    bool bad = false;
    enum err e = wait_for(c, (struct tlv_list){&name, 1}, false, 0, false, &bad);
    if (e == ERR_OK && bad) c->exit_code = EXIT_ENDED_BADLY;
    return e;
}

enum err verb_submit(struct cli *c) {
    struct wire_flow flow;
    struct flow_sent sent;
    bool dry = c->client.fd < 0;
    struct spec_schedule schedule;
    enum err e = verb_flow_file_read(c, c->args[0], dry ? FLOW_SHOWN : FLOW_SUBMITTED, &flow, &schedule);
    if (e == ERR_OK) e = flags_over(c, &flow);
    if (e != ERR_OK) return e;
    if (dry) {
        dry_print(c, &flow);
        return ERR_OK;
    }
    e = flow_send(c, &flow, &sent);
    return e == ERR_OK ? flow_sent_end(c, &sent) : e;
}

/* ---- again ---- */

enum err verb_rerun_new(struct cli *c) {
    struct params *params = ARENA_NEW(&c->arena, struct params);
    struct flow_sent sent;
    struct wire_again m = {.flow = slice_str(c->args[0])};
    if (c->arg_count > 1) return cli_refuse(c, ERR_INVALID, "--new takes one flow");
    enum err e = params_read(c, params);
    if (e != ERR_OK) return e;
    m.params = params_json(params);
    e = send_part(c, WIRE_AGAIN, &m, &sent);
    return e == ERR_OK ? flow_sent_end(c, &sent) : e;
}

/* The flow of the job that we are inside of. */
static enum err own_flow(struct cli *c, struct slice *ret) {
    const char *job = getenv("REEVE_JOB");
    const char *slash = job != NULL ? strchr(job, '/') : NULL;
    if (slash == NULL)
        return cli_refuse(c, ERR_INVALID,
                          "name the flow before the file: reeve add FLOW FILE (only inside a job can it be left out)");
    *ret = slice_of(job, (size_t)(slash - job));
    return ERR_OK;
}

enum err verb_add(struct cli *c) {
    struct wire_flow file;
    struct spec_schedule ignored;
    struct slice flow = slice_str(c->args[0]);
    enum err e = c->arg_count == 1 ? own_flow(c, &flow) : ERR_OK;
    if (e == ERR_OK) e = verb_flow_file_read(c, c->args[c->arg_count - 1], FLOW_ADDED, &file, &ignored);
    struct flow_sent sent = {.flow = {.flow = flow}};
    if (e == ERR_OK) e = send_jobs(c, flow, &file.part, 0, &sent);
    if (e != ERR_OK) return e;
    uint32_t count = file.part.jobs.count;
    if (c->json)
        flow_sent_print(c, &sent);
    else
        printf("%u job%s added to %.*s\n", count, count == 1 ? "" : "s", SLICE_FMT(flow));
    return ERR_OK;
}
