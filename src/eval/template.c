/* template.c: see template.h. */
#include "template.h"

#include "expr.h"
#include "http_text.h"
#include "json.h"
#include "json_read.h"
#include "limit.h"
#include "names.h"

#define VALUE_ARENA_MAX ((size_t)1 << 30) /* taken only for a value with escapes in a large output */
#define VALUE_BYTES_MAX ((size_t)1 << 20) /* of an expression; no job is larger */

/* ---- parts ---- */

/* Is the `${` at `at` one of ours? */
static bool is_opening(struct slice text, size_t at) {
    if (at + 3 > text.len || text.ptr[at] != '$' || text.ptr[at + 1] != '{') return false;
    if (text.ptr[at + 2] == '=') return true;
    size_t to = at + 2;
    while (to < text.len && text.ptr[to] >= 'a' && text.ptr[to] <= 'z') to++;
    enum scope_root root = scope_root_of(slice_of(text.ptr + at + 2, to - at - 2));
    uint8_t next = to < text.len ? text.ptr[to] : 0;
    bool may_end = root == ROOT_ITEM || root == ROOT_INDEX || root == ROOT_PARAMS;
    return root != ROOT_COUNT && (next == '.' || next == '[' || (next == '}' && may_end));
}

/* The bracket that closes what was opened before `at`; text.len when there is none. */
static size_t closing(struct slice text, size_t at) {
    for (uint32_t depth = 0; at < text.len;) {
        size_t behind = names_skip(text, at);
        if (behind != at) {
            at = behind;
            continue;
        }
        if (text.ptr[at] == '}' && depth == 0) return at;
        depth += text.ptr[at] == '{';
        depth -= text.ptr[at] == '}';
        at++;
    }
    return text.len;
}

static enum err part_read(struct slice text, size_t at, struct template_part *ret, struct why *why) {
    bool is_expr = text.ptr[at + 2] == '=';
    size_t from = at + 2 + is_expr, to = from;
    if (is_expr) {
        to = closing(text, from);
    } else {
        while (to < text.len && text.ptr[to] != '}' && text.ptr[to] != '\n') to++;
        if (to < text.len && text.ptr[to] != '}') to = text.len;
    }
    struct slice inside = slice_of(text.ptr + from, to - from);
    if (to == text.len) {
        struct slice shown = inside.len > 40 ? slice_of(inside.ptr, 40) : inside;
        return why_set(why, ERR_INVALID, "`${%s%.*s` without its `}`", is_expr ? "=" : "", SLICE_FMT(shown));
    }
    struct path path;
    enum err e = is_expr ? ERR_OK : path_read(inside, &path, why);
    if (e != ERR_OK) return e;
    *ret = (struct template_part){.kind = is_expr ? PART_EXPR : PART_PATH,
                                  .whole = slice_of(text.ptr + at, to + 1 - at),
                                  .inside = inside,
                                  .stage = is_expr ? names_stage(inside) : scope_stage_of(path.root)};
    return ERR_OK;
}

enum err template_next(struct slice text, size_t *at, struct template_part *ret, bool *ret_over, struct why *why) {
    size_t from = *at, to = from;
    *ret_over = from >= text.len;
    if (*ret_over) return ERR_OK;
    if (is_opening(text, from)) {
        enum err e = part_read(text, from, ret, why);
        if (e == ERR_OK) *at = from + ret->whole.len;
        return e;
    }
    if (text.ptr[from] == '$' && is_opening(text, from + 1)) {
        *ret = (struct template_part){.kind = PART_ESCAPE, .whole = slice_of(text.ptr + from, 3)};
        *at = from + 3;
        return ERR_OK;
    }
    do {
        const uint8_t *dollar = to + 1 < text.len ? memchr(text.ptr + to + 1, '$', text.len - to - 1) : NULL;
        to = dollar == NULL ? text.len : (size_t)(dollar - text.ptr);
    } while (to < text.len && !is_opening(text, to) && !is_opening(text, to + 1));
    *ret = (struct template_part){.kind = PART_TEXT, .whole = slice_of(text.ptr + from, to - from)};
    *at = to;
    return ERR_OK;
}

enum err template_stages(struct slice text, unsigned *ret, struct why *why) {
    if (text.len == 0 || memchr(text.ptr, '$', text.len) == NULL) return ERR_OK;
    for (size_t at = 0;;) {
        struct template_part part;
        bool over;
        enum err e = template_next(text, &at, &part, &over, why);
        if (e != ERR_OK || over) return e;
        if (part.kind == PART_ESCAPE) *ret |= STAGE_ESCAPES;
        if (part.kind == PART_PATH || part.kind == PART_EXPR) *ret |= STAGE_BIT(part.stage);
    }
}

