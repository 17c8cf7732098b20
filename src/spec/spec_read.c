/* spec_read.c: values of the tree into structs, by the tables of spec_keys.h. */
#include <stdio.h>

#include "runtext.h"
#include "spec_impl.h"
#include "spec_value.h"

enum err spec_refuse(struct spec *s, uint32_t at, enum err e, const char *format, ...) {
    struct json_place place = json_place(s->in->source.text, at);
    va_list args;
    va_start(args, format);
    (void)why_vset(s->why, e, format, args);
    va_end(args);
    return why_wrap(s->why, e, "%s:%u:%u", s->in->source.name, place.line, place.column);
}

void *spec_alloc(struct spec *s, size_t bytes) {
    return arena_try(s->arena, bytes ? bytes : 1);
}

enum err spec_full(struct spec *s) {
    return why_set(s->why, ERR_LIMIT, "%s: the flow is too large to be held in memory", s->in->source.name);
}

/* ---- plain values ---- */

enum err spec_scalar(struct spec *s, const struct json_node *node, const char *wanted, struct spec_scalar *ret) {
    if (node->kind != JSON_TEXT && node->kind != JSON_NUMBER && node->kind != JSON_BOOL)
        return spec_refuse(s, node->at, ERR_INVALID, "expected %s, found %s", wanted, json_kind_word(node->kind));
    return spec_fill(s, node, ret);
}

enum err spec_text(struct spec *s, const struct json_node *node, const char *wanted, struct slice *ret) {
    struct spec_scalar v;
    enum err e = spec_scalar(s, node, wanted, &v);
    if (e == ERR_OK) *ret = v.text;
    return e;
}

static enum err unfit(struct spec *s, const struct json_node *node, const char *wanted, struct slice found) {
    if (found.len > 60) found.len = 60;
    return spec_refuse(s, node->at, ERR_INVALID, "expected %s, found `%.*s`", wanted, SLICE_FMT(found));
}

static bool fits_u32(int64_t v) {
    return v >= 0 && v <= UINT32_MAX;
}

static enum err read_count(struct spec *s, const struct spec_field *f, const struct json_node *node, uint32_t *ret) {
    struct spec_scalar v;
    int64_t n = 0;
    enum err e = spec_scalar(s, node, "a number", &v);
    if (e != ERR_OK) return e;
    if (!spec_number(v.text, &n) || !fits_u32(n) || (f->type == SPEC_RETRIES && n == UINT32_MAX))
        return unfit(s, node, "a whole number, 0 or more", v.text);
    *ret = f->type == SPEC_RETRIES ? (uint32_t)n + 1 : n == 0 ? f->zero_as : (uint32_t)n;
    return ERR_OK;
}

static enum err read_duration(struct spec *s, const struct spec_field *f, const struct json_node *node, void *to) {
    struct spec_scalar v;
    int64_t ms = 0;
    enum err e = spec_scalar(s, node, "a duration like 90s or 1h30m", &v);
    if (e != ERR_OK) return e;
    if (v.kind == JSON_NUMBER && spec_number(v.text, &ms) && ms != 0)
        return spec_refuse(s, node->at, ERR_INVALID, "expected a duration with its unit, like `%.*ss` or `%.*sm`",
                           SLICE_FMT(v.text), SLICE_FMT(v.text));
    if (!spec_duration(v.text, &ms)) return unfit(s, node, "a duration like 250ms, 90s, 5m, 1h30m or 2d", v.text);
    if (f->type == SPEC_MS64) {
        memcpy(to, &ms, sizeof ms);
        return ERR_OK;
    }
    if (!fits_u32(ms)) return unfit(s, node, "a duration below 49 days", v.text);
    uint32_t kept = ms == 0 ? f->zero_as : (uint32_t)ms;
    memcpy(to, &kept, sizeof kept);
    return ERR_OK;
}

static enum err read_moment(struct spec *s, const struct json_node *node, int64_t *ret) {
    struct spec_scalar v;
    int64_t ms = 0;
    enum err e = spec_scalar(s, node, "a time or a duration", &v);
    if (e != ERR_OK) return e;
    if (spec_time(v.text, ret)) return ERR_OK;
    if (!spec_duration(v.text, &ms) || ms > INT64_MAX / 4)
        return unfit(s, node, "a time like 2026-03-01T08:00:00Z, or a duration from now on like 2h", v.text);
    *ret = s->in->world.now_ms + ms;
    return ERR_OK;
}

