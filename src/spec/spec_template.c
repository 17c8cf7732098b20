/* spec_template.c: expressions and templates of a flow file (eval/): parameters are filled in, the rest is read, so
 * that what cannot be evaluated is refused with its place before anything runs. A job may use what another left only
 * when it needs that one. */
#include "expr.h"
#include "json.h"
#include "names.h"
#include "runtext.h"
#include "spec_impl.h"
#include "spec_value.h"

/* ---- the parameters as JSON, for expressions ---- */

static enum err text_keep(struct spec *s, struct buf *out, struct slice *ret) {
    uint8_t *copy = out->full ? NULL : spec_alloc(s, out->len);
    if (copy == NULL) return spec_full(s);
    if (out->len > 0) memcpy(copy, out->at, out->len);
    *ret = slice_of(copy, out->len);
    return ERR_OK;
}

static void param_write(const struct spec_param *p, struct buf *out) {
    struct json j;
    json_init(&j, out);
    json_text(&j, p->name);
    buf_put_u8(out, ':');
    json_init(&j, out);
    if (p->kind == JSON_TEXT)
        json_text(&j, p->value);
    else
        buf_put_slice(out, p->value);
}

/* The values that are known, or the templates of the others. */
static enum err params_write(struct spec *s, bool late, struct slice *ret) {
    struct buf out;
    buf_init(&out, 1u << 24);
    buf_put_u8(&out, '{');
    for (uint32_t i = 0; i < s->param_count; i++) {
        if (s->params[i].is_late != late) continue;
        if (out.len > 1) buf_put_u8(&out, ',');
        param_write(&s->params[i], &out);
    }
    buf_put_u8(&out, '}');
    enum err e = text_keep(s, &out, ret);
    buf_fini(&out);
    return e;
}

/* A slot as any other: what it decides is tried out while the file is read, so that a mistake does not wait for the
 * night. */
#define SLOT_SAMPLE SLICE("{\"name\":\"any\",\"slot\":\"2026-01-01T00:00:00Z\",\"date\":\"2026-01-01\"}")
#define TRIGGER_SAMPLE SLICE("{\"key\":\"any\",\"value\":\"\",\"change\":\"changed\",\"version\":1,\"count\":1}")
#define SLOT_ROOTS (ROOT_BIT(ROOT_SCHEDULE) | ROOT_BIT(ROOT_TRIGGER)) /* what only a schedule's flow has */

/* What a slot decides is of its type for some slot, too. */
static enum err check_late(struct spec *s) {
    const struct json_node *all = NULL;
    struct why inner = {{0}};
    enum err e = json_tree_read(s->rehearsed_json, &s->limits, s->arena, &all, &inner);
    for (uint32_t i = 0; e == ERR_OK && i < s->param_count; i++) {
        const struct spec_param *p = &s->params[i];
        struct spec_param_value unused;
        if (!p->is_late) continue;
        struct spec_given given = {.value = json_tree_get(all, p->name)->text};
        if (!spec_param_value(s, p, &given, &unused)) e = spec_param_unfit(s, p, given.value);
    }
    return e;
}

enum err spec_params_json(struct spec *s) {
    struct scope scope = {.schedule = SLOT_SAMPLE, .trigger = TRIGGER_SAMPLE};
    struct template_fill how = {.scope = &scope, .limits = &s->limits, .stage = STAGE_READY, .is_last = true};
    struct why inner = {{0}};
    how.steps_left = &s->eval_steps_left;
    s->late = spec_alloc(s, sizeof *s->late * s->param_count);
    if (s->late == NULL) return spec_full(s);
    for (uint32_t i = 0; i < s->param_count; i++)
        if (s->params[i].is_late) s->late[s->late_count++] = s->params[i].name;
    enum err e = params_write(s, false, &s->params_json);
    s->rehearsed_json = s->params_json;
    if (e == ERR_OK && s->late_count > 0) e = params_write(s, true, &s->late_json);
    if (e != ERR_OK || s->late_count == 0) return e;
    e = template_params(s->params_json, s->late_json, &how, s->arena, &s->rehearsed_json, &inner);
    return e == ERR_OK ? check_late(s) : spec_refuse(s, s->flow.params->at, e, "%s", inner.text);
}

