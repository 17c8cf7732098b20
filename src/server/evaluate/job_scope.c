/* job_scope.c: see job_scope.h. */
#include "job_scope.h"

#include "evaluator.h"
#include "items.h"
#include "json.h"
#include "moment.h"
#include "names.h"
#include "record.h"
#include "runtext.h"
#include "server_view.h"
#include "utf8.h"
#include "view_history.h"

#define OUTPUTS_BYTES_MAX (512u << 20)
#define ITEM_TEXT_MAX 65536u /* a longer item is only told by its index: a variable has its limits */

/* ---- its flow ---- */

#define FAILED_TOLD_MAX 100u

/* The jobs that failed by themselves, with how their last attempts ended. */
struct failed_list {
    struct server *server;
    struct arena *arena;
    struct json *json;
    uint32_t count;
};

static void failed_write(void *ctx, const struct job_view *job) {
    struct failed_list *list = ctx;
    struct attempt_view *attempts = NULL;
    bool is_main = job->options->stage == FLOW_STAGE_MAIN;
    if (!is_main || !job_is_dead_letter(job->state, job->cause) || list->count == FAILED_TOLD_MAX) return;
    uint32_t count = view_attempts(server_state(list->server), job->ref, list->arena, &attempts);
    list->count++;
    json_object(list->json);
    json_key(list->json, "name");
    json_text(list->json, job->name);
    json_key(list->json, "state");
    json_str(list->json, job_state_word(job->state));
    json_key(list->json, "cause");
    json_str(list->json, job_cause_word(job->cause));
    json_key(list->json, "exit_code");
    json_u64(list->json, count > 0 && !attempts[count - 1].is_open ? attempts[count - 1].exit_code : 0);
    json_object_end(list->json);
}

/* What the main jobs came to, for a job that follows them. */
static void outcome_write(struct server *s, const struct flow_view *flow, struct arena *arena, struct json *j) {
    struct failed_list list = {s, arena, j, 0};
    json_key(j, "state");
    json_str(j, flow_state_words[flow->outcome]);
    json_key(j, "failed");
    json_array(j);
    view_each_job(server_state(s), flow->id, failed_write, &list);
    json_array_end(j);
    json_key(j, "timed_out");
    json_bool(j, flow->timed_out);
    json_key(j, "late");
    json_bool(j, flow->late);
}

static void flow_write(struct server *s, const struct flow_view *flow, bool is_follower, struct arena *arena,
                       struct buf *out) {
    const struct label *labels = NULL;
    uint32_t count = view_labels(server_state(s), flow->id, arena, &labels);
    struct json j;
    json_init(&j, out);
    json_object(&j);
    json_key(&j, "id");
    json_text(&j, server_view_flow_name(s, flow->id));
    json_key(&j, "name");
    json_text(&j, flow->name);
    if (is_follower) outcome_write(s, flow, arena, &j);
    json_key(&j, "labels");
    buf_put_u8(out, '{');
    for (uint32_t i = 0; i < count; i++) {
        struct json pair;
        json_init(&pair, out);
        if (i > 0) buf_put_u8(out, ',');
        json_text(&pair, labels[i].key);
        buf_put_u8(out, ':');
        json_init(&pair, out);
        json_text(&pair, labels[i].value);
    }
    buf_put_slice(out, SLICE("}}"));
}

static struct slice flow_json(struct server *s, const struct flow_view *flow, bool is_follower, struct arena *arena) {
    struct buf out;
    buf_init(&out, WIRE_BODY_MAX);
    flow_write(s, flow, is_follower, arena, &out);
    struct slice copy = arena_slice(arena, buf_slice(&out));
    buf_fini(&out);
    return copy;
}

/* ---- its parents ---- */

/* Which parents are named. */
struct named {
    struct arena *arena;
    struct slice *names;
    uint32_t count, room;
    bool all;
};

static enum err name_add(void *ctx, enum runtext_where where, struct slice name, struct why *why) {
    struct named *n = ctx;
    (void)where, (void)why;
    n->all = n->all || name.len == 0;
    if (n->count == n->room) {
        struct slice *more = ARENA_ARRAY(n->arena, struct slice, n->room * 2 + 8);
        if (n->count > 0) memcpy(more, n->names, sizeof *more * n->count);
        n->names = more;
        n->room = n->room * 2 + 8;
    }
    n->names[n->count++] = name;
    return ERR_OK;
}

