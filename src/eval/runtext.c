/* runtext.c: see runtext.h. */
#include "runtext.h"

#include "expr.h"
#include "limit.h"
#include "names.h"

/* Programs that put their arguments together to a line that a shell reads, so that even a whole argument is a part of a
 * program. The rule does not rest on this list; it says "no" where the mistake is well known. */
static bool joins_arguments(struct slice program) {
    static const char *const names[] = {"ssh", "rsh", "mosh", "watch", "parallel", "eval"};
    struct slice name = slice_base_name(program);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (slice_eq(name, slice_str(names[i]))) return true;
    return false;
}

enum template_into runtext_into(const struct wire_arg *args, uint32_t at) {
    for (uint32_t i = 0; i < at; i++)
        if (joins_arguments(args[i].text)) return INTO_JOINED;
    return INTO_ARGUMENT;
}

static enum err each_arg(const struct tlv_list *list, bool of_script, runtext_fn each, void *ctx, struct why *why) {
    struct wire_arg *args = list->at;
    enum template_into into = of_script ? INTO_TEXT : INTO_ARGUMENT;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < list->count; i++) {
        bool joins = !of_script && joins_arguments(args[i].text);
        e = each(ctx, &args[i].text, into, why);
        if (joins) into = INTO_JOINED;
    }
    return e;
}

static enum err each_http(const struct tlv_list *list, runtext_fn each, void *ctx, struct why *why) {
    struct wire_http *http = list->at;
    if (list->count == 0) return ERR_OK;
    struct wire_pair *headers = http->headers.at;
    enum err e = each(ctx, &http->url, INTO_URL, why);
    for (uint32_t i = 0; e == ERR_OK && i < http->headers.count; i++)
        e = each(ctx, &headers[i].value, INTO_HEADER, why);
    return e == ERR_OK ? each(ctx, &http->body, http->is_json ? INTO_JSON : INTO_BODY, why) : e;
}

static enum err each_step(const struct tlv_list *list, runtext_fn each, void *ctx, struct why *why) {
    struct wire_step *step = list->at;
    if (list->count == 0) return ERR_OK;
    enum err e = each(ctx, &step->shell, INTO_PROGRAM, why);
    if (e == ERR_OK) e = each_arg(&step->argv, false, each, ctx, why);
    return e == ERR_OK ? each_http(&step->http, each, ctx, why) : e;
}

static enum err each_list(struct wire_run *run, runtext_fn each, void *ctx, struct why *why) {
    struct wire_pair *env = run->env.at;
    struct wire_artifact *artifacts = run->artifacts.at;
    bool of_script = run->script.len > 0 || run->script_hash.len > 0; /* it reads its arguments as it likes */
    enum err e = each_arg(&run->argv, of_script, each, ctx, why);
    if (e == ERR_OK) e = each_http(&run->http, each, ctx, why);
    if (e == ERR_OK) e = each_step(&run->submit, each, ctx, why);
    if (e == ERR_OK) e = each_step(&run->poll, each, ctx, why);
    for (uint32_t i = 0; e == ERR_OK && i < run->env.count; i++) e = each(ctx, &env[i].value, INTO_TEXT, why);
    for (uint32_t i = 0; e == ERR_OK && i < run->artifacts.count; i++) {
        e = each(ctx, &artifacts[i].path, INTO_TEXT, why);
        if (e == ERR_OK) e = each(ctx, &artifacts[i].name, INTO_TEXT, why);
    }
    return e;
}

enum err runtext_each(struct wire_run *run, runtext_fn each, void *ctx, struct why *why) {
    struct slice *const texts[] = {&run->stdin_text, &run->workdir, &run->message};
    enum err e = each(ctx, &run->shell, INTO_PROGRAM, why);
    for (size_t i = 0; e == ERR_OK && i < sizeof texts / sizeof texts[0]; i++) e = each(ctx, texts[i], INTO_TEXT, why);
    return e == ERR_OK ? each_list(run, each, ctx, why) : e;
}

static enum err see(void *ctx, struct slice *text, enum template_into into, struct why *why) {
    (void)into;
    return template_stages(*text, ctx, why);
}

enum err runtext_stages(const struct wire_run *run, unsigned *ret, struct why *why) {
    struct wire_run copy = *run; /* only looked at */
    unsigned stages = 0;
    enum err e = runtext_each(&copy, see, &stages, why);
    if (e == ERR_OK) *ret = stages;
    return e;
}

/* ---- checking ---- */

static enum err check_text(void *ctx, struct slice *text, enum template_into into, struct why *why) {
    (void)into;
    if (text->len == 0 || memchr(text->ptr, '$', text->len) == NULL) return ERR_OK;
    for (size_t at = 0;;) {
        struct template_part part;
        bool over;
        enum err e = template_next(*text, &at, &part, &over, why);
        if (e == ERR_OK && !over && part.kind == PART_EXPR) e = expr_check("${=}", part.inside, ctx, why);
        if (e != ERR_OK || over) return e;
    }
}

enum err runtext_check(const struct wire_run *run, const struct limits *limits, struct why *why) {
    struct wire_run copy = *run; /* only looked at */
    struct limits own = *limits; /* a context is not const */
    enum err e = run->when.len > 0 ? expr_check("when", run->when, limits, why) : ERR_OK;
    if (e == ERR_OK && run->foreach.len > 0) e = expr_check("foreach", run->foreach, limits, why);
    return e == ERR_OK ? runtext_each(&copy, check_text, &own, why) : e;
}

