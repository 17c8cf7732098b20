/* spec_params.c: parameters of a flow file, and filling them in: `${params.NAME}` in any plain value. `$${params.NAME}`
 * stays as `${params.NAME}`. Values in which other templates may stand are read by spec_template.c. */
#include <stdio.h>

#include "json.h"
#include "spec_impl.h"
#include "spec_value.h"

#define OPENING "${params."

static struct spec_param *param_find(struct spec *s, struct slice name) {
    for (uint32_t i = 0; i < s->param_count; i++)
        if (slice_eq(s->params[i].name, name)) return &s->params[i];
    return NULL;
}

static const struct spec_param *param_near(struct spec *s, struct slice name) {
    for (uint32_t i = 0; i < s->param_count; i++)
        if (spec_is_near(name, s->params[i].name)) return &s->params[i];
    return NULL;
}

static bool name_is_good(struct slice name) {
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.ptr[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!good) return false;
    }
    return name.len > 0;
}

/* The default as if it had been given; a list or an object of the file becomes JSON. */
static enum err standard_given(struct spec *s, const struct spec_param *p, struct spec_given *ret) {
    const struct json_node *n = p->standard;
    struct buf out;
    struct json j;
    if (spec_is_plain(n) && !(n->kind == JSON_TEXT && p->type == SPEC_PARAM_JSON)) {
        *ret = (struct spec_given){.name = p->name, .value = spec_plain_text(n)};
        return ERR_OK;
    }
    buf_init(&out, 1u << 20);
    json_init(&j, &out);
    bool fits = json_tree_put(n, &j) && !out.full;
    uint8_t *copy = fits ? spec_alloc(s, out.len) : NULL;
    if (copy != NULL) memcpy(copy, out.at, out.len);
    *ret = (struct spec_given){.name = p->name, .value = slice_of(copy, out.len), .is_json = true};
    buf_fini(&out);
    return copy != NULL ? ERR_OK : spec_refuse(s, n->at, ERR_LIMIT, "a default that is too large or nested too deep");
}

static enum err param_take(struct spec *s, struct spec_param *p, const struct spec_given *g) {
    struct spec_param_value v;
    if (!spec_param_value(s, p, g, &v)) {
        if (p->type == SPEC_PARAM_ANY && p->standard != NULL && !g->is_json)
            return spec_refuse(s, p->at, ERR_INVALID, "parameter `%.*s` is %s in this flow, found `%.*s`",
                               SLICE_FMT(p->name), json_kind_word(p->standard->kind), SLICE_FMT(g->value));
        return spec_param_unfit(s, p, g->value);
    }
    p->has_value = true;
    p->is_late = false;
    p->kind = v.kind;
    p->truth = v.truth;
    p->value = v.text;
    return spec_param_fits(s, p, v.text);
}

/* A short form is the default: a plain value, or nothing. */
static enum err param_read(struct spec *s, const struct json_node *n, struct spec_param *ret) {
    struct spec_param p = {.name = n->key, .at = n->key_at};
    enum err e = ERR_OK;
    if (!name_is_good(n->key))
        return spec_refuse(s, n->key_at, ERR_INVALID, "the name of a parameter is letters, digits, `_` and `-`");
    if (n->kind == JSON_ARRAY)
        return spec_refuse(s, n->at, ERR_INVALID,
                           "expected a plain value or an object with `default`, found a list; a parameter that is a "
                           "list has `type: list` and its `default`");
    if (n->kind == JSON_OBJECT) e = spec_object_read(s, &spec_param_keys, n, 0, &p);
    if (e != ERR_OK) return e;
    if (spec_is_plain(n)) p.standard = n;
    if (p.standard != NULL) e = spec_default_check(s, p.standard, &p.is_late);
    if (e == ERR_OK) e = spec_param_type_read(s, &p);
    if (e != ERR_OK) return e;
    if (p.standard != NULL && p.type < SPEC_PARAM_LIST && !spec_is_plain(p.standard))
        return spec_refuse(s, p.standard->at, ERR_INVALID, "expected a plain value, found %s",
                           json_kind_word(p.standard->kind));
    if (p.is_late) {
        p.kind = JSON_TEXT;
        p.value = p.standard->text;
    }
    *ret = p;
    return ERR_OK;
}

