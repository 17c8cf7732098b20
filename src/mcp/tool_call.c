/* tool_call.c: see tool_call.h. */
#include "tool_call.h"

#include <stdio.h>

#include "civil.h"
#include "panic.h"
#include "tool.h"
#include "utf8.h"

_Static_assert(TOOL_CALL_TIME_BYTES >= CIVIL_TEXT_BYTES + 2, "a time with its Z");

#define QUOTED_OBJECT                                                                                               \
    ", not a text: write it as JSON without quotes around it; a file in YAML is run by `reeve submit FILE`, or by " \
    "submit_yaml_pipeline of `reeve mcp`"

/* ---- arguments ---- */

static const struct tool_arg *arg_of(const struct tool *t, struct slice name) {
    for (const struct tool_arg *a = t->args; a->name != NULL; a++)
        if (slice_eq(name, slice_str(a->name))) return a;
    return NULL;
}

static bool items_are_texts(const struct json_node *n) {
    for (const struct json_node *i = n->first; i != NULL; i = i->next)
        if (i->kind != JSON_TEXT) return false;
    return true;
}

static bool fits(enum tool_arg_type type, const struct json_node *n) {
    uint64_t number;
    switch (type) {
    case TOOL_TEXT: return n->kind == JSON_TEXT;
    case TOOL_COUNT: return n->kind == JSON_NUMBER && json_number_u64(n->text, &number) == ERR_OK;
    case TOOL_FLAG: return n->kind == JSON_BOOL;
    case TOOL_OBJECT: return n->kind == JSON_OBJECT;
    case TOOL_NAMES: return n->kind == JSON_ARRAY && items_are_texts(n);
    case TOOL_PAIRS: return n->kind == JSON_OBJECT && items_are_texts(n);
    case TOOL_JSON: return n->kind == JSON_TEXT || n->kind == JSON_ARRAY || n->kind == JSON_OBJECT;
    }
    return false;
}

static const char *type_words(enum tool_arg_type type) {
    switch (type) {
    case TOOL_TEXT: return "a text";
    case TOOL_COUNT: return "a whole number from 0 on";
    case TOOL_FLAG: return "true or false";
    case TOOL_OBJECT: return "an object";
    case TOOL_NAMES: return "a list of texts";
    case TOOL_PAIRS: return "an object of texts";
    case TOOL_JSON: return "a list, or the text of one in JSON";
    }
    return "";
}

static bool args_are_good(struct tool_call *c) {
    const struct tool *t = c->tool;
    for (const struct json_node *n = c->args != NULL ? c->args->first : NULL; n != NULL; n = n->next) {
        const struct tool_arg *a = arg_of(t, n->key);
        if (a == NULL) {
            tool_call_refuse(c, ERR_INVALID, "%s has no argument `%.*s`: tools/list tells which it has", t->name,
                             SLICE_FMT(n->key));
            return false;
        }
        if (n->kind != JSON_NULL && !fits(a->type, n)) {
            bool is_quoted = a->type == TOOL_OBJECT && n->kind == JSON_TEXT;
            tool_call_refuse(c, ERR_INVALID, "`%s` of %s: expected %s%s", a->name, t->name, type_words(a->type),
                             is_quoted ? QUOTED_OBJECT : "");
            return false;
        }
    }
    for (const struct tool_arg *a = t->args; a->name != NULL; a++)
        if (a->required && tool_call_arg(c, a->name) == NULL) {
            tool_call_refuse(c, ERR_INVALID, "%s needs `%s`: %s", t->name, a->name, a->text);
            return false;
        }
    return true;
}

const struct json_node *tool_call_arg(const struct tool_call *c, const char *name) {
    const struct json_node *n = c->args != NULL ? json_tree_get(c->args, slice_str(name)) : NULL;
    return n != NULL && n->kind != JSON_NULL ? n : NULL;
}

struct slice tool_call_text(const struct tool_call *c, const char *name) {
    const struct json_node *n = tool_call_arg(c, name);
    return n != NULL ? n->text : (struct slice){0};
}

uint64_t tool_call_number(const struct tool_call *c, const char *name, uint64_t unless_said) {
    const struct json_node *n = tool_call_arg(c, name);
    uint64_t v = unless_said;
    if (n != NULL) ENSURE(json_number_u64(n->text, &v) == ERR_OK);
    return v;
}

bool tool_call_flag(const struct tool_call *c, const char *name) {
    const struct json_node *n = tool_call_arg(c, name);
    return n != NULL && n->truth;
}

struct slice tool_call_raw(const struct tool_call *c, const struct json_node *n) {
    return slice_of(c->text.ptr + n->at, n->end - n->at);
}

struct tlv_list tool_call_names(const struct tool_call *c, const char *name) {
    const struct json_node *n = tool_call_arg(c, name);
    if (n == NULL) return (struct tlv_list){0};
    struct wire_name *list = ARENA_ARRAY(c->arena, struct wire_name, n->count + 1);
    uint32_t count = 0;
    for (const struct json_node *i = n->first; i != NULL; i = i->next) list[count++].name = i->text;
    return (struct tlv_list){list, count};
}

