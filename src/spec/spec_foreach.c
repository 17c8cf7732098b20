/* spec_foreach.c: the items of a foreach job. Whatever the file says becomes one expression, which the server evaluates
 * when the job is ready; so a list of the file costs nothing more than an expression, and what is evaluated has one set
 * of limits.
 *
 *     foreach: [a, 2]                            {"a", 2}
 *     foreach: {os: [linux, mac], n: params.n}   product("os", {"linux", "mac"}, "n", (params.n))
 *     foreach: {in: {…}, exclude: [{os: mac}]}   exclude(product(…), {{["os"] = "mac"}}) */
#include <stdio.h>

#include "expr.h"
#include "spec_impl.h"
#include "spec_value.h"

#define LISTS_MAX 8u /* as `product` has them (eval/expr_lib.c) */

/* ---- lists as expressions ---- */

static void lua_text(struct buf *out, struct slice text) {
    buf_put_u8(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f)
            buf_printf(out, "\\%03u", c);
        else
            buf_put_u8(out, c);
    }
    buf_put_u8(out, '"');
}

static enum err put_value(struct spec *s, const struct json_node *n, struct buf *out) {
    struct spec_scalar v = {0};
    if (n->is_member) {
        buf_put_u8(out, '[');
        lua_text(out, n->key);
        buf_put_slice(out, SLICE("] = "));
    }
    if (n->kind == JSON_ARRAY || n->kind == JSON_OBJECT) {
        buf_put_u8(out, '{');
        return ERR_OK;
    }
    if (n->kind == JSON_NULL) {
        buf_put_slice(out, SLICE("null"));
        return ERR_OK;
    }
    enum err e = spec_scalar(s, n, "a value", &v);
    if (e == ERR_OK && v.kind == JSON_TEXT)
        lua_text(out, v.text);
    else if (e == ERR_OK)
        buf_put_slice(out, v.text);
    return e;
}

/* Writes the list and all in it, going down and up with a stack of its own. */
static enum err put_list(struct spec *s, const struct json_node *list, struct buf *out) {
    const struct json_node *open[JSON_READ_DEPTH_MAX];
    uint32_t depth = 0;
    const struct json_node *n = list->first;
    buf_put_u8(out, '{');
    for (;;) {
        while (n == NULL) { /* a level is over */
            buf_put_u8(out, '}');
            if (depth == 0) return ERR_OK;
            n = open[--depth]->next;
            if (n != NULL) buf_put_slice(out, SLICE(", "));
        }
        enum err e = put_value(s, n, out);
        if (e != ERR_OK || out->full) return e;
        if (n->kind == JSON_ARRAY || n->kind == JSON_OBJECT) {
            if (depth == JSON_READ_DEPTH_MAX) return spec_refuse(s, n->at, ERR_LIMIT, "nested too deep");
            open[depth++] = n;
            n = n->first;
            continue;
        }
        n = n->next;
        if (n != NULL) buf_put_slice(out, SLICE(", "));
    }
}

/* ---- lists by name ---- */

/* A list as it stands, or an expression; in brackets, and a comment in it ends with its line. */
static enum err put_items(struct spec *s, const struct json_node *n, const char *of, struct buf *out) {
    struct slice text = {0};
    if (n->kind == JSON_ARRAY) return put_list(s, n, out);
    enum err e = spec_expression(s, n, of, &text);
    if (e != ERR_OK) return e;
    buf_put_u8(out, '(');
    buf_put_slice(out, text);
    buf_put_slice(out, SLICE("\n)"));
    return ERR_OK;
}

static enum err put_product(struct spec *s, const struct json_node *lists, struct buf *out) {
    enum err e = ERR_OK;
    if (lists->count == 0 || lists->count > LISTS_MAX)
        return spec_refuse(s, lists->at, ERR_INVALID, "expected 1 to %u lists by name, found %u", LISTS_MAX,
                           lists->count);
    buf_put_slice(out, SLICE("product("));
    for (const struct json_node *n = lists->first; e == ERR_OK && n != NULL; n = n->next) {
        if (n != lists->first) buf_put_slice(out, SLICE(", "));
        lua_text(out, n->key);
        buf_put_slice(out, SLICE(", "));
        e = put_items(s, n, "foreach", out);
    }
    buf_put_u8(out, ')');
    return e;
}

static enum err put_objects(struct spec *s, const struct json_node *n, const char *key, struct buf *out) {
    for (const struct json_node *one = n->kind == JSON_ARRAY ? n->first : NULL; one != NULL; one = one->next)
        if (one->kind != JSON_OBJECT)
            return spec_refuse(s, one->at, ERR_INVALID, "`%s` is a list of objects like {os: mac}, found %s in it", key,
                               json_kind_word(one->kind));
    return put_items(s, n, key, out);
}

