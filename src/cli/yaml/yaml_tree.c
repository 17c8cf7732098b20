/* yaml_tree.c: see yaml_tree.h. libyaml gives events; marks count characters, so offsets are found by walking along. */
#include "yaml_tree.h"

#include <stdio.h>
#include <yaml.h>

#include "json_keys.h"
#include "limit.h"
#include "panic.h"
#include "utf8.h"

#define ANCHORS_MAX 1024u

struct yaml_level {
    struct json_node *node;
    struct json_node *last;
    uint32_t keys_first;  /* of its object, in reader.keys */
    uint32_t nodes_first; /* nodes read before it */
    struct slice anchor;
    struct slice key; /* of an object: read, its value is to come */
    uint32_t key_at;
    bool has_key;
};

struct anchor {
    struct slice name;
    const struct json_node *node;
    uint32_t node_count;
};

struct yaml_reader {
    yaml_parser_t parser;
    yaml_event_t event;
    struct slice in;
    size_t index, offset; /* the character that was walked to, and its byte */
    struct arena *arena;
    struct why *why;
    uint32_t depth, depth_max, node_count;
    struct yaml_level levels[JSON_READ_DEPTH_MAX];
    struct json_keys keys;
    struct anchor anchors[ANCHORS_MAX];
    uint32_t anchor_count;
    const struct json_node *root;
};

/* The byte at which a mark stands. Marks of events come in order, so all walks together are one. */
static uint32_t offset_of(struct yaml_reader *r, yaml_mark_t mark) {
    if (mark.index < r->index) r->index = r->offset = 0;
    while (r->index < mark.index && r->offset < r->in.len) {
        size_t n = utf8_sequence(slice_of(r->in.ptr + r->offset, r->in.len - r->offset));
        r->offset += n > 0 ? n : 1;
        r->index++;
    }
    return (uint32_t)r->offset;
}

static enum err refuse(struct yaml_reader *r, uint32_t at, enum err e, const char *text) {
    struct json_place place = json_place(r->in, at);
    return why_set(r->why, e, "line %u, column %u: %s", place.line, place.column, text);
}

static enum err refuse_yaml(struct yaml_reader *r) {
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem != NULL ? p->problem : "this is not YAML";
    size_t at = p->problem_mark.index;
    bool is_tab = at < r->in.len && r->in.ptr[at] == '\t'; /* libyaml does not say that this is what it minds */
    return why_set(r->why, ERR_INVALID, "line %zu, column %zu: %s%s%s%s", p->problem_mark.line + 1,
                   p->problem_mark.column + 1, problem, p->context != NULL ? ", " : "",
                   p->context != NULL ? p->context : "", is_tab ? " (indent with spaces, not with tabs)" : "");
}

static enum err no_room(struct yaml_reader *r) {
    return why_set(r->why, ERR_LIMIT, "no room for a YAML text of %zu bytes", r->in.len);
}

static bool copy(struct yaml_reader *r, const void *ptr, size_t len, struct slice *ret) {
    void *at = arena_try(r->arena, len ? len : 1);
    if (at == NULL) return false;
    memcpy(at, ptr, len);
    *ret = slice_of(at, len);
    return true;
}

/* ---- hanging values into the tree ---- */

static enum err hang(struct yaml_reader *r, struct json_node *node) {
    if (r->depth == 0) {
        r->root = node;
        return ERR_OK;
    }
    struct yaml_level *parent = &r->levels[r->depth - 1];
    if (parent->node->kind == JSON_OBJECT) {
        node->is_member = true;
        node->key = parent->key;
        node->key_at = parent->key_at;
        parent->has_key = false;
    }
    if (parent->last != NULL)
        parent->last->next = node;
    else
        parent->node->first = node;
    parent->last = node;
    parent->node->count++;
    return ERR_OK;
}

static bool expects_key(const struct yaml_reader *r) {
    if (r->depth == 0) return false;
    const struct yaml_level *l = &r->levels[r->depth - 1];
    return l->node->kind == JSON_OBJECT && !l->has_key;
}