static enum err read_bool(struct spec *s, const struct json_node *node, bool *ret) {
    struct spec_scalar v;
    enum err e = spec_scalar(s, node, "true or false", &v);
    if (e != ERR_OK) return e;
    if (v.kind != JSON_BOOL) return unfit(s, node, "true or false", v.text);
    *ret = v.truth;
    return ERR_OK;
}

static enum err read_size(struct spec *s, const struct json_node *node, uint64_t *ret) {
    struct spec_scalar v;
    enum err e = spec_scalar(s, node, "a size like 512MiB", &v);
    if (e == ERR_OK && !spec_size(v.text, ret)) return unfit(s, node, "a size like 64KiB, 512MiB or 2GiB", v.text);
    return e;
}

static enum err read_milli(struct spec *s, const struct json_node *node, uint32_t *ret) {
    struct spec_scalar v;
    enum err e = spec_scalar(s, node, "a number like 2 or 0.5", &v);
    if (e == ERR_OK && !spec_milli(v.text, ret)) return unfit(s, node, "a number like 2 or 0.5", v.text);
    return e;
}

static enum err read_priority(struct spec *s, const struct json_node *node, int64_t *ret) {
    struct spec_scalar v;
    enum err e = spec_scalar(s, node, "low, normal, high or a number", &v);
    if (e != ERR_OK) return e;
    if (slice_eq(v.text, SLICE("low")))
        *ret = -1;
    else if (slice_eq(v.text, SLICE("normal")))
        *ret = 0;
    else if (slice_eq(v.text, SLICE("high")))
        *ret = 1;
    else if (!spec_number(v.text, ret))
        return unfit(s, node, "low, normal, high or a number", v.text);
    return ERR_OK;
}

static enum err read_word(struct spec *s, const struct json_node *node, const char *const *words, uint8_t count,
                          enum spec_type type, uint8_t *ret) {
    struct spec_scalar v;
    enum err e = spec_scalar(s, node, spec_type_form(type), &v);
    if (e != ERR_OK) return e;
    for (uint8_t i = 0; i < count; i++)
        if (slice_eq(v.text, slice_str(words[i]))) {
            *ret = i;
            return ERR_OK;
        }
    return unfit(s, node, spec_type_form(type), v.text);
}

/* ---- lists ---- */

/* A text, or a list of them. */
enum err spec_names(struct spec *s, const struct json_node *node, struct tlv_list *ret) {
    bool is_list = node->kind == JSON_ARRAY;
    uint32_t count = is_list ? node->count : 1;
    struct wire_name *names = spec_alloc(s, sizeof *names * count);
    if (names == NULL) return spec_full(s);
    const struct json_node *item = is_list ? node->first : node;
    for (uint32_t i = 0; i < count; i++, item = item->next) {
        enum err e = spec_text(s, item, "a name or a list of names", &names[i].name);
        if (e != ERR_OK) return e;
    }
    *ret = (struct tlv_list){names, count};
    return ERR_OK;
}

enum err spec_args(struct spec *s, const struct json_node *node, bool of_script, struct tlv_list *ret) {
    if (node->kind != JSON_ARRAY)
        return spec_refuse(s, node->at, ERR_INVALID, "expected a list of arguments, found %s",
                           json_kind_word(node->kind));
    struct wire_arg *args = spec_alloc(s, sizeof *args * node->count);
    if (args == NULL) return spec_full(s);
    const struct json_node *item = node->first;
    for (uint32_t i = 0; i < node->count; i++, item = item->next) {
        enum err e =
            spec_template(s, item, "an argument", of_script ? INTO_TEXT : runtext_into(args, i), &args[i].text);
        if (e != ERR_OK) return e;
    }
    *ret = (struct tlv_list){args, node->count};
    return ERR_OK;
}

static enum err need_object(struct spec *s, const struct json_node *node, const char *what) {
    if (node->kind == JSON_OBJECT) return ERR_OK;
    return spec_refuse(s, node->at, ERR_INVALID, "expected %s, found %s", what, json_kind_word(node->kind));
}