static enum err put_named(struct spec *s, const struct spec_foreach *x, struct buf *out) {
    if (x->include != NULL) buf_put_slice(out, SLICE("concat("));
    if (x->exclude != NULL) buf_put_slice(out, SLICE("exclude("));
    enum err e = put_product(s, x->in, out);
    if (e == ERR_OK && x->exclude != NULL) {
        buf_put_slice(out, SLICE(", "));
        e = put_objects(s, x->exclude, "exclude", out);
        buf_put_u8(out, ')');
    }
    if (e == ERR_OK && x->include != NULL) {
        buf_put_slice(out, SLICE(", "));
        e = put_objects(s, x->include, "include", out);
        buf_put_u8(out, ')');
    }
    return e;
}

/* Lists are written as the expression that gives them. */
static enum err items_expression(struct spec *s, const struct spec_foreach *x, struct slice *ret) {
    struct why inner = {{0}};
    struct buf out;
    buf_init(&out, WIRE_TEXT_MAX);
    bool is_named = x->in->kind == JSON_OBJECT;
    enum err e = is_named ? put_named(s, x, &out) : put_list(s, x->in, &out);
    if (e == ERR_OK && out.full)
        e = spec_refuse(s, x->in->at, ERR_LIMIT,
                        "a list of more than %u bytes: let an earlier job write the items as its output",
                        WIRE_TEXT_MAX);
    if (e == ERR_OK && is_named && expr_check("foreach", buf_slice(&out), &s->limits, &inner) != ERR_OK)
        e = spec_refuse(s, x->in->at, ERR_INVALID, "each list is an expression, not statements: %s", inner.text);
    uint8_t *copy = e == ERR_OK ? spec_alloc(s, out.len) : NULL;
    if (e == ERR_OK && copy == NULL) e = spec_full(s);
    if (e == ERR_OK) {
        memcpy(copy, out.at, out.len);
        *ret = slice_of(copy, out.len);
    }
    buf_fini(&out);
    return e;
}

/* ---- all of it ---- */

static enum err read_allow(struct spec *s, const struct json_node *node, struct wire_options *o) {
    struct spec_scalar v;
    int64_t n = 0;
    if (node == NULL) return ERR_OK;
    enum err e = spec_scalar(s, node, "a number or a share like 10%", &v);
    if (e != ERR_OK) return e;
    bool share = v.text.len > 1 && v.text.ptr[v.text.len - 1] == '%';
    struct slice digits = share ? slice_of(v.text.ptr, v.text.len - 1) : v.text;
    if (!spec_number(digits, &n) || n < 0 || n > (share ? 100 : UINT32_MAX))
        return spec_refuse(s, node->at, ERR_INVALID, "expected a number or a share like 10%%, found `%.*s`",
                           SLICE_FMT(v.text));
    *(share ? &o->allow_percent : &o->allow_count) = (uint32_t)n;
    return ERR_OK;
}

/* `{os: […], version: …}` is the short form of `{in: {os: […], version: …}}`. */
static bool is_lists(const struct json_node *n) {
    for (const struct json_node *m = n->first; m != NULL; m = m->next)
        for (uint32_t i = 0; i < spec_foreach_keys.count; i++)
            if (slice_eq(m->key, slice_str(spec_foreach_keys.fields[i].key))) return false;
    return n->count > 0;
}

enum err spec_foreach_read(struct spec *s, struct spec_job *job) {
    struct spec_foreach x = {.in = job->foreach};
    enum err e = ERR_OK;
    if (job->foreach == NULL) return ERR_OK;
    if (job->foreach->kind == JSON_OBJECT && !is_lists(job->foreach)) {
        x.in = NULL;
        e = spec_object_read(s, &spec_foreach_keys, job->foreach, 0, &x);
        if (e == ERR_OK && x.in == NULL)
            e = spec_refuse(s, job->foreach->at, ERR_INVALID, "a foreach needs its items: `in`");
    }
    if (e != ERR_OK) return e;
    const struct json_node *of_lists = x.exclude != NULL ? x.exclude : x.include;
    if (of_lists != NULL && x.in->kind != JSON_OBJECT)
        return spec_refuse(s, of_lists->at, ERR_INVALID,
                           "`exclude` and `include` need lists by name in `in`, like {os: [linux, mac], n: [1, 2]}");
    job->o.gates |= GATE_BIT(GATE_EXPANSION);
    job->o.max_parallel = x.max_parallel;
    job->o.fail_fast = x.fail_fast;
    e = read_allow(s, x.allow, &job->o);
    if (e != ERR_OK) return e;
    bool is_list = x.in->kind == JSON_ARRAY || x.in->kind == JSON_OBJECT;
    return is_list ? items_expression(s, &x, &job->r.foreach) : spec_expression(s, x.in, "foreach", &job->r.foreach);
}