static bool is_named(const struct named *n, struct slice name) {
    for (uint32_t i = 0; i < n->count; i++)
        if (slice_eq(n->names[i], name)) return true;
    return n->all;
}

/* What a job left: in the journal, or as a blob. Appends nothing when there is nothing. */
static enum err result_read(struct server *s, struct slice tenant, const struct job_view *job, struct buf *out,
                            struct why *why) {
    if (job->state == JOB_CHECKING || job->state == JOB_QUARANTINED) return ERR_OK;
    if (job->result.len == 0 && job->result_hash.len > 0) {
        enum err e = items_blob_read(s, tenant, job->result_hash, out, why);
        if (e != ERR_NOT_FOUND) return e;
        /* a worker without a tenant of its own stores under the standard one */
        return items_blob_read(s, SLICE(TENANT_STANDARD), job->result_hash, out, why);
    }
    struct slice result = job->result;
    while (result.len > 0 && (result.ptr[result.len - 1] == '\n' || result.ptr[result.len - 1] == ' ')) result.len--;
    buf_put_slice(out, result);
    return ERR_OK;
}

static enum err children_read(struct server *s, struct slice tenant, struct job_ref whole,
                              const struct expansion_view *x, struct buf *out, struct why *why) {
    bool any = false;
    enum err e = ERR_OK;
    buf_put_u8(out, '[');
    for (uint32_t i = 0; e == ERR_OK && i < x->count; i++) {
        struct job_view child;
        if (i > 0) buf_put_u8(out, ',');
        size_t begin = out->len;
        if (view_job(server_state(s), (struct job_ref){whole.flow, x->first + i}, &child))
            e = result_read(s, tenant, &child, out, why);
        any = any || out->len > begin;
        if (out->len == begin) buf_put_slice(out, SLICE("null"));
        if (out->full && e == ERR_OK)
            e = why_set(why, ERR_LIMIT, "the outputs of its children are more than %zu bytes", out->max);
    }
    buf_put_u8(out, ']');
    return e == ERR_OK && !any ? ERR_NOT_FOUND : e;
}

enum err job_scope_children(struct server *s, struct job_ref ref, uint32_t count_max, size_t bytes_max,
                            struct arena *arena, struct slice *ret, struct why *why) {
    struct expansion_view x;
    struct flow_view flow;
    struct buf out;
    if (!view_expansion(server_state(s), ref, &x) || x.count > count_max) return ERR_NOT_FOUND;
    if (!view_flow(server_state(s), ref.flow, &flow)) return ERR_NOT_FOUND;
    buf_init(&out, bytes_max);
    enum err e = children_read(s, flow.tenant, ref, &x, &out, why);
    if (e == ERR_OK) *ret = arena_slice(arena, buf_slice(&out));
    buf_fini(&out);
    return e;
}

static enum err outputs_of(struct server *s, struct slice tenant, const struct job_view *parent, struct arena *arena,
                           struct slice *ret, struct why *why) {
    struct buf out;
    size_t most = (size_t)s->limits->json_bytes_max;
    struct expansion_view x;
    if (view_expansion(server_state(s), parent->ref, &x)) {
        enum err e = job_scope_children(s, parent->ref, UINT32_MAX, most, arena, ret, why);
        return e == ERR_NOT_FOUND ? ERR_OK : e;
    }
    buf_init(&out, most);
    enum err e = result_read(s, tenant, parent, &out, why);
    if (e == ERR_OK && out.full)
        e = why_set(why, ERR_LIMIT, "its outputs are more than %zu bytes (json_bytes_max)", most);
    if (e == ERR_OK) *ret = arena_slice(arena, buf_slice(&out));
    buf_fini(&out);
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "outputs of %.*s", SLICE_FMT(parent->name));
}

