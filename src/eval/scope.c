/* scope.c: see scope.h. */
#include "scope.h"

#include <stdio.h>

#include "buf.h"
#include "json.h"
#include "json_read.h"

const char *const scope_root_words[ROOT_COUNT] = {"params", "jobs", "flow", "schedule", "trigger", "item", "index"};

enum scope_root scope_root_of(struct slice word) {
    for (uint32_t i = 0; i < ROOT_COUNT; i++)
        if (slice_eq(word, slice_str(scope_root_words[i]))) return (enum scope_root)i;
    return ROOT_COUNT;
}

enum scope_stage scope_stage_of(enum scope_root root) {
    if (root == ROOT_PARAMS) return STAGE_SUBMIT;
    return root == ROOT_ITEM || root == ROOT_INDEX ? STAGE_CHILD : STAGE_READY;
}

/* ---- paths ---- */

static struct slice word_at(struct slice text, size_t from) {
    size_t to = from;
    while (to < text.len && text.ptr[to] != '.' && text.ptr[to] != '[') to++;
    return slice_of(text.ptr + from, to - from);
}

/* `[3]` or `["any text"]`; *at is behind the bracket, and moves behind the closing one. */
static bool bracket_read(struct slice text, size_t *at, struct path_step *ret) {
    size_t i = *at, from = i;
    uint8_t quote = i < text.len ? text.ptr[i] : 0;
    if (quote == '"' || quote == '\'') {
        from = ++i;
        while (i < text.len && text.ptr[i] != quote) i++;
        *ret = (struct path_step){.name = slice_of(text.ptr + from, i - from)};
        i++;
    } else {
        uint64_t number = 0;
        for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9' && i - from < 9; i++)
            number = number * 10 + (uint64_t)(text.ptr[i] - '0');
        if (i == from) return false;
        *ret = (struct path_step){.is_number = true, .number = (uint32_t)number};
    }
    if (i >= text.len || text.ptr[i] != ']') return false;
    *at = i + 1;
    return true;
}

enum err path_read(struct slice text, struct path *ret, struct why *why) {
    if (text.len == 0) return why_set(why, ERR_INVALID, "expected a path like jobs.NAME.outputs");
    struct slice root = word_at(text, 0);
    struct path p = {.root = scope_root_of(root)};
    size_t at = root.len;
    if (p.root == ROOT_COUNT)
        return why_set(why, ERR_UNKNOWN_NAME,
                       "unknown `%.*s`; expected params, jobs, flow, schedule, trigger, item or index",
                       SLICE_FMT(root));
    while (at < text.len) {
        if (p.count == PATH_STEPS_MAX) return why_set(why, ERR_LIMIT, "a path of more than %u steps", PATH_STEPS_MAX);
        struct path_step *step = &p.steps[p.count++];
        if (text.ptr[at] == '.') {
            step->name = word_at(text, at + 1);
            at += 1 + step->name.len;
            if (step->name.len == 0)
                return why_set(why, ERR_INVALID, "`%.*s`: expected a name behind the point", SLICE_FMT(text));
        } else if (at++, !bracket_read(text, &at, step)) {
            return why_set(why, ERR_INVALID, "`%.*s`: expected [a number] or [\"a text\"]", SLICE_FMT(text));
        }
    }
    *ret = p;
    return ERR_OK;
}

/* ---- following them ---- */

struct scope_walk {
    const struct limits *limits;
    struct arena *arena;
    const struct path *path;
    struct why *why;
};

/* The path as far as it was followed, for messages. */
static void path_print(const struct path *p, uint32_t count, struct buf *out) {
    buf_printf(out, "%s", scope_root_words[p->root]);
    for (uint32_t i = 0; i < count; i++) {
        if (p->steps[i].is_number)
            buf_printf(out, "[%u]", p->steps[i].number);
        else
            buf_printf(out, ".%.*s", SLICE_FMT(p->steps[i].name));
    }
}

static enum err nowhere(const struct scope_walk *w, uint32_t step, const char *found) {
    struct buf before;
    const struct path_step *s = &w->path->steps[step];
    buf_init(&before, 120);
    path_print(w->path, step, &before);
    if (found != NULL)
        (void)why_set(w->why, ERR_INVALID, "%.*s is %s, it has nothing inside", (int)before.len,
                      (const char *)before.at, found);
    else if (s->is_number)
        (void)why_set(w->why, ERR_INVALID, "%.*s has no item [%u] (the first is [0])", (int)before.len,
                      (const char *)before.at, s->number);
    else
        (void)why_set(w->why, ERR_INVALID, "%.*s has no `%.*s`", (int)before.len, (const char *)before.at,
                      SLICE_FMT(s->name));
    buf_fini(&before);
    return ERR_INVALID;
}