/* What the defaults have stays, unless the same key comes again. */
static enum err read_pairs(struct spec *s, const struct json_node *node, bool templates, struct tlv_list *ret) {
    enum err e = need_object(s, node, "names with their values");
    if (e != ERR_OK) return e;
    struct wire_pair *list = spec_alloc(s, sizeof *list * ((size_t)ret->count + node->count));
    if (list == NULL) return spec_full(s);
    uint32_t kept = ret->count;
    if (kept > 0) memcpy(list, ret->at, sizeof *list * kept);
    uint32_t count = kept;
    for (const struct json_node *n = node->first; n != NULL; n = n->next) {
        struct slice value;
        e = templates ? spec_template(s, n, "a plain value", INTO_TEXT, &value)
                      : spec_text(s, n, "a plain value", &value);
        if (e != ERR_OK) return e;
        uint32_t at = 0;
        while (at < kept && !slice_eq(list[at].key, n->key)) at++;
        if (at == kept) at = count++;
        list[at] = (struct wire_pair){n->key, value};
    }
    *ret = (struct tlv_list){list, count};
    return ERR_OK;
}

static enum err read_amounts(struct spec *s, const struct json_node *node, struct tlv_list *ret) {
    enum err e = need_object(s, node, "names with their amounts");
    if (e != ERR_OK) return e;
    struct wire_amount *list = spec_alloc(s, sizeof *list * node->count);
    uint32_t count = 0;
    if (list == NULL) return spec_full(s);
    for (const struct json_node *n = node->first; n != NULL; n = n->next) {
        struct spec_scalar v;
        int64_t amount = 0;
        e = spec_scalar(s, n, "a number", &v);
        if (e != ERR_OK) return e;
        if (!spec_number(v.text, &amount) || amount < 0) return unfit(s, n, "a whole number, 0 or more", v.text);
        list[count++] = (struct wire_amount){n->key, (uint64_t)amount};
    }
    *ret = (struct tlv_list){list, count};
    return ERR_OK;
}

static enum err read_exits(struct spec *s, const struct json_node *node, struct tlv_u32s *ret) {
    bool is_list = node->kind == JSON_ARRAY;
    uint32_t count = is_list ? node->count : 1;
    uint32_t *list = spec_alloc(s, sizeof *list * count);
    if (list == NULL) return spec_full(s);
    const struct json_node *item = is_list ? node->first : node;
    for (uint32_t i = 0; i < count; i++, item = item->next) {
        struct spec_scalar v;
        int64_t n = 0;
        enum err e = spec_scalar(s, item, "an exit code or a list of them", &v);
        if (e != ERR_OK) return e;
        if (!spec_number(v.text, &n) || n < 1 || n > 255)
            return unfit(s, item, "an exit code between 1 and 255", v.text);
        list[i] = (uint32_t)n;
    }
    *ret = (struct tlv_u32s){list, count};
    return ERR_OK;
}

/* A word or a list of them, each a bit. */
static enum err read_bits(struct spec *s, const struct json_node *node, const char *const *words, uint8_t count,
                          const char *what, uint8_t *ret) {
    bool is_list = node->kind == JSON_ARRAY;
    const struct json_node *item = is_list ? node->first : node;
    uint8_t bits = 0;
    for (uint32_t i = 0; i < (is_list ? node->count : 1); i++, item = item->next) {
        struct slice word;
        enum err e = spec_text(s, item, what, &word);
        if (e != ERR_OK) return e;
        uint8_t bit = 0;
        while (bit < count && !slice_eq(word, slice_str(words[bit]))) bit++;
        if (bit == count) return unfit(s, item, what, word);
        bits |= (uint8_t)(1u << bit);
    }
    *ret = bits;
    return ERR_OK;
}

static enum err read_rights(struct spec *s, const struct json_node *node, uint8_t *ret) {
    static const char *const words[] = {"read", "submit"};
    return read_bits(s, node, words, 2, "`read` or `submit`", ret);
}

static enum err read_ends(struct spec *s, const struct json_node *node, uint8_t *ret) {
    static const char *const words[] = {"lost", "timeout", "exit"};
    if (node->kind == JSON_ARRAY && node->count == 0)
        return spec_refuse(s, node->at, ERR_INVALID, "an empty list; for no second attempt use `retries: 0`");
    return read_bits(s, node, words, 3, "`lost`, `timeout` or `exit`", ret);
}

/* ---- objects ---- */