struct naming {
    runtext_job_fn each;
    void *ctx;
};

static enum err name_jobs(const struct naming *n, enum runtext_where where, struct slice expression, struct why *why) {
    struct name_ref ref;
    enum err e = ERR_OK;
    for (size_t at = 0; e == ERR_OK && names_next(expression, &at, &ref);)
        if (ref.root == ROOT_JOBS) e = n->each(n->ctx, where, ref.name, why);
    return e;
}

static enum err name_text(void *ctx, struct slice *text, enum template_into into, struct why *why) {
    const struct naming *n = ctx;
    (void)into;
    if (text->len == 0 || memchr(text->ptr, '$', text->len) == NULL) return ERR_OK;
    for (size_t at = 0;;) {
        struct template_part part;
        struct path path;
        bool over;
        enum err e = template_next(*text, &at, &part, &over, why);
        if (e != ERR_OK || over) return e;
        if (part.kind == PART_EXPR) e = name_jobs(n, IN_TEXT, part.inside, why);
        if (part.kind == PART_PATH) e = path_read(part.inside, &path, why);
        if (part.kind == PART_PATH && e == ERR_OK && path.root == ROOT_JOBS && path.count > 0)
            e = n->each(n->ctx, IN_TEXT, path.steps[0].name, why);
        if (e != ERR_OK) return e;
    }
}

enum err runtext_jobs(const struct wire_run *run, runtext_job_fn each, void *ctx, struct why *why) {
    struct naming n = {each, ctx};
    struct wire_run copy = *run; /* only looked at */
    enum err e = name_jobs(&n, IN_WHEN, run->when, why);
    if (e == ERR_OK) e = name_jobs(&n, IN_FOREACH, run->foreach, why);
    return e == ERR_OK ? runtext_each(&copy, name_text, &n, why) : e;
}

static enum err root_text(void *ctx, struct slice *text, enum template_into into, struct why *why) {
    (void)into;
    return template_roots(*text, ctx, why);
}

enum err runtext_roots(const struct wire_run *run, unsigned *ret, struct why *why) {
    struct wire_run copy = *run; /* only looked at */
    const struct wire_step *poll = run->poll.count > 0 ? run->poll.at : NULL;
    unsigned roots = names_roots(run->when) | names_roots(run->foreach);
    if (poll != NULL) roots |= names_roots(poll->until) | names_roots(poll->failed);
    enum err e = runtext_each(&copy, root_text, &roots, why);
    if (e == ERR_OK) *ret = roots;
    return e;
}

/* ---- filling in ---- */

struct rendering {
    const struct template_fill *how;
    struct arena *arena;
};

static enum err render(void *ctx, struct slice *text, enum template_into into, struct why *why) {
    const struct rendering *r = ctx;
    struct template_fill how = *r->how;
    struct buf out;
    how.into = into;
    if (text->len == 0 || memchr(text->ptr, '$', text->len) == NULL) return ERR_OK;
    buf_init(&out, WIRE_BODY_MAX);
    enum err e = template_render(*text, &how, &out, why);
    if (e == ERR_OK && out.full) e = why_set(why, ERR_LIMIT, "a text grows beyond %u bytes", WIRE_BODY_MAX);
    uint8_t *copy = e == ERR_OK ? arena_try(r->arena, out.len + 1) : NULL;
    if (e == ERR_OK && copy == NULL) e = why_set(why, ERR_LIMIT, "its texts are too long together");
    if (e == ERR_OK) {
        if (out.len > 0) memcpy(copy, out.at, out.len);
        *text = slice_of(copy, out.len);
    }
    buf_fini(&out);
    return e;
}

/* Lists may be shared with other jobs. */
static bool list_own(struct tlv_list *list, size_t item_bytes, struct arena *arena) {
    if (list->count == 0) return true;
    void *copy = arena_try(arena, item_bytes * list->count);
    if (copy == NULL) return false;
    memcpy(copy, list->at, item_bytes * list->count);
    list->at = copy;
    return true;
}

static bool http_own(struct tlv_list *list, struct arena *arena) {
    if (!list_own(list, sizeof(struct wire_http), arena)) return false;
    struct wire_http *http = list->at;
    return list->count == 0 || list_own(&http->headers, sizeof(struct wire_pair), arena);
}

static bool step_own(struct tlv_list *list, struct arena *arena) {
    if (!list_own(list, sizeof(struct wire_step), arena)) return false;
    struct wire_step *step = list->at;
    return list->count == 0 || (list_own(&step->argv, sizeof(struct wire_arg), arena) && http_own(&step->http, arena));
}

enum err runtext_render(struct wire_run *run, const struct template_fill *how, struct arena *arena, struct why *why) {
    int64_t steps = how->limits->eval_steps_max; /* a job has many texts, and is filled in in one go */
    struct template_fill own = *how;
    struct rendering r = {&own, arena};
    if (own.steps_left == NULL) own.steps_left = &steps;
    if (!list_own(&run->argv, sizeof(struct wire_arg), arena) ||
        !list_own(&run->env, sizeof(struct wire_pair), arena) ||
        !list_own(&run->artifacts, sizeof(struct wire_artifact), arena) || !http_own(&run->http, arena) ||
        !step_own(&run->submit, arena) || !step_own(&run->poll, arena))
        return why_set(why, ERR_LIMIT, "its texts are too long together");
    return runtext_each(run, render, &r, why);
}
