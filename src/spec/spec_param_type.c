/* spec_param_type.c: what a parameter of a flow file may be: its type, its bounds, its choices, its pattern.
 *
 * A value comes as a text (from a command line, a query, a form) or as JSON, and means the same either way: the type
 * reads it. What it then is, is JSON in expressions and a text where it is filled in:
 *
 *     integer   "007"          7
 *     date      "2026-03-31"   "2026-03-31"
 *     list      "[1, 2]"       [1,2]
 *
 * All of it has a counterpart in JSON Schema: type and format, enum, minimum and maximum, pattern (ADR 0137). */
#include <inttypes.h>
#include <stdio.h>

#include "civil.h"
#include "json.h"
#include "panic.h"
#include "regexp.h"
#include "spec_impl.h"
#include "spec_value.h"
#include "utf8.h"

#define VALUE_SHOWN_MAX 60u
#define JSON_VALUE_MAX ((size_t)1 << 20)

static const struct {
    const char *word, *wanted;
    bool is_ordered, is_text;
} types[SPEC_PARAM_TYPE_COUNT] = {
#define X(name, word, wanted, is_ordered, is_text) {word, wanted, is_ordered, is_text},
    SPEC_PARAM_TABLE(X)
#undef X
};

static struct slice shown(struct slice value) {
    return utf8_cut(value, VALUE_SHOWN_MAX);
}

bool spec_is_plain(const struct json_node *n) {
    return n->kind == JSON_TEXT || n->kind == JSON_NUMBER || n->kind == JSON_BOOL;
}

struct slice spec_plain_text(const struct json_node *n) {
    if (n->kind == JSON_BOOL) return n->truth ? SLICE("true") : SLICE("false");
    return n->text;
}

/* ---- values ---- */