static enum err param_give(struct spec *s, const struct spec_given *g) {
    struct spec_param *p = param_find(s, g->name);
    if (p != NULL) return param_take(s, p, g);
    const struct spec_param *near = param_near(s, g->name);
    if (near != NULL)
        return why_set(s->why, ERR_UNKNOWN_NAME, "%s: the flow has no parameter `%.*s`; did you mean `%.*s`?",
                       s->in->source.name, SLICE_FMT(g->name), SLICE_FMT(near->name));
    return why_set(s->why, ERR_UNKNOWN_NAME, "%s: the flow has no parameter `%.*s`%s", s->in->source.name,
                   SLICE_FMT(g->name), s->param_count == 0 ? "; it has no parameters" : "");
}

static enum err refuse_missing(struct spec *s, const struct spec_param *p) {
    char wanted[100] = "", how[100] = "";
    if (p->type != SPEC_PARAM_ANY || p->choices != NULL) {
        spec_param_wanted(p, wanted + 2, sizeof wanted - 3);
        memcpy(wanted, " (", 2);
        memcpy(wanted + strlen(wanted), ")", 2);
    }
    if (p->env.len > 0) snprintf(how, sizeof how, ", or set %.*s and pass --allow-env", SLICE_FMT(p->env));
    return spec_refuse(s, p->at, ERR_INVALID, "parameter `%.*s` is required%s: pass -p %.*s=VALUE%s",
                       SLICE_FMT(p->name), wanted, SLICE_FMT(p->name), how);
}

/* What was not given: from the surroundings of the caller, or its default. */
static enum err param_settle(struct spec *s, struct spec_param *p) {
    const struct spec_world *w = &s->in->world;
    struct spec_given from = {.name = p->name};
    if (p->has_value) return ERR_OK;
    if (w->param != NULL && w->param(w->ctx, p->name, p->env, &from.value)) return param_take(s, p, &from);
    if (p->standard == NULL) return refuse_missing(s, p);
    if (p->is_late && !s->in->has_slot && !s->in->grows)
        return spec_refuse(
            s, p->at, ERR_INVALID,
            "parameter `%.*s` gets its value from the slot of a schedule: pass -p %.*s=VALUE, or run the "
            "flow with `reeve schedule add`",
            SLICE_FMT(p->name), SLICE_FMT(p->name));
    if (p->is_late) return ERR_OK;
    enum err e = standard_given(s, p, &from);
    p->at = p->standard->at;
    return e == ERR_OK ? param_take(s, p, &from) : e;
}

enum err spec_params_read(struct spec *s) {
    const struct json_node *node = s->flow.params;
    enum err e = ERR_OK;
    if (node != NULL && node->kind != JSON_OBJECT)
        return spec_refuse(s, node->at, ERR_INVALID, "expected parameters with their values, found %s",
                           json_kind_word(node->kind));
    uint32_t count = node != NULL ? node->count : 0;
    s->params = spec_alloc(s, sizeof *s->params * count);
    if (s->params == NULL) return spec_full(s);
    for (const struct json_node *n = node != NULL ? node->first : NULL; e == ERR_OK && n != NULL; n = n->next)
        e = param_read(s, n, &s->params[s->param_count++]);
    for (uint32_t i = 0; e == ERR_OK && i < s->in->given_count; i++) e = param_give(s, &s->in->given[i]);
    for (uint32_t i = 0; e == ERR_OK && i < s->param_count; i++) e = param_settle(s, &s->params[i]);
    return e == ERR_OK ? spec_params_json(s) : e;
}

enum err spec_given_read(const struct json_node *object, struct arena *arena, struct spec_given **ret,
                         uint32_t *ret_count, struct why *why) {
    if (object->kind != JSON_OBJECT || object->count > SPEC_PARAMS_MAX)
        return why_set(why, ERR_INVALID, "params: expected an object of at most %u values", SPEC_PARAMS_MAX);
    struct spec_given *list = arena_try(arena, sizeof *list * (object->count + 1u));
    if (list == NULL) return why_set(why, ERR_LIMIT, "params: no memory for them");
    uint32_t count = 0;
    for (const struct json_node *n = object->first; n != NULL; n = n->next) {
        struct spec_given given = {.name = n->key, .is_json = !spec_is_plain(n)};
        struct buf text;
        struct json j;
        if (n->kind == JSON_NULL) continue;
        if (!given.is_json) {
            given.value = spec_plain_text(n);
            list[count++] = given;
            continue;
        }
        buf_init(&text, 1u << 20);
        json_init(&j, &text);
        bool fits = json_tree_put(n, &j) && !text.full;
        uint8_t *copy = fits ? arena_try(arena, text.len) : NULL;
        if (copy != NULL) memcpy(copy, text.at, text.len);
        given.value = slice_of(copy, text.len);
        buf_fini(&text);
        if (copy == NULL)
            return why_set(why, ERR_LIMIT, "params: `%.*s` is too large or nested too deep", SLICE_FMT(n->key));
        list[count++] = given;
    }
    *ret = list;
    *ret_count = count;
    return ERR_OK;
}