enum err template_roots(struct slice text, unsigned *ret, struct why *why) {
    if (text.len == 0 || memchr(text.ptr, '$', text.len) == NULL) return ERR_OK;
    for (size_t at = 0;;) {
        struct template_part part;
        struct path path;
        bool over;
        enum err e = template_next(text, &at, &part, &over, why);
        if (e == ERR_OK && !over && part.kind == PART_PATH) e = path_read(part.inside, &path, why);
        if (e != ERR_OK || over) return e;
        if (part.kind == PART_EXPR) *ret |= names_roots(part.inside);
        if (part.kind == PART_PATH) *ret |= ROOT_BIT(path.root);
    }
}

/* ---- values ---- */

static bool is_plain(struct slice value) {
    for (size_t i = 0; i < value.len; i++) {
        uint8_t c = value.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80 ||
                     (c != 0 && strchr("_-.,:/@%+=", c) != NULL);
        if (!plain) return false;
    }
    return true;
}

static struct slice shown(const struct template_part *part) {
    return part->whole.len > 60 ? slice_of(part->whole.ptr, 60) : part->whole;
}

enum err template_guard(const struct template_part *part, struct slice value, struct why *why) {
    if (is_plain(value)) return ERR_OK;
    return why_set(
        why, ERR_INVALID,
        "%.*s contains characters that a shell could read as commands: pass it in `env`, and write \"$NAME\"",
        SLICE_FMT(shown(part)));
}

static enum err not_a_word(const struct template_part *part, struct why *why) {
    return why_set(
        why, ERR_INVALID,
        "%.*s is part of an argument and contains characters that a program could read as code: make it an argument "
        "of its own, or pass it in `env`",
        SLICE_FMT(shown(part)));
}

/* A path is followed from the beginning of its text. One may be long; many long ones together are refused. */
static enum err path_charge(const struct template_fill *how, const struct path *path, struct why *why) {
    const struct scope *s = how->scope;
    size_t bytes = path->root == ROOT_PARAMS ? s->params.len : path->root == ROOT_ITEM ? s->item.len : s->flow.len;
    if (how->steps_left == NULL) return ERR_OK;
    for (uint32_t i = 0; path->root == ROOT_JOBS && i < s->job_count; i++)
        if (path->count > 0 && slice_eq(s->jobs[i].name, path->steps[0].name)) bytes = s->jobs[i].outputs.len;
    if (*how->steps_left < 0)
        return why_set(why, ERR_LIMIT, "the templates together take too many steps (eval_steps_max)");
    *how->steps_left -= (int64_t)(1 + bytes / 64 + s->job_count / 4);
    return ERR_OK;
}

static enum err path_value(const struct template_part *part, const struct template_fill *how, struct arena *arena,
                           struct slice *ret, struct why *why) {
    struct path path;
    struct slice json = {0};
    enum err e = path_read(part->inside, &path, why);
    if (e == ERR_OK) e = path_charge(how, &path, why);
    if (e == ERR_OK) e = scope_find(how->scope, &path, how->limits, arena, &json, why);
    if (e == ERR_OK) e = scope_text(json, how->limits, arena, ret, why);
    return e;
}

static enum err expr_value(const struct template_part *part, const struct template_fill *how, struct arena *arena,
                           struct slice *ret, struct why *why) {
    struct expr_input in = {.name = "${=}", .text = part->inside, .scope = how->scope, .limits = how->limits};
    in.steps_left = how->steps_left;
    struct buf out;
    buf_init(&out, VALUE_BYTES_MAX);
    enum err e = expr_text(&in, &out, why);
    if (e == ERR_OK) *ret = arena_slice(arena, buf_slice(&out));
    buf_fini(&out);
    return e;
}

void template_escape(struct slice text, struct buf *out) {
    size_t from = 0;
    if (text.len == 0) return;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_opening(text, i)) continue;
        buf_put(out, text.ptr + from, i - from);
        buf_put_u8(out, '$');
        from = i;
    }
    buf_put(out, text.ptr + from, text.len - from);
}

/* The value as it may stand in what it goes into. */
static enum err value_fit(struct slice text, const struct template_part *part, enum template_into into,
                          struct arena *arena, struct slice *value, struct why *why) {
    static const enum http_text_place places[] = {[INTO_URL] = HTTP_TEXT_URL,
                                                  [INTO_HEADER] = HTTP_TEXT_HEADER,
                                                  [INTO_BODY] = HTTP_TEXT_BODY,
                                                  [INTO_JSON] = HTTP_TEXT_JSON};
    bool is_whole = part->whole.len == text.len, is_first = part->whole.ptr == text.ptr;
    struct buf out;
    if (into == INTO_TEXT) return ERR_OK;
    if (into == INTO_PROGRAM || into == INTO_ARGUMENT) {
        if (is_whole || is_plain(*value)) return ERR_OK;
        return into == INTO_PROGRAM ? template_guard(part, *value, why) : not_a_word(part, why);
    }
    if (into == INTO_JOINED) return template_guard(part, *value, why);
    buf_init(&out, VALUE_BYTES_MAX * 6);
    enum err e = http_text_put(places[into], is_first, *value, &out, why);
    if (e == ERR_OK && out.full) e = why_set(why, ERR_LIMIT, "it is too long");
    if (e == ERR_OK) *value = http_text_still(buf_slice(&out), arena);
    buf_fini(&out);
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "%.*s", SLICE_FMT(shown(part)));
}