/* Exactly what RFC 8259 calls a number: it goes into JSON as it is. */
static bool is_json_number(struct slice text) {
    size_t i = text.len > 0 && text.ptr[0] == '-', from = i;
    while (i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9') i++;
    if (i == from || (text.ptr[from] == '0' && i > from + 1)) return false;
    if (i < text.len && text.ptr[i] == '.') {
        from = ++i;
        while (i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9') i++;
        if (i == from) return false;
    }
    if (i < text.len && (text.ptr[i] | 0x20) == 'e') {
        i++;
        i += i < text.len && (text.ptr[i] == '+' || text.ptr[i] == '-');
        from = i;
        while (i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9') i++;
        if (i == from) return false;
    }
    double value;
    return i == text.len && json_number_f64(text, &value) == ERR_OK;
}

struct param_place { /* of a value of an ordered type among the others */
    int64_t whole;
    double fraction;
};

static bool place_of(uint8_t type, struct slice text, struct param_place *ret) {
    bool is_utc;
    *ret = (struct param_place){0};
    switch ((enum spec_param_type)type) {
    case SPEC_PARAM_INTEGER: return json_number_i64(text, &ret->whole) == ERR_OK;
    case SPEC_PARAM_NUMBER: return is_json_number(text) && json_number_f64(text, &ret->fraction) == ERR_OK;
    case SPEC_PARAM_DATE: return text.len == 10 && civil_read(text, &ret->whole, &is_utc);
    case SPEC_PARAM_TIME: return spec_time(text, &ret->whole);
    case SPEC_PARAM_DURATION: return spec_duration(text, &ret->whole);
    case SPEC_PARAM_ANY:
    case SPEC_PARAM_STRING:
    case SPEC_PARAM_BOOLEAN:
    case SPEC_PARAM_LIST:
    case SPEC_PARAM_OBJECT:
    case SPEC_PARAM_JSON:
    case SPEC_PARAM_TYPE_COUNT: break;
    }
    return false;
}

static int place_compare(struct param_place a, struct param_place b) {
    if (a.whole != b.whole) return a.whole < b.whole ? -1 : 1;
    return a.fraction < b.fraction ? -1 : a.fraction > b.fraction;
}

static bool json_value(struct spec *s, const struct spec_param *p, struct slice text, struct spec_param_value *ret) {
    const struct json_node *n = NULL;
    struct why ignored;
    struct buf out;
    struct json j;
    if (json_tree_read(text, &s->limits, s->arena, &n, &ignored) != ERR_OK) return false;
    if (p->type == SPEC_PARAM_LIST && n->kind != JSON_ARRAY) return false;
    if (p->type == SPEC_PARAM_OBJECT && n->kind != JSON_OBJECT) return false;
    if (spec_is_plain(n) || n->kind == JSON_NULL) {
        *ret = (struct spec_param_value){n->kind, n->truth, n->kind == JSON_NULL ? SLICE("null") : spec_plain_text(n)};
        return true;
    }
    buf_init(&out, JSON_VALUE_MAX);
    json_init(&j, &out);
    bool good = json_tree_put(n, &j) && !out.full;
    uint8_t *copy = good ? spec_alloc(s, out.len) : NULL;
    if (copy != NULL) {
        memcpy(copy, out.at, out.len);
        *ret = (struct spec_param_value){n->kind, false, slice_of(copy, out.len)};
    }
    buf_fini(&out);
    return copy != NULL;
}

static bool integer_value(struct spec *s, struct slice text, struct spec_param_value *ret) {
    int64_t value;
    char *digits = spec_alloc(s, 24);
    if (digits == NULL || json_number_i64(text, &value) != ERR_OK) return false;
    int len = snprintf(digits, 24, "%" PRId64, value); /* without zeros before it, which JSON does not know */
    *ret = (struct spec_param_value){JSON_NUMBER, false, slice_of(digits, (size_t)len)};
    return true;
}

/* Of a parameter without a type: what its default is, or else what it looks like. */
static bool any_value(const struct spec_param *p, struct slice text, struct spec_param_value *ret) {
    bool is_bool = slice_eq(text, SLICE("true")) || slice_eq(text, SLICE("false"));
    uint8_t kind = is_bool ? JSON_BOOL : is_json_number(text) ? JSON_NUMBER : JSON_TEXT;
    uint8_t wanted = p->standard != NULL ? p->standard->kind : kind;
    if (wanted == JSON_TEXT) kind = JSON_TEXT;
    if (kind != wanted) return false;
    *ret = (struct spec_param_value){kind, slice_eq(text, SLICE("true")), text};
    return true;
}

bool spec_param_value(struct spec *s, const struct spec_param *p, const struct spec_given *from,
                      struct spec_param_value *ret) {
    struct slice text = from->value;
    struct param_place place;
    bool truth = slice_eq(text, SLICE("true"));
    bool takes_json = p->type == SPEC_PARAM_LIST || p->type == SPEC_PARAM_OBJECT || p->type == SPEC_PARAM_JSON;
    if (takes_json) return json_value(s, p, text, ret);
    if (from->is_json) return false;
    switch ((enum spec_param_type)p->type) {
    case SPEC_PARAM_ANY: return any_value(p, text, ret);
    case SPEC_PARAM_INTEGER: return integer_value(s, text, ret);
    case SPEC_PARAM_BOOLEAN:
        if (!truth && !slice_eq(text, SLICE("false"))) return false;
        *ret = (struct spec_param_value){JSON_BOOL, truth, text};
        return true;
    case SPEC_PARAM_NUMBER:
    case SPEC_PARAM_DATE:
    case SPEC_PARAM_TIME:
    case SPEC_PARAM_DURATION:
        if (!place_of(p->type, text, &place)) return false;
        *ret = (struct spec_param_value){p->type == SPEC_PARAM_NUMBER ? JSON_NUMBER : JSON_TEXT, false, text};
        return true;
    case SPEC_PARAM_STRING: *ret = (struct spec_param_value){JSON_TEXT, false, text}; return true;
    case SPEC_PARAM_LIST:
    case SPEC_PARAM_OBJECT:
    case SPEC_PARAM_JSON:
    case SPEC_PARAM_TYPE_COUNT: break;
    }
    return false;
}

/* ---- what is expected ---- */

static size_t put(char *to, size_t size, size_t len, const char *format, ...) __attribute__((format(printf, 4, 5)));

static size_t put(char *to, size_t size, size_t len, const char *format, ...) {
    va_list args;
    if (len >= size) return len;
    va_start(args, format);
    int n = vsnprintf(to + len, size - len, format, args);
    va_end(args);
    return n < 0 ? len : len + (size_t)n;
}

static void choices_text(const struct spec_param *p, char *ret, size_t size) {
    size_t len = put(ret, size, 0, "one of ");
    for (const struct json_node *c = p->choices->first; c != NULL; c = c->next)
        len = put(ret, size, len, "%s%.*s", c == p->choices->first ? "" : ", ", SLICE_FMT(shown(spec_plain_text(c))));
}

void spec_param_wanted(const struct spec_param *p, char *ret, size_t size) {
    struct slice min = p->min != NULL ? spec_plain_text(p->min) : (struct slice){0},
                 max = p->max != NULL ? spec_plain_text(p->max) : (struct slice){0};
    bool is_when = p->type == SPEC_PARAM_DATE || p->type == SPEC_PARAM_TIME;
    if (p->choices != NULL) {
        choices_text(p, ret, size);
        return;
    }
    size_t len = put(ret, size, 0, "%s", types[p->type].wanted);
    if (p->pattern != NULL) len = put(ret, size, len, " that fits `%.*s`", SLICE_FMT(p->pattern->text));
    if (min.len > 0 && max.len > 0)
        len = put(ret, size, len, " from %.*s to %.*s", SLICE_FMT(min), SLICE_FMT(max));
    else if (min.len > 0)
        len = put(ret, size, len, ", %.*s or %s", SLICE_FMT(min), is_when ? "later" : "more");
    else if (max.len > 0)
        len = put(ret, size, len, ", %.*s or %s", SLICE_FMT(max), is_when ? "earlier" : "less");
}

static struct slice choice_near(const struct spec_param *p, struct slice value) {
    for (const struct json_node *c = p->choices != NULL ? p->choices->first : NULL; c != NULL; c = c->next)
        if (spec_is_near(value, spec_plain_text(c))) return spec_plain_text(c);
    return (struct slice){0};
}

enum err spec_param_unfit(struct spec *s, const struct spec_param *p, struct slice value) {
    char wanted[160], near[VALUE_SHOWN_MAX + 24] = "";
    struct slice meant = choice_near(p, value);
    spec_param_wanted(p, wanted, sizeof wanted);
    if (meant.len > 0) snprintf(near, sizeof near, "; did you mean `%.*s`?", SLICE_FMT(shown(meant)));
    return spec_refuse(s, p->choices != NULL ? p->choices->at : p->at, ERR_INVALID,
                       "parameter `%.*s` is `%.*s`; expected %s%s", SLICE_FMT(p->name), SLICE_FMT(shown(value)), wanted,
                       near);
}

static bool is_choice(const struct spec_param *p, struct slice value) {
    struct param_place a, b;
    for (const struct json_node *c = p->choices->first; c != NULL; c = c->next) {
        struct slice choice = spec_plain_text(c);
        if (slice_eq(choice, value)) return true;
        bool both = place_of(p->type, choice, &a) && place_of(p->type, value, &b);
        if (both && place_compare(a, b) == 0) return true;
    }
    return false;
}

enum err spec_param_fits(struct spec *s, const struct spec_param *p, struct slice value) {
    struct param_place own, bound;
    uint64_t steps = 0;
    bool fits = p->choices == NULL || is_choice(p, value);
    if (types[p->type].is_ordered && place_of(p->type, value, &own)) {
        if (p->min != NULL && place_of(p->type, spec_plain_text(p->min), &bound))
            fits &= place_compare(own, bound) >= 0;
        if (p->max != NULL && place_of(p->type, spec_plain_text(p->max), &bound))
            fits &= place_compare(own, bound) <= 0;
    }
    if (p->regexp != NULL) {
        fits &= regexp_fits(p->regexp, value, &steps);
        s->eval_steps_left -= (int64_t)steps;
        if (s->eval_steps_left < 0)
            return spec_refuse(s, p->pattern->at, ERR_LIMIT,
                               "the patterns together take too many steps (eval_steps_max)");
    }
    return fits ? ERR_OK : spec_param_unfit(s, p, value);
}

/* ---- definitions ---- */

static enum err type_word(struct spec *s, struct spec_param *p) {
    const struct json_node *n = p->type_node;
    char words[120] = "";
    size_t len = 0;
    if (n == NULL) return ERR_OK;
    for (uint8_t i = SPEC_PARAM_ANY + 1; i < SPEC_PARAM_TYPE_COUNT; i++) {
        if (n->kind == JSON_TEXT && slice_eq(n->text, slice_str(types[i].word))) {
            p->type = i;
            return ERR_OK;
        }
        len = put(words, sizeof words, len, "%s%s", len > 0 ? ", " : "", types[i].word);
    }
    for (uint8_t i = SPEC_PARAM_ANY + 1; n->kind == JSON_TEXT && i < SPEC_PARAM_TYPE_COUNT; i++)
        if (spec_is_near(n->text, slice_str(types[i].word)))
            return spec_refuse(s, n->at, ERR_INVALID, "there is no type `%.*s`; did you mean `%s`?",
                               SLICE_FMT(shown(n->text)), types[i].word);
    return spec_refuse(s, n->at, ERR_INVALID, "expected a type: one of %s", words);
}

/* A bound or a choice is of the type of the parameter. */
static enum err value_check(struct spec *s, const struct spec_param *p, const struct json_node *n, const char *what) {
    struct spec_param_value unused;
    struct spec_given given = {.value = spec_is_plain(n) ? spec_plain_text(n) : (struct slice){0}};
    if (spec_is_plain(n) && spec_param_value(s, p, &given, &unused)) return ERR_OK;
    if (!spec_is_plain(n))
        return spec_refuse(s, n->at, ERR_INVALID, "expected %s for %s, found %s", types[p->type].wanted, what,
                           json_kind_word(n->kind));
    return spec_refuse(s, n->at, ERR_INVALID, "expected %s for %s, found `%.*s`", types[p->type].wanted, what,
                       SLICE_FMT(shown(given.value)));
}

static enum err choices_read(struct spec *s, const struct spec_param *p) {
    const struct json_node *list = p->choices;
    enum err e = ERR_OK;
    if (list == NULL) return ERR_OK;
    if (list->kind != JSON_ARRAY)
        return spec_refuse(s, list->at, ERR_INVALID, "expected a list of values, found %s", json_kind_word(list->kind));
    if (list->count == 0) return spec_refuse(s, list->at, ERR_INVALID, "an empty list of choices allows no value");
    if (p->type >= SPEC_PARAM_LIST)
        return spec_refuse(s, list->at, ERR_UNSUPPORTED, "`choices` are for plain values, not for type `%s`",
                           types[p->type].word);
    for (const struct json_node *c = list->first; e == ERR_OK && c != NULL; c = c->next) {
        if (p->type != SPEC_PARAM_ANY)
            e = value_check(s, p, c, "a choice");
        else if (!spec_is_plain(c))
            e = spec_refuse(s, c->at, ERR_INVALID, "expected a plain value, found %s", json_kind_word(c->kind));
    }
    return e;
}

static enum err bounds_read(struct spec *s, struct spec_param *p) {
    const struct json_node *first = p->min != NULL ? p->min : p->max;
    struct param_place min, max;
    if (first == NULL) return ERR_OK;
    if (p->type == SPEC_PARAM_ANY && p->standard != NULL && p->standard->kind == JSON_NUMBER)
        p->type = SPEC_PARAM_NUMBER;
    if (!types[p->type].is_ordered)
        return spec_refuse(s, first->at, ERR_INVALID,
                           "`min` and `max` need `type: integer`, `number`, `date`, `time` or `duration`");
    enum err e = p->min != NULL ? value_check(s, p, p->min, "`min`") : ERR_OK;
    if (e == ERR_OK && p->max != NULL) e = value_check(s, p, p->max, "`max`");
    if (e != ERR_OK || p->min == NULL || p->max == NULL) return e;
    bool known = place_of(p->type, spec_plain_text(p->min), &min) && place_of(p->type, spec_plain_text(p->max), &max);
    ENSURE(known);
    return place_compare(min, max) <= 0 ? ERR_OK : spec_refuse(s, first->at, ERR_INVALID, "`min` is more than `max`");
}

static enum err pattern_read(struct spec *s, struct spec_param *p) {
    const struct json_node *n = p->pattern;
    struct why inner = {{0}};
    if (n == NULL) return ERR_OK;
    if (p->type == SPEC_PARAM_ANY) p->type = SPEC_PARAM_STRING;
    if (p->type != SPEC_PARAM_STRING)
        return spec_refuse(s, n->at, ERR_INVALID, "`pattern` is for `type: string`, not for type `%s`",
                           types[p->type].word);
    if (n->kind != JSON_TEXT)
        return spec_refuse(s, n->at, ERR_INVALID, "expected a regular expression, found %s", json_kind_word(n->kind));
    struct regexp *regexp = spec_alloc(s, sizeof *regexp);
    if (regexp == NULL) return spec_full(s);
    enum err e = regexp_read(n->text, regexp, &inner);
    if (e != ERR_OK) return spec_refuse(s, n->at, e, "%s", inner.text);
    p->regexp = regexp;
    return ERR_OK;
}

enum err spec_param_type_read(struct spec *s, struct spec_param *p) {
    enum err e = type_word(s, p);
    if (e == ERR_OK) e = pattern_read(s, p);
    if (e == ERR_OK) e = bounds_read(s, p);
    if (e == ERR_OK) e = choices_read(s, p);
    if (e != ERR_OK) return e;
    if (p->required && p->standard != NULL)
        return spec_refuse(s, p->standard->at, ERR_INVALID, "a parameter is `required` or has a `default`, not both");
    if (!p->required && (p->given & GIVEN_REQUIRED) && p->standard == NULL)
        return spec_refuse(s, p->at, ERR_INVALID, "a parameter that is not `required` needs a `default`, such as \"\"");
    if (p->is_late && (p->choices != NULL || p->min != NULL || p->max != NULL || p->pattern != NULL))
        return spec_refuse(s, p->at, ERR_UNSUPPORTED,
                           "a parameter whose default is a slot has no `choices`, `min`, `max` or `pattern`");
    if (p->is_late && !types[p->type].is_text)
        return spec_refuse(s, p->at, ERR_UNSUPPORTED,
                           "a parameter whose default is a slot is a string, a date, a time or a duration");
    return ERR_OK;
}
