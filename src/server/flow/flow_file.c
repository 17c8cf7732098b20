/* flow_file.c: see flow_file.h. Whoever sends JSON has put small files into it; others are blobs that are here already,
 * and their path is `sha256:` with the hash. */
#include "flow_file.h"

#include "hex.h"
#include "requests.h"
#include "server_impl.h"
#include "spec.h"

#define BLOB_PATH "sha256:"

struct flow_reading {
    struct hasher *hasher;
    struct arena *arena;
    struct tlv_list files; /* of wire_source_file: those that came along */
};

static void hash(void *ctx, struct slice bytes, uint8_t ret[SPEC_HASH_BYTES]) {
    struct flow_reading *reading = ctx;
    reading->hasher->whole(reading->hasher, bytes, ret);
}

static enum err file(void *ctx, struct slice path, struct spec_file *ret, struct why *why) {
    struct flow_reading *reading = ctx;
    const struct wire_source_file *files = reading->files.at;
    for (uint32_t i = 0; i < reading->files.count; i++) {
        if (!slice_eq(files[i].path, path)) continue;
        *ret = (struct spec_file){.bytes = files[i].bytes, .hash = files[i].hash};
        return ERR_OK;
    }
    static const struct slice before = {(const uint8_t *)BLOB_PATH, sizeof BLOB_PATH - 1};
    uint8_t *at = arena_alloc(reading->arena, SPEC_HASH_BYTES);
    bool is_blob = path.len > before.len && memcmp(path.ptr, before.ptr, before.len) == 0;
    if (!is_blob || !hex_read(slice_of(path.ptr + before.len, path.len - before.len), SPEC_HASH_BYTES, at))
        return why_set(why, ERR_INVALID,
                       "files cannot be named here, except blobs: `" BLOB_PATH "` and the hash, not `%.*s`",
                       SLICE_FMT(path));
    *ret = (struct spec_file){.hash = slice_of(at, SPEC_HASH_BYTES)};
    return ERR_OK;
}

static const char *text_of(struct arena *arena, struct slice s) {
    char *text = arena_alloc(arena, s.len + 1);
    memcpy(text, s.ptr, s.len);
    return text;
}

static enum err given_read(struct server *s, const struct request *r, struct slice params, struct spec_input *in,
                           struct why *why) {
    const struct json_node *root = NULL;
    struct spec_given *list = NULL;
    if (params.len == 0) return ERR_OK;
    enum err e = json_tree_read(params, s->limits, r->arena, &root, why);
    if (e != ERR_OK) return why_wrap(why, e, "params");
    e = spec_given_read(root, r->arena, &list, &in->given_count, why);
    in->given = list;
    return e;
}

static enum err read_spec(struct server *s, const struct request *r, const struct wire_flow *from, bool grows,
                          struct wire_flow *ret, struct why *why) {
    struct flow_reading reading = {s->world.hasher, r->arena, from->source.files};
    struct slice name = from->source_name.len > 0 ? from->source_name : SLICE("flow");
    struct spec_input in = {
        .source = {.name = text_of(r->arena, name), .text = from->spec},
        .world = {.ctx = &reading, .file = file, .hash = hash, .now_ms = engine_now(server_shard(s)->engine).ms},
        .jobs_max = (uint32_t)s->limits->submit_jobs_max,
        .grows = grows,
        .has_slot = r->op == WIRE_SCHEDULE_SET};
    enum err e = json_tree_read(from->spec, s->limits, r->arena, &in.source.root, why);
    if (e != ERR_OK) return why_wrap(why, e, "%s", in.source.name);
    e = given_read(s, r, from->params, &in, why);
    if (e == ERR_OK) e = spec_read(&in, r->arena, ret, why);
    if (e != ERR_OK) return e;
    ret->source = from->source;
    ret->source_name = from->source_name;
    ret->params = from->params;
    bool is_asked = from->source_name.len > 0 || from->params.len > 0;
    if (ret->source.text.len == 0 && (is_asked || json_tree_get(in.source.root, SLICE("params")) != NULL))
        ret->source.text = from->spec; /* a file that somebody may run again, not one of a program's many */
    return ERR_OK;
}