static enum err count_nodes(struct yaml_reader *r, uint32_t at, uint32_t more) {
    if (more > YAML_NODES_MAX - r->node_count) return refuse(r, at, ERR_LIMIT, "the aliases stand for too many values");
    r->node_count += more;
    return ERR_OK;
}

static enum err keep_anchor(struct yaml_reader *r, uint32_t at, struct slice name, const struct json_node *node,
                            uint32_t node_count) {
    if (name.len == 0) return ERR_OK;
    if (r->anchor_count == ANCHORS_MAX) return refuse(r, at, ERR_LIMIT, "more than 1,024 anchors");
    r->anchors[r->anchor_count++] = (struct anchor){name, node, node_count};
    return ERR_OK;
}

static enum err anchor_name(struct yaml_reader *r, const yaml_char_t *text, struct slice *ret) {
    *ret = (struct slice){0};
    if (text == NULL) return ERR_OK;
    return copy(r, text, strlen((const char *)text), ret) ? ERR_OK : no_room(r);
}

/* ---- plain values ---- */

static void resolve(struct json_node *node) {
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    static const char *const truths[] = {"true", "True", "TRUE"}, *const lies[] = {"false", "False", "FALSE"};
    double number;
    node->kind = JSON_TEXT;
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++)
        if (slice_eq(node->text, slice_str(nulls[i]))) node->kind = JSON_NULL;
    for (size_t i = 0; i < 3; i++) {
        bool is_true = slice_eq(node->text, slice_str(truths[i]));
        if (!is_true && !slice_eq(node->text, slice_str(lies[i]))) continue;
        node->kind = JSON_BOOL;
        node->truth = is_true;
    }
    if (node->kind == JSON_TEXT && node->text.len > 0 && json_number_f64(node->text, &number) == ERR_OK)
        node->kind = JSON_NUMBER;
}

static enum err read_key(struct yaml_reader *r, uint32_t at) {
    struct yaml_level *l = &r->levels[r->depth - 1];
    if (r->event.type != YAML_SCALAR_EVENT) return refuse(r, at, ERR_INVALID, "expected a plain key");
    if (!copy(r, r->event.data.scalar.value, r->event.data.scalar.length, &l->key)) return no_room(r);
    if (!json_keys_add(&r->keys, r->arena, l->key, at)) return no_room(r);
    l->key_at = at;
    l->has_key = true;
    return ERR_OK;
}

static enum err read_scalar(struct yaml_reader *r, uint32_t at) {
    struct json_node *node = arena_try(r->arena, sizeof *node);
    struct slice name;
    if (node == NULL) return no_room(r);
    *node = (struct json_node){.kind = JSON_TEXT, .at = at};
    if (!copy(r, r->event.data.scalar.value, r->event.data.scalar.length, &node->text)) return no_room(r);
    if (r->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && r->event.data.scalar.tag == NULL) resolve(node);
    enum err e = anchor_name(r, r->event.data.scalar.anchor, &name);
    if (e == ERR_OK) e = keep_anchor(r, at, name, node, 1);
    if (e == ERR_OK) e = count_nodes(r, at, 1);
    return e == ERR_OK ? hang(r, node) : e;
}

/* ---- objects, lists, aliases ---- */

static enum err open_level(struct yaml_reader *r, uint32_t at, enum json_kind kind, const yaml_char_t *anchor) {
    struct json_node *node = arena_try(r->arena, sizeof *node);
    struct slice name;
    if (node == NULL) return no_room(r);
    if (r->depth >= r->depth_max) return refuse(r, at, ERR_LIMIT, "too deep (json_depth_max)");
    *node = (struct json_node){.kind = (uint8_t)kind, .at = at};
    enum err e = anchor_name(r, anchor, &name);
    if (e == ERR_OK) e = count_nodes(r, at, 1);
    if (e == ERR_OK) e = hang(r, node);
    if (e != ERR_OK) return e;
    r->levels[r->depth++] = (struct yaml_level){
        .node = node, .keys_first = r->keys.count, .nodes_first = r->node_count - 1, .anchor = name};
    return ERR_OK;
}