struct tlv_list tool_call_pairs(const struct tool_call *c, const char *name) {
    const struct json_node *n = tool_call_arg(c, name);
    if (n == NULL) return (struct tlv_list){0};
    struct wire_pair *list = ARENA_ARRAY(c->arena, struct wire_pair, n->count + 1);
    uint32_t count = 0;
    for (const struct json_node *i = n->first; i != NULL; i = i->next)
        list[count++] = (struct wire_pair){i->key, i->text};
    return (struct tlv_list){list, count};
}

/* ---- life ---- */

void tool_call_open(struct tool_call *c) {
    buf_init(&c->out, TOOL_CALL_RESULT_BYTES_MAX);
    if (args_are_good(c)) c->tool->begin(c);
}

void tool_call_hear(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    tool_call_then *then = c->then;
    bool heard = c->hears_refusals;
    REQUIRE(c->op != 0 && count > 0);
    uint8_t expected = wire_info(c->op)->answer;
    c->op = 0;
    c->hears_refusals = false;
    if (tool_call_is_refusal(op) && !heard)
        tool_call_pass_on(c, op, parts[0]);
    else if (!tool_call_is_refusal(op) && op != expected)
        tool_call_refuse(c, ERR_UNSUPPORTED, "the server answered with %s: it is of another version", wire_word(op));
    else
        then(c, op, parts, count);
}

void tool_call_close(struct tool_call *c) {
    buf_fini(&c->out);
}

/* What tools give is checked by its description before it is asked: it may be as long as an agent made it. */
void tool_call_ask(struct tool_call *c, enum wire_op op, const void *message, tool_call_then *then) {
    struct why why = {{0}};
    enum err e = tlv_check(wire_info((uint8_t)op)->desc, message, &why);
    if (e != ERR_OK) {
        tool_call_refuse(c, e, "%s", why.text);
        return;
    }
    c->op = (uint8_t)op;
    c->message = message;
    c->then = then;
}

/* ---- results ---- */

struct json *tool_call_result(struct tool_call *c) {
    buf_clear(&c->out);
    json_init(&c->json, &c->out);
    json_object(&c->json);
    return &c->json;
}

void tool_call_say(struct tool_call *c) {
    json_object_end(&c->json);
    if (c->out.full) {
        tool_call_refuse(c, ERR_LIMIT, "the answer is longer than %u bytes: ask for less of it",
                         TOOL_CALL_RESULT_BYTES_MAX);
        return;
    }
    /* Values that jobs wrote may have line breaks between them, and a message by stdio is one line. */
    for (size_t i = 0; i < c->out.len; i++)
        if (c->out.at[i] == '\n' || c->out.at[i] == '\r') c->out.at[i] = ' ';
    c->op = 0;
}

void tool_call_refuse_text(struct tool_call *c, struct slice code, struct slice message) {
    struct json *j = tool_call_result(c);
    tool_call_put_str(j, "status", "error");
    json_key(j, "code");
    json_text(j, code);
    tool_call_put_text(j, "message", message);
    c->is_error = true;
    tool_call_say(c);
}

void tool_call_refuse(struct tool_call *c, enum err e, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    REQUIRE(len >= 0);
    tool_call_refuse_text(c, slice_str(err_word(e)), slice_str(text));
}

const struct wire_submitted_flow *tool_call_submitted(struct tool_call *c, const struct wire_submitted *m) {
    const struct wire_submitted_flow *flow = m->flows.at;
    if (m->flows.count == 1 && flow->code.len == 0) return flow;
    if (m->flows.count == 1)
        tool_call_refuse_text(c, flow->code, flow->message);
    else
        tool_call_refuse(c, ERR_UNSUPPORTED, "the server said nothing about the flow: it is of another version");
    return NULL;
}

bool tool_call_is_refusal(uint8_t op) {
    return op == WIRE_ERROR || op == WIRE_BUSY;
}

void tool_call_pass_on(struct tool_call *c, uint8_t op, const void *message) {
    if (op == WIRE_ERROR) {
        const struct wire_error *m = message;
        tool_call_refuse_text(c, m->code, m->message);
        return;
    }
    const struct wire_busy *m = message;
    tool_call_refuse(c, ERR_BUSY, "%.*s: try again in %u s", SLICE_FMT(m->reason), m->retry_after_ms / 1000 + 1);
}

void tool_call_put_str(struct json *j, const char *key, const char *text) {
    json_key(j, key);
    json_str(j, text);
}

void tool_call_put_text(struct json *j, const char *key, struct slice text) {
    json_key(j, key);
    json_text(j, utf8_cut(text, TOOL_CALL_TEXT_BYTES));
}

void tool_call_put_time(struct json *j, const char *key, int64_t wall_ms) {
    char text[TOOL_CALL_TIME_BYTES];
    if (wall_ms != 0) tool_call_put_str(j, key, tool_call_time(wall_ms, text));
}

const char *tool_call_time(int64_t wall_ms, char text[TOOL_CALL_TIME_BYTES]) {
    civil_text(civil_div(wall_ms, 1000), text);
    size_t len = strlen(text);
    text[len] = 'Z';
    text[len + 1] = 0;
    return text;
}

struct slice tool_call_format(struct tool_call *c, const char *format, ...) {
    char text[2048];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    REQUIRE(len >= 0);
    return arena_slice(c->arena, slice_of(text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1));
}