/* The main jobs that are named: a job that follows them needs none of them. Into `ret`, behind the first `count`. */
static uint32_t main_jobs_of(struct server *s, const struct job_view *job, const struct named *named, uint32_t *ret,
                             uint32_t count) {
    if (job->options->stage == FLOW_STAGE_MAIN) return count;
    for (uint32_t i = 0; i < named->count; i++) {
        struct job_view main;
        bool twice = false;
        if (named->names[i].len == 0) continue;
        if (!view_job_by_name(server_state(s), job->ref.flow, named->names[i], &main)) continue;
        for (uint32_t k = 0; k < count; k++) twice = twice || ret[k] == main.ref.ordinal;
        if (!twice && main.options->stage == FLOW_STAGE_MAIN) ret[count++] = main.ref.ordinal;
    }
    return count;
}

static enum err parents_of(struct server *s, const struct flow_view *flow, const struct job_view *job,
                           const struct named *named, struct arena *arena, struct scope *ret, struct why *why) {
    struct job_ref ref = {job->ref.flow, job->item == UINT32_MAX ? job->ref.ordinal : job->whole};
    uint32_t count = named->count == 0 ? 0 : view_parents(server_state(s), ref, NULL, 0);
    uint32_t *ordinals = ARENA_ARRAY(arena, uint32_t, (size_t)count + named->count + 1);
    struct scope_job *list = ARENA_ARRAY(arena, struct scope_job, (size_t)count + named->count + 1);
    size_t bytes = 0;
    (void)view_parents(server_state(s), ref, ordinals, count);
    count = main_jobs_of(s, job, named, ordinals, count);
    for (uint32_t i = 0; i < count; i++) {
        struct job_view parent;
        if (!view_job(server_state(s), (struct job_ref){ref.flow, ordinals[i]}, &parent)) continue;
        if (!is_named(named, parent.name)) continue;
        struct scope_job *one = &list[ret->job_count];
        *one = (struct scope_job){.name = parent.name, .state = slice_str(job_state_word(parent.state))};
        enum err e = outputs_of(s, flow->tenant, &parent, arena, &one->outputs, why);
        bytes += one->outputs.len;
        if (e == ERR_OK && bytes > OUTPUTS_BYTES_MAX)
            e = why_set(why, ERR_LIMIT, "the outputs that it uses are more than %u bytes together", OUTPUTS_BYTES_MAX);
        if (e != ERR_OK) return e;
        ret->job_count++;
    }
    ret->jobs = list;
    return ERR_OK;
}

/* ---- its slot ---- */

static struct slice slot_json(const struct zone *z, const struct flow_view *flow, struct arena *arena) {
    char slot[MOMENT_TEXT_BYTES];
    struct json j;
    struct buf out;
    moment_text(z, flow->slot.ms / 1000, slot);
    buf_init(&out, 4096);
    json_init(&j, &out);
    json_object(&j);
    json_key(&j, "name");
    json_text(&j, flow->schedule);
    json_key(&j, "slot");
    json_str(&j, slot);
    json_key(&j, "date");
    json_text(&j, slice_of(slot, sizeof "YYYY-MM-DD" - 1));
    json_object_end(&j);
    struct slice copy = arena_slice(arena, buf_slice(&out));
    buf_fini(&out);
    return copy;
}

/* Which key started it. Of a flow that the clock or a person started everything in it is empty. */
static struct slice trigger_json(const struct flow_view *flow, struct arena *arena) {
    const struct flow_cause *c = &flow->cause;
    struct json j;
    struct buf out;
    buf_init(&out, 16 * (c->key.len + c->value.len) + 1024);
    json_init(&j, &out);
    json_object(&j);
    json_key(&j, "key");
    json_text(&j, utf8_is_valid(c->key) ? c->key : (struct slice){0});
    json_key(&j, "value");
    json_text(&j, utf8_is_valid(c->value) ? c->value : (struct slice){0});
    json_key(&j, "change");
    json_str(&j, key_how_word(c->how));
    json_key(&j, "version");
    json_u64(&j, c->version);
    json_key(&j, "count");
    json_u64(&j, c->count);
    json_object_end(&j);
    struct slice copy = arena_slice(arena, buf_slice(&out));
    buf_fini(&out);
    return copy;
}