enum err flow_file_read(struct server *s, const struct request *r, const struct wire_flow *from, struct wire_flow *ret,
                        struct why *why) {
    struct wire_flow flow;
    if (from->part.jobs.count > 0) return why_set(why, ERR_INVALID, "a flow file or jobs, not both");
    enum err e = read_spec(s, r, from, false, &flow, why);
    if (e != ERR_OK) return e;
    if (from->name.len > 0) flow.name = from->name;
    if (from->key.len > 0) flow.key = from->key;
    if (from->key_ms != 0) flow.key_ms = from->key_ms;
    if (from->trace.len > 0) flow.trace = from->trace;
    if (from->compensate_on != COMPENSATE_FATAL) flow.compensate_on = from->compensate_on;
    if (from->timeout_ms != 0) flow.timeout_ms = from->timeout_ms;
    if (from->deadline_ms != 0 || from->late_after_ms != 0) {
        flow.deadline_ms = from->deadline_ms;
        flow.late_after_ms = from->late_after_ms;
    }
    if (from->labels.count > 0) flow.labels = from->labels;
    flow.part.more = from->part.more;
    *ret = flow;
    return ERR_OK;
}

enum err flow_file_read_jobs(struct server *s, const struct request *r, const struct wire_add_jobs *from,
                             struct wire_jobs *ret, struct why *why) {
    struct wire_flow file = {.spec = from->spec, .params = from->params}, flow;
    if (from->part.jobs.count > 0) return why_set(why, ERR_INVALID, "a flow file or jobs, not both");
    enum err e = read_spec(s, r, &file, true, &flow, why);
    if (e != ERR_OK) return e;
    if (flow.timeout_ms != 0 || flow.deadline_ms != 0 || flow.late_after_ms != 0)
        return why_set(why, ERR_INVALID, "`timeout` and `deadline` are given with the submit of the flow");
    *ret = flow.part;
    ret->more = from->part.more;
    return ERR_OK;
}

/* ---- again ---- */

/* Those of the first that the second does not name, then the second. */
static enum err params_over(struct server *s, struct arena *arena, struct slice old, struct slice given,
                            struct slice *ret, struct why *why) {
    const struct json_node *before = NULL, *after = NULL;
    enum err e = json_tree_read(given, s->limits, arena, &after, why);
    if (e == ERR_OK && after->kind != JSON_OBJECT) e = why_set(why, ERR_INVALID, "expected an object of plain values");
    if (e == ERR_OK) e = json_tree_read(old, s->limits, arena, &before, why);
    if (e != ERR_OK) return why_wrap(why, e, "params");
    struct buf text;
    struct json j;
    buf_init(&text, 2 * (old.len + given.len) + 16);
    json_init(&j, &text);
    json_object(&j);
    for (const struct json_node *n = before->first; n != NULL; n = n->next) {
        if (json_tree_get(after, n->key) != NULL) continue;
        json_key_slice(&j, n->key);
        json_raw(&j, slice_of(old.ptr + n->at, n->end - n->at));
    }
    for (const struct json_node *n = after->first; n != NULL; n = n->next) {
        json_key_slice(&j, n->key);
        json_raw(&j, slice_of(given.ptr + n->at, n->end - n->at));
    }
    json_object_end(&j);
    *ret = arena_slice(arena, buf_slice(&text));
    e = text.full ? why_set(why, ERR_LIMIT, "params: the names are too long") : ERR_OK;
    buf_fini(&text);
    return e;
}

enum err flow_file_read_again(struct server *s, const struct request *r, const struct wire_flow *from,
                              struct slice given, struct wire_flow *ret, struct why *why) {
    struct wire_flow whole = *from;
    whole.spec = from->source.spec.len > 0 ? from->source.spec : from->source.text;
    enum err e = ERR_OK;
    if (given.len > 0 && from->params.len > 0) e = params_over(s, r->arena, from->params, given, &whole.params, why);
    if (given.len > 0 && from->params.len == 0) whole.params = given;
    if (e == ERR_OK) e = flow_file_read(s, r, &whole, ret, why);
    if (e == ERR_OK) ret->key = from->key; /* another flow: a key in the file is the first one's */
    return e;
}