/* What an expression or a template of the file may look at while it is read. */
static struct scope scope_of(const struct spec *s) {
    return (struct scope){.params = s->params_json, .late = s->late, .late_count = s->late_count};
}

/* ---- the slot ---- */

enum err spec_default_check(struct spec *s, const struct json_node *standard, bool *ret_is_late) {
    struct why inner = {{0}};
    unsigned roots = 0;
    *ret_is_late = false;
    if (standard->kind != JSON_TEXT || template_roots(standard->text, &roots, &inner) != ERR_OK) return ERR_OK;
    if ((roots & SLOT_ROOTS) == 0) return ERR_OK; /* then it is the text that it is */
    if ((roots & ~SLOT_ROOTS) != 0)
        return spec_refuse(s, standard->at, ERR_UNSUPPORTED,
                           "a default can use `schedule` and nothing else but `trigger`");
    *ret_is_late = true;
    return ERR_OK;
}

static enum err check_slot(struct spec *s, uint32_t at, unsigned roots) {
    if ((roots & SLOT_ROOTS) == 0 || s->in->has_slot || s->in->grows) return ERR_OK;
    return spec_refuse(s, at, ERR_INVALID,
                       "`%s` is known only in flows that a schedule makes: run this one with `reeve schedule add`, "
                       "or make a parameter whose default uses it",
                       roots & ROOT_BIT(ROOT_SCHEDULE) ? "schedule" : "trigger");
}

/* What needs a slot and nothing else beside it, with some slot. */
static enum err rehearse(struct spec *s, uint32_t at, struct slice text, enum template_into into) {
    struct scope scope = {.params = s->rehearsed_json, .schedule = SLOT_SAMPLE, .trigger = TRIGGER_SAMPLE};
    struct template_fill how = {.scope = &scope, .limits = &s->limits, .stage = STAGE_READY, .is_last = true};
    struct why inner = {{0}};
    unsigned roots = 0;
    enum err e = template_roots(text, &roots, &inner);
    if (e == ERR_OK) e = check_slot(s, at, roots);
    if (e != ERR_OK || roots == 0 || (roots & ~(SLOT_ROOTS | ROOT_BIT(ROOT_PARAMS))) != 0) return e;
    struct buf out;
    how.steps_left = &s->eval_steps_left;
    how.into = into;
    buf_init(&out, 1u << 24);
    e = template_render(text, &how, &out, &inner);
    buf_fini(&out);
    return e == ERR_OK ? ERR_OK : spec_refuse(s, at, e, "%s", inner.text);
}

/* ---- names ---- */

static enum err check_params(struct spec *s, uint32_t at, struct slice text) {
    struct name_ref ref;
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && names_next(text, &i, &ref);)
        if (ref.root == ROOT_PARAMS && ref.name.len > 0) e = spec_param_check(s, at, ref.name);
    return e;
}

static enum err check_part(struct spec *s, uint32_t at, const struct template_part *part) {
    struct why inner = {{0}};
    struct path path;
    if (part->kind == PART_EXPR) {
        enum err e = expr_check("${=}", part->inside, &s->limits, &inner);
        return e == ERR_OK ? check_params(s, at, part->inside) : spec_refuse(s, at, e, "%s", inner.text);
    }
    if (part->kind != PART_PATH) return ERR_OK;
    enum err e = path_read(part->inside, &path, &inner);
    if (e != ERR_OK) return spec_refuse(s, at, e, "%s", inner.text);
    bool named = path.root == ROOT_PARAMS && path.count > 0 && !path.steps[0].is_number;
    return named ? spec_param_check(s, at, path.steps[0].name) : ERR_OK;
}

/* ---- texts ---- */

static enum err plain_of(struct spec *s, const struct json_node *node, const char *wanted, struct slice *ret) {
    if (node->kind != JSON_TEXT && node->kind != JSON_NUMBER && node->kind != JSON_BOOL)
        return spec_refuse(s, node->at, ERR_INVALID, "expected %s, found %s", wanted, json_kind_word(node->kind));
    *ret = node->kind == JSON_BOOL ? node->truth ? SLICE("true") : SLICE("false") : node->text;
    return ERR_OK;
}