/* From the value that begins at the reader's last token to its end. */
static enum err value_take(struct json_read *r, const struct json_token *t, struct slice *ret) {
    uint32_t at = t->at;
    enum err e = t->kind == JSON_OBJECT || t->kind == JSON_ARRAY ? json_read_skip(r) : ERR_OK;
    if (e == ERR_OK) *ret = slice_of(r->in.ptr + at, (size_t)(r->at - r->in.ptr) - at);
    return e;
}

static enum err step_into(const struct scope_walk *w, uint32_t step, struct slice json, struct slice *ret) {
    const struct path_step *s = &w->path->steps[step];
    const struct json_token *t;
    struct json_read r;
    json_read_init(&r, json, w->limits, w->arena, w->why);
    enum err e = json_read_next(&r, &t);
    if (e != ERR_OK) return e;
    enum json_kind outer = t->kind;
    if (outer != JSON_OBJECT && outer != JSON_ARRAY) return nowhere(w, step, json_kind_word(outer));
    for (uint32_t i = 0;; i++) {
        struct slice value;
        e = json_read_next(&r, &t);
        if (e != ERR_OK) return e;
        if (t->kind == JSON_OBJECT_END || t->kind == JSON_ARRAY_END) return nowhere(w, step, NULL);
        bool hit = outer == JSON_ARRAY ? s->is_number && s->number == i : !s->is_number && slice_eq(t->key, s->name);
        e = value_take(&r, t, &value);
        if (e == ERR_OK && hit) *ret = value;
        if (e != ERR_OK || hit) return e;
    }
}

static struct slice json_quoted(struct arena *arena, struct slice text) {
    struct buf out;
    struct json j;
    buf_init(&out, text.len * 6 + 2);
    json_init(&j, &out);
    json_text(&j, text);
    struct slice copy = arena_slice(arena, buf_slice(&out));
    buf_fini(&out);
    return copy;
}

/* jobs.NAME.outputs and jobs.NAME.state; *ret_steps of the path are used up. */
static enum err find_job(const struct scope_walk *w, const struct scope *s, uint32_t *ret_steps, struct slice *ret) {
    const struct path *p = w->path;
    if (p->count < 2 || p->steps[0].is_number || p->steps[1].is_number)
        return why_set(w->why, ERR_INVALID, "expected jobs.NAME.outputs or jobs.NAME.state");
    const struct scope_job *job = NULL;
    for (uint32_t i = 0; i < s->job_count && job == NULL; i++)
        if (slice_eq(s->jobs[i].name, p->steps[0].name)) job = &s->jobs[i];
    if (job == NULL)
        return why_set(w->why, ERR_UNKNOWN_NAME, "the job has no parent `%.*s`", SLICE_FMT(p->steps[0].name));
    *ret_steps = 2;
    if (slice_eq(p->steps[1].name, SLICE("state"))) {
        *ret = json_quoted(w->arena, job->state);
        return ERR_OK;
    }
    if (!slice_eq(p->steps[1].name, SLICE("outputs"))) return nowhere(w, 1, NULL);
    if (job->outputs.len == 0)
        return why_set(w->why, ERR_INVALID,
                       "job `%.*s` has no outputs (state: %.*s): it wrote nothing to $REEVE_OUTPUT",
                       SLICE_FMT(job->name), SLICE_FMT(job->state));
    *ret = job->outputs;
    return ERR_OK;
}

enum err scope_find(const struct scope *s, const struct path *path, const struct limits *limits, struct arena *arena,
                    struct slice *ret, struct why *why) {
    struct scope_walk w = {limits, arena, path, why};
    struct slice at = {0};
    uint32_t step = 0;
    enum err e = ERR_OK;
    switch (path->root) {
    case ROOT_PARAMS: at = s->params; break;
    case ROOT_JOBS: e = find_job(&w, s, &step, &at); break;
    case ROOT_FLOW: at = s->flow; break;
    case ROOT_SCHEDULE: at = s->schedule; break;
    case ROOT_TRIGGER: at = s->trigger; break;
    case ROOT_ITEM: at = s->item; break;
    case ROOT_INDEX:
        if (s->item.len > 0) {
            char *text = arena_alloc(arena, 16);
            at = slice_of(text, (size_t)snprintf(text, 16, "%u", s->index));
        }
        break;
    case ROOT_COUNT: break;
    }
    if (e == ERR_OK && at.len == 0)
        e = why_set(why, ERR_INVALID, "there is no `%s` here", scope_root_words[path->root]);
    for (; e == ERR_OK && step < path->count; step++) e = step_into(&w, step, at, &at);
    if (e == ERR_OK) *ret = at;
    return e;
}

enum err scope_text(struct slice json, const struct limits *limits, struct arena *arena, struct slice *ret,
                    struct why *why) {
    struct json_read r;
    const struct json_token *t;
    json_read_init(&r, json, limits, arena, why);
    enum err e = json_read_next(&r, &t);
    if (e == ERR_OK) *ret = t->kind == JSON_TEXT ? t->text : json;
    return e;
}