static enum err close_level(struct yaml_reader *r) {
    struct yaml_level *l = &r->levels[--r->depth];
    uint32_t twice = 0;
    if (l->node->kind == JSON_OBJECT && json_keys_end(&r->keys, l->keys_first, &twice))
        return refuse(r, twice, ERR_INVALID, "expected each key of an object once");
    return keep_anchor(r, l->node->at, l->anchor, l->node, r->node_count - l->nodes_first);
}

static enum err read_alias(struct yaml_reader *r, uint32_t at) {
    struct slice name = slice_str((const char *)r->event.data.alias.anchor);
    for (uint32_t i = r->anchor_count; i > 0; i--) { /* the latest of that name */
        const struct anchor *a = &r->anchors[i - 1];
        if (!slice_eq(a->name, name)) continue;
        struct json_node *node = arena_try(r->arena, sizeof *node);
        if (node == NULL) return no_room(r);
        enum err e = count_nodes(r, at, a->node_count);
        if (e != ERR_OK) return e;
        *node = *a->node; /* its members are shared: nobody changes them */
        node->next = NULL;
        node->is_member = false;
        node->key = (struct slice){0};
        return hang(r, node);
    }
    return refuse(r, at, ERR_INVALID, "an alias of an anchor that does not stand before it");
}

static enum err one_event(struct yaml_reader *r, bool *ret_over) {
    uint32_t at = offset_of(r, r->event.start_mark);
    switch (r->event.type) {
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT: return ERR_OK;
    case YAML_DOCUMENT_START_EVENT:
        return r->root == NULL ? ERR_OK : refuse(r, at, ERR_INVALID, "expected one document, found a second");
    case YAML_STREAM_END_EVENT: *ret_over = true; return ERR_OK;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return close_level(r);
    case YAML_ALIAS_EVENT:
    case YAML_SCALAR_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT: break;
    }
    if (expects_key(r)) return read_key(r, at);
    if (r->event.type == YAML_ALIAS_EVENT) return read_alias(r, at);
    if (r->event.type == YAML_SCALAR_EVENT) return read_scalar(r, at);
    if (r->event.type == YAML_SEQUENCE_START_EVENT)
        return open_level(r, at, JSON_ARRAY, r->event.data.sequence_start.anchor);
    return open_level(r, at, JSON_OBJECT, r->event.data.mapping_start.anchor);
}

static enum err read_events(struct yaml_reader *r) {
    bool over = false;
    while (!over) {
        if (!yaml_parser_parse(&r->parser, &r->event)) return refuse_yaml(r);
        enum err e = one_event(r, &over);
        yaml_event_delete(&r->event);
        if (e != ERR_OK) return e;
    }
    return r->root != NULL ? ERR_OK : why_set(r->why, ERR_INVALID, "line 1, column 1: expected a value, found nothing");
}

enum err yaml_tree_read(struct slice in, const struct limits *limits, struct arena *arena, const struct json_node **ret,
                        struct why *why) {
    if (in.len > (size_t)limits->json_bytes_max)
        return why_set(why, ERR_LIMIT, "a YAML text of %zu bytes, at most %lld (json_bytes_max)", in.len,
                       (long long)limits->json_bytes_max);
    if (!utf8_is_valid(in)) return why_set(why, ERR_INVALID, "expected UTF-8");
    struct yaml_reader *r = arena_try(arena, sizeof *r);
    if (r == NULL) return why_set(why, ERR_LIMIT, "no room for a YAML text of %zu bytes", in.len);
    r->in = in;
    r->arena = arena;
    r->why = why;
    r->depth_max =
        limits->json_depth_max < JSON_READ_DEPTH_MAX ? (uint32_t)limits->json_depth_max : JSON_READ_DEPTH_MAX;
    if (!yaml_parser_initialize(&r->parser)) PANIC("no memory");
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, slice_data(in), in.len);
    enum err e = read_events(r);
    yaml_parser_delete(&r->parser);
    if (e == ERR_OK) *ret = r->root;
    return e;
}