enum err spec_template(struct spec *s, const struct json_node *node, const char *wanted, enum template_into into,
                       struct slice *ret) {
    struct scope scope = scope_of(s);
    struct template_fill how = {.scope = &scope, .limits = &s->limits, .stage = STAGE_SUBMIT, .into = into};
    how.steps_left = &s->eval_steps_left;
    struct why inner = {{0}};
    struct slice text;
    struct buf out;
    enum err e = plain_of(s, node, wanted, &text);
    if (e != ERR_OK) return e;
    *ret = text;
    if (text.len == 0 || memchr(text.ptr, '$', text.len) == NULL) return ERR_OK;
    for (size_t at = 0;;) {
        struct template_part part;
        bool over;
        e = template_next(text, &at, &part, &over, &inner);
        if (e != ERR_OK) return spec_refuse(s, node->at, e, "%s", inner.text);
        if (over) break;
        e = check_part(s, node->at, &part);
        if (e != ERR_OK) return e;
    }
    buf_init(&out, 1u << 24);
    e = template_render(text, &how, &out, &inner);
    e = e == ERR_OK ? text_keep(s, &out, ret) : spec_refuse(s, node->at, e, "%s", inner.text);
    buf_fini(&out);
    return e == ERR_OK ? rehearse(s, node->at, *ret, into) : e;
}

/* `at` is behind the `$${` of an escape. */
static bool is_params_escape(struct slice text, size_t at) {
    return text.len - at > 7 && memcmp(text.ptr + at, "params", 6) == 0;
}

/* A script is no template: its `${item}` is its own. Only parameters are filled in, as everywhere in the file. */
enum err spec_script_text(struct spec *s, const struct json_node *node, struct slice *ret) {
    struct scope scope = scope_of(s);
    struct template_fill how = {.scope = &scope, .limits = &s->limits, .is_last = true};
    how.steps_left = &s->eval_steps_left;
    struct why inner = {{0}};
    struct slice text;
    struct buf out;
    enum err e = plain_of(s, node, "a text", &text);
    if (e != ERR_OK) return e;
    buf_init(&out, 1u << 24);
    for (size_t at = 0; e == ERR_OK;) {
        struct template_part part;
        bool over;
        e = template_next(text, &at, &part, &over, &inner);
        if (e != ERR_OK) e = spec_refuse(s, node->at, e, "%s", inner.text);
        if (e != ERR_OK || over) break;
        enum scope_stage stage = template_stage(&part, &scope);
        bool is_params = part.kind == PART_PATH && stage == STAGE_SUBMIT;
        if (part.kind == PART_EXPR || (part.kind == PART_PATH && stage == STAGE_READY)) {
            e = spec_refuse(s, node->at, ERR_UNSUPPORTED, "%.*s in a script: pass it in `args` or `env`",
                            SLICE_FMT(part.whole));
        } else if (is_params) {
            size_t before = out.len;
            e = check_part(s, node->at, &part);
            if (e != ERR_OK) break;
            e = template_render(part.whole, &how, &out, &inner);
            if (e == ERR_OK) e = template_guard(&part, slice_of(out.at + before, out.len - before), &inner);
            if (e != ERR_OK) e = spec_refuse(s, node->at, e, "%s", inner.text);
        } else if (part.kind == PART_ESCAPE && is_params_escape(text, at)) {
            buf_put_slice(&out, SLICE("${"));
        } else {
            buf_put_slice(&out, part.whole);
        }
    }
    if (e == ERR_OK) e = text_keep(s, &out, ret);
    buf_fini(&out);
    return e;
}

enum err spec_escape(struct spec *s, struct slice *text) {
    struct buf out;
    if (text->len == 0 || memchr(text->ptr, '$', text->len) == NULL) return ERR_OK;
    buf_init(&out, 1u << 24);
    template_escape(*text, &out);
    enum err e = text_keep(s, &out, text);
    buf_fini(&out);
    return e;
}

enum err spec_expression(struct spec *s, const struct json_node *node, const char *name, struct slice *ret) {
    struct why inner = {{0}};
    struct slice text;
    enum err e = plain_of(s, node, "an expression", &text);
    if (e != ERR_OK) return e;
    if (memmem(slice_data(text), text.len, "${", 2) != NULL)
        return spec_refuse(s, node->at, ERR_INVALID, "this is an expression already: params.NAME, not ${params.NAME}");
    e = expr_check(name, text, &s->limits, &inner);
    if (e != ERR_OK) return spec_refuse(s, node->at, e, "%s", inner.text);
    e = check_params(s, node->at, text);
    if (e == ERR_OK) e = check_slot(s, node->at, names_roots(text));
    if (e == ERR_OK) *ret = text;
    return e;
}