static enum err fill(struct slice text, const struct template_part *part, const struct template_fill *how,
                     struct buf *out, struct why *why) {
    struct arena arena;
    struct slice value = {0};
    arena_init(&arena, 4096, VALUE_ARENA_MAX);
    enum err e = part->kind == PART_PATH ? path_value(part, how, &arena, &value, why)
                                         : expr_value(part, how, &arena, &value, why);
    if (e != ERR_OK && part->kind == PART_PATH) why_wrap(why, e, "%.*s", SLICE_FMT(shown(part)));
    if (e == ERR_OK) e = value_fit(text, part, how->into, &arena, &value, why);
    if (e == ERR_OK && how->is_last)
        buf_put_slice(out, value);
    else if (e == ERR_OK)
        template_escape(value, out);
    arena_fini(&arena);
    return e;
}

static bool is_late(const struct scope *s, struct slice name) {
    bool found = name.len == 0; /* whichever it is */
    for (uint32_t i = 0; i < s->late_count; i++) found |= slice_eq(s->late[i], name);
    return found && s->late_count > 0;
}

enum scope_stage template_stage(const struct template_part *part, const struct scope *s) {
    struct name_ref ref;
    struct path path;
    struct why ignored;
    bool late = false;
    if (s->late_count == 0 || part->stage >= STAGE_READY) return part->stage;
    if (part->kind == PART_PATH && path_read(part->inside, &path, &ignored) == ERR_OK)
        late = is_late(s, path.count > 0 ? path.steps[0].name : (struct slice){0});
    for (size_t at = 0; part->kind == PART_EXPR && names_next(part->inside, &at, &ref);)
        late |= ref.root == ROOT_PARAMS && is_late(s, ref.name);
    return late ? STAGE_READY : part->stage;
}

enum err template_render(struct slice text, const struct template_fill *how, struct buf *out, struct why *why) {
    for (size_t at = 0;;) {
        struct template_part part;
        bool over;
        enum err e = template_next(text, &at, &part, &over, why);
        if (e != ERR_OK || over) return e;
        bool is_template = part.kind == PART_PATH || part.kind == PART_EXPR;
        if (is_template && template_stage(&part, how->scope) <= how->stage)
            e = fill(text, &part, how, out, why);
        else if (part.kind == PART_ESCAPE && how->is_last)
            buf_put_slice(out, slice_of(part.whole.ptr + 1, part.whole.len - 1));
        else
            buf_put_slice(out, part.whole);
        if (e != ERR_OK) return e;
    }
}

/* ---- parameters that a slot decides ---- */

static enum err late_put(const struct json_token *t, const struct template_fill *how, struct buf *out,
                         struct why *why) {
    struct buf value;
    struct json j;
    json_init(&j, out);
    json_text(&j, t->key);
    buf_put_u8(out, ':');
    buf_init(&value, VALUE_BYTES_MAX);
    enum err e = template_render(t->text, how, &value, why);
    json_init(&j, out);
    if (e == ERR_OK) json_text(&j, buf_slice(&value));
    buf_fini(&value);
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "parameter `%.*s`", SLICE_FMT(t->key));
}

enum err template_params(struct slice params, struct slice late, const struct template_fill *how, struct arena *arena,
                         struct slice *ret, struct why *why) {
    struct json_read r;
    const struct json_token *t;
    struct buf out;
    bool is_empty = params.len <= 2; /* {} */
    buf_init(&out, (size_t)how->limits->json_bytes_max);
    if (params.len > 0) buf_put(&out, params.ptr, params.len - 1);
    if (params.len == 0) buf_put_u8(&out, '{');
    json_read_init(&r, late, how->limits, arena, why);
    enum err e = json_read_next(&r, &t);
    while (e == ERR_OK && (e = json_read_next(&r, &t)) == ERR_OK && t->kind == JSON_TEXT) {
        if (!is_empty) buf_put_u8(&out, ',');
        is_empty = false;
        e = late_put(t, how, &out, why);
    }
    buf_put_u8(&out, '}');
    if (e == ERR_OK && out.full) e = why_set(why, ERR_LIMIT, "the parameters are too long together");
    if (e == ERR_OK) *ret = arena_slice(arena, buf_slice(&out));
    buf_fini(&out);
    return e;
}