static enum err read_field(struct spec *s, const struct spec_field *f, const struct json_node *node, unsigned where,
                           void *base) {
    void *to = (uint8_t *)base + f->offset;
    switch ((enum spec_type)f->type) {
    case SPEC_TEXT: return spec_text(s, node, "a text", to);
    case SPEC_TEMPLATE: return spec_template(s, node, "a text", INTO_TEXT, to);
    case SPEC_BOOL: return read_bool(s, node, to);
    case SPEC_COUNT:
    case SPEC_RETRIES: return read_count(s, f, node, to);
    case SPEC_MS32:
    case SPEC_MS64: return read_duration(s, f, node, to);
    case SPEC_MOMENT: return read_moment(s, node, to);
    case SPEC_SIZE: return read_size(s, node, to);
    case SPEC_MILLI: return read_milli(s, node, to);
    case SPEC_PRIORITY: return read_priority(s, node, to);
    case SPEC_UPSTREAM: return read_word(s, node, on_upstream_words, UPSTREAM_COUNT, SPEC_UPSTREAM, to);
    case SPEC_TRIGGER: return read_word(s, node, trigger_words, TRIGGER_COUNT, SPEC_TRIGGER, to);
    case SPEC_UPDATE: return read_word(s, node, update_words, UPDATE_COUNT, SPEC_UPDATE, to);
    case SPEC_UNDO_ON: return read_word(s, node, compensate_on_words, COMPENSATE_COUNT, SPEC_UNDO_ON, to);
    case SPEC_RIGHTS: return read_rights(s, node, to);
    case SPEC_ENDS: return read_ends(s, node, to);
    case SPEC_NAMES: return spec_names(s, node, to);
    case SPEC_PAIRS: return read_pairs(s, node, false, to);
    case SPEC_ENV: return read_pairs(s, node, true, to);
    case SPEC_AMOUNTS: return read_amounts(s, node, to);
    case SPEC_EXITS: return read_exits(s, node, to);
    case SPEC_OBJECT:
        if (node->kind == JSON_OBJECT) return spec_object_read(s, f->sub, node, where, base);
        if (node->kind == JSON_BOOL && node->truth) return ERR_OK; /* `approval: true` */
        return read_field(s, &f->sub->fields[0], node, where, base);
    case SPEC_NODE: *(const struct json_node **)to = node; return ERR_OK;
    case SPEC_TYPE_COUNT: break;
    }
    return ERR_OK;
}

static enum err unknown_key(struct spec *s, const struct spec_object *o, const struct json_node *n, unsigned where) {
    const struct spec_field *best = NULL;
    uint32_t distance = UINT32_MAX;
    for (uint32_t i = 0; i < o->count; i++) {
        const struct spec_field *f = &o->fields[i];
        uint32_t d = spec_distance(n->key, slice_str(f->key));
        bool allowed = f->where == 0 || where == 0 || (f->where & where);
        if (!allowed || d >= distance || !spec_is_near(n->key, slice_str(f->key))) continue;
        distance = d;
        best = f;
    }
    if (slice_eq(n->key, SLICE("<<")))
        return spec_refuse(s, n->key_at, ERR_UNKNOWN_NAME,
                           "merge keys are not supported: use `defaults` for what jobs share");
    if (best != NULL)
        return spec_refuse(s, n->key_at, ERR_UNKNOWN_NAME, "%s has no key `%.*s`; did you mean `%s`?", o->name,
                           SLICE_FMT(n->key), best->key);
    return spec_refuse(s, n->key_at, ERR_UNKNOWN_NAME, "%s has no key `%.*s`", o->name, SLICE_FMT(n->key));
}

enum err spec_object_read(struct spec *s, const struct spec_object *o, const struct json_node *node, unsigned where,
                          void *ret) {
    enum err e = need_object(s, node, o->name);
    for (const struct json_node *n = node->first; e == ERR_OK && n != NULL; n = n->next) {
        const struct spec_field *f = NULL;
        char first = n->key.len > 0 ? (char)n->key.ptr[0] : 0; /* most keys are told apart by it */
        for (uint32_t i = 0; i < o->count && f == NULL; i++)
            if (o->fields[i].key[0] == first && slice_eq(n->key, slice_str(o->fields[i].key))) f = &o->fields[i];
        if (f == NULL) return unknown_key(s, o, n, where);
        if (f->where != 0 && where != 0 && !(f->where & where))
            return spec_refuse(s, n->key_at, ERR_INVALID, "`%s` cannot stand in %s", f->key,
                               where == IN_DEFAULTS ? "defaults" : "a compensation");
        if (n->kind == JSON_NULL) continue; /* written, and left empty */
        *(uint32_t *)ret |= f->given;
        e = read_field(s, f, n, where, ret);
    }
    return e;
}