/* ---- filling in ---- */

/* The next `${params.NAME}` from `from` on; false: there is none. An escaped one counts, with *ret_escaped. */
static bool opening_find(struct slice text, size_t from, size_t *ret_at, bool *ret_escaped) {
    struct slice opening = SLICE(OPENING);
    for (size_t i = from; i + opening.len <= text.len; i++) {
        if (text.ptr[i] != '$' || memcmp(text.ptr + i, opening.ptr, opening.len) != 0) continue;
        *ret_at = i;
        *ret_escaped = i > from && text.ptr[i - 1] == '$';
        return true;
    }
    return false;
}

enum err spec_param_check(struct spec *s, uint32_t at, struct slice name) {
    if (param_find(s, name) != NULL) return ERR_OK;
    const struct spec_param *near = param_near(s, name);
    if (near != NULL)
        return spec_refuse(s, at, ERR_UNKNOWN_NAME, "there is no parameter `%.*s`; did you mean `%.*s`?",
                           SLICE_FMT(name), SLICE_FMT(near->name));
    return spec_refuse(s, at, ERR_UNKNOWN_NAME, "there is no parameter `%.*s`", SLICE_FMT(name));
}

static enum err reference(struct spec *s, const struct json_node *node, struct slice rest, size_t *ret_len,
                          const struct spec_param **ret) {
    const uint8_t *end = memchr(rest.ptr, '}', rest.len);
    if (end == NULL) return spec_refuse(s, node->at, ERR_INVALID, "`" OPENING "` without its `}`");
    struct slice name = slice_of(rest.ptr + sizeof OPENING - 1, (size_t)(end - rest.ptr) - (sizeof OPENING - 1));
    *ret_len = (size_t)(end - rest.ptr) + 1;
    *ret = param_find(s, name);
    if (*ret != NULL && (*ret)->is_late)
        return spec_refuse(
            s, node->at, ERR_UNSUPPORTED,
            "parameter `%.*s` is known when a slot has come, and not here: use it in `run`, `args`, `env` "
            "or an expression",
            SLICE_FMT(name));
    return spec_param_check(s, node->at, name);
}

static enum err fill_text(struct spec *s, const struct json_node *node, struct buf *out, struct spec_scalar *ret) {
    struct slice text = node->text;
    size_t at = 0, opening = 0;
    bool escaped = false;
    while (opening_find(text, at, &opening, &escaped)) {
        const struct spec_param *p = NULL;
        size_t len = 0;
        buf_put(out, text.ptr + at, opening - at - escaped);
        if (escaped) {
            buf_put(out, text.ptr + opening, 2);
            at = opening + 2;
            continue;
        }
        enum err e = reference(s, node, slice_of(text.ptr + opening, text.len - opening), &len, &p);
        if (e != ERR_OK) return e;
        if (opening == 0 && len == text.len) { /* nothing but the parameter: it stays a number or a truth */
            bool is_plain = p->kind == JSON_NUMBER || p->kind == JSON_BOOL;
            *ret = (struct spec_scalar){is_plain ? p->kind : JSON_TEXT, p->truth, p->value};
            return ERR_OK;
        }
        buf_put_slice(out, p->value);
        at = opening + len;
    }
    buf_put(out, text.ptr + at, text.len - at);
    uint8_t *copy = out->full ? NULL : spec_alloc(s, out->len);
    if (copy == NULL) return spec_full(s);
    memcpy(copy, slice_data(buf_slice(out)), out->len);
    *ret = (struct spec_scalar){JSON_TEXT, false, slice_of(copy, out->len)};
    return ERR_OK;
}

enum err spec_fill(struct spec *s, const struct json_node *node, struct spec_scalar *ret) {
    size_t at;
    bool escaped;
    if (node->kind != JSON_TEXT || !opening_find(node->text, 0, &at, &escaped)) {
        *ret = (struct spec_scalar){node->kind, node->truth, spec_plain_text(node)};
        return ERR_OK;
    }
    struct buf out;
    buf_init(&out, 1u << 24);
    enum err e = fill_text(s, node, &out, ret);
    buf_fini(&out);
    return e;
}