/* ---- a job with all its texts ---- */

enum err spec_job_templates(struct spec *s, struct spec_job *job, bool is_undo) {
    struct why inner = {{0}};
    unsigned stages = 0;
    unsigned roots = 0;
    enum err e = runtext_stages(&job->r, &stages, &inner);
    if (e == ERR_OK) e = runtext_roots(&job->r, &roots, &inner);
    if (e != ERR_OK) return spec_refuse(s, job->at, e, "%s", inner.text);
    /* A parameter that is still there is one of those that a slot decides. */
    if (stages & STAGE_BIT(STAGE_SUBMIT)) stages |= STAGE_BIT(STAGE_READY);
    bool of_items = stages & STAGE_BIT(STAGE_CHILD), of_jobs = stages & STAGE_BIT(STAGE_READY);
    if (is_undo && (of_items || of_jobs))
        return spec_refuse(s, job->at, ERR_UNSUPPORTED, "a compensation has no templates; it gets $REEVE_INPUTS");
    if (of_items && job->foreach == NULL)
        return spec_refuse(s, job->at, ERR_INVALID, "`${item}` needs a `foreach`; for a shell variable write $${item}");
    if (roots & ROOT_BIT(ROOT_PARAMS)) {
        job->r.params = s->params_json;
        job->r.late = s->late_json;
    }
    /* Items are filled in when the children are handed out, one by one. */
    if (of_jobs) job->o.gates |= GATE_BIT(GATE_RENDER);
    if (of_items || of_jobs || stages == 0) return ERR_OK;
    struct scope none = {0};
    struct template_fill how = {.scope = &none, .limits = &s->limits, .is_last = true};
    e = runtext_render(&job->r, &how, s->arena, &inner);
    return e == ERR_OK ? ERR_OK : spec_refuse(s, job->at, e, "%s", inner.text);
}

/* ---- jobs that are named ---- */

struct spec_uses {
    struct spec *s;
    const struct spec_job *job;
    const uint32_t *parents; /* positions of jobs */
    uint32_t parent_count;
    const struct tlv_list *foreign; /* of wire_name: needs that are not in the file */
};

bool spec_is_there(const struct spec *s, const struct tlv_list *foreign, struct slice name) {
    const struct wire_name *list = foreign->at;
    for (uint32_t i = 0; s->in->grows && i < foreign->count; i++)
        if (slice_eq(list[i].name, name)) return true;
    return false;
}

static enum err check_job(void *ctx, enum runtext_where where, struct slice name, struct why *why) {
    const struct spec_uses *u = ctx;
    const struct spec_job *job = u->job;
    uint32_t at = where == IN_WHEN ? job->when->at : where == IN_FOREACH ? job->foreach->at : job->at;
    uint32_t position = spec_job_find(u->s, name);
    (void)why; /* the same as the flow's */
    if (name.len == 0) return ERR_OK;
    if (position == 0 && spec_is_there(u->s, u->foreign, name)) return ERR_OK;
    if (position == 0) return spec_job_unknown(u->s, at, name);
    for (uint32_t k = 0; k < u->parent_count; k++)
        if (u->parents[k] == position - 1) return ERR_OK;
    bool is_over = job->o.stage != FLOW_STAGE_MAIN && u->s->jobs[position - 1].o.stage == FLOW_STAGE_MAIN;
    if (is_over) return ERR_OK;
    return spec_refuse(u->s, at, ERR_INVALID, "it uses outputs of `%.*s`: add that job to `needs`", SLICE_FMT(name));
}

enum err spec_uses_check(struct spec *s, const struct spec_job *job, const uint32_t *parents, uint32_t parent_count,
                         const struct tlv_list *foreign) {
    unsigned asked = GATE_BIT(GATE_CONDITION) | GATE_BIT(GATE_EXPANSION) | GATE_BIT(GATE_RENDER);
    struct spec_uses u = {s, job, parents, parent_count, foreign};
    return job->o.gates & asked ? runtext_jobs(&job->r, check_job, &u, s->why) : ERR_OK;
}