enum err job_scope_slot(struct server *s, flow_id flow, const struct wire_run *run, struct arena *arena,
                        struct scope *ret, struct why *why) {
    struct flow_view view;
    unsigned roots = 0;
    ret->params = run->params;
    enum err e = runtext_roots(run, &roots, why);
    bool is_named = run->late.len > 0 || (roots & (ROOT_BIT(ROOT_SCHEDULE) | ROOT_BIT(ROOT_TRIGGER))) != 0;
    if (e != ERR_OK || !is_named || !view_flow(server_state(s), flow, &view) || view.schedule.len == 0) return e;
    e = zone_book_find(&s->zones, view.zone, &ret->zone, why);
    if (e != ERR_OK) return e;
    ret->schedule = slot_json(ret->zone, &view, arena);
    ret->trigger = trigger_json(&view, arena);
    struct scope slot = {.schedule = ret->schedule, .trigger = ret->trigger, .zone = ret->zone};
    struct template_fill how = {.scope = &slot, .limits = s->limits, .stage = STAGE_READY, .is_last = true};
    if (run->late.len == 0) return ERR_OK;
    return template_params(run->params, run->late, &how, arena, &ret->params, why);
}

enum err job_scope_make(struct server *s, const struct job_view *job, const struct wire_run *run, struct arena *arena,
                        struct scope *ret, struct why *why) {
    struct flow_view flow;
    *ret = (struct scope){0};
    if (!view_flow(server_state(s), job->ref.flow, &flow))
        return why_set(why, ERR_NOT_FOUND, "its flow no longer exists");
    bool is_follower = job->options->stage != FLOW_STAGE_MAIN;
    ret->flow = flow_json(s, &flow, is_follower, arena);
    struct named named = {.arena = arena};
    enum err e = job_scope_slot(s, job->ref.flow, run, arena, ret, why);
    if (e == ERR_OK) e = runtext_jobs(run, name_add, &named, why);
    return e == ERR_OK ? parents_of(s, &flow, job, &named, arena, ret, why) : e;
}

/* ---- its item ---- */

static enum err child_render(struct server *s, const struct job_view *child, struct wire_run *run, struct slice item,
                             struct arena *arena, struct slice *ret_body, struct why *why) {
    struct arena *scratch = &evaluator_of(s)->arena;
    struct scope scope;
    struct buf out;
    run->when = run->foreach = (struct slice){0}; /* answered before */
    enum err e = job_scope_make(s, child, run, scratch, &scope, why);
    scope.item = item;
    scope.index = child->item;
    struct template_fill how = {.scope = &scope, .limits = s->limits, .stage = STAGE_CHILD, .is_last = true};
    if (e == ERR_OK) e = runtext_render(run, &how, scratch, why);
    if (e == ERR_OK) e = tlv_check(&wire_run_desc, run, why);
    if (e != ERR_OK) return e;
    buf_init(&out, (size_t)s->limits->job_body_bytes_max);
    tlv_encode(&wire_run_desc, run, &out);
    if (out.full)
        e = why_set(why, ERR_LIMIT, "with its item it is larger than %zu bytes (job_body_bytes_max)", out.max);
    else
        *ret_body = arena_slice(arena, buf_slice(&out));
    buf_fini(&out);
    return e;
}

enum err job_scope_child(struct server *s, const struct job_view *child, struct arena *arena, struct slice *ret_body,
                         struct slice *ret_item, struct why *why) {
    struct arena *scratch = &evaluator_of(s)->arena;
    struct wire_run run;
    struct flow_view flow = {0};
    unsigned stages = 0;
    struct slice item = {0}, text = {0};
    arena_reset(scratch);
    (void)view_flow(server_state(s), child->ref.flow, &flow);
    enum err e = items_find(s, flow.tenant, child->items, child->item, &item, why);
    if (e == ERR_OK) e = scope_text(item, s->limits, scratch, &text, why);
    if (e == ERR_OK) e = tlv_decode(&wire_run_desc, child->body, TLV_SKIP_UNKNOWN, scratch, &run, why);
    if (e == ERR_OK) e = runtext_stages(&run, &stages, why);
    if (e != ERR_OK) return e;
    if (text.len <= ITEM_TEXT_MAX) *ret_item = arena_slice(arena, text);
    return stages & STAGE_BIT(STAGE_CHILD) ? child_render(s, child, &run, item, arena, ret_body, why) : ERR_OK;
}
