/* json_tree.c: see json_tree.h. */
#include "json_tree.h"

#include "json.h"
#include "panic.h"

struct level {
    struct json_node *node;
    struct json_node *last; /* of its members */
};

static struct json_node *node_new(struct arena *arena, const struct json_token *t) {
    struct json_node *node = arena_try(arena, sizeof *node);
    if (!node) return NULL;
    *node = (struct json_node){
        .kind = (uint8_t)t->kind,
        .is_member = t->is_member,
        .truth = t->truth,
        .at = t->at,
        .key_at = t->key_at,
        .key = t->key,
        .text = t->text,
    };
    return node;
}

static void hang_under(struct level *parent, struct json_node *node) {
    if (parent->last) {
        parent->last->next = node;
    } else {
        parent->node->first = node;
    }
    parent->last = node;
    parent->node->count++;
}

enum err json_tree_read(struct slice in, const struct limits *limits, struct arena *arena, const struct json_node **ret,
                        struct why *why) {
    struct json_read r;
    struct level levels[JSON_READ_DEPTH_MAX];
    uint32_t depth = 0;
    const struct json_node *root = NULL;
    json_read_init(&r, in, limits, arena, why);
    for (;;) {
        const struct json_token *token;
        enum err e = json_read_next(&r, &token);
        if (e) return e;
        if (token->kind == JSON_OVER) break;
        if (token->kind == JSON_OBJECT_END || token->kind == JSON_ARRAY_END) {
            levels[--depth].node->end = token->at + 1;
            continue;
        }
        struct json_node *node = node_new(arena, token);
        if (node) node->end = (uint32_t)(r.at - r.in.ptr); /* of a scalar; else it is set when the level ends */
        if (!node) return why_set(why, ERR_LIMIT, "no room for a JSON text of %zu bytes", in.len);
        if (depth > 0) {
            hang_under(&levels[depth - 1], node);
        } else {
            root = node;
        }
        if (token->kind == JSON_OBJECT || token->kind == JSON_ARRAY) levels[depth++] = (struct level){node, NULL};
    }
    ENSURE(root != NULL);
    *ret = root;
    return ERR_OK;
}

const struct json_node *json_tree_get(const struct json_node *object, struct slice key) {
    if (object->kind != JSON_OBJECT) return NULL;
    for (const struct json_node *node = object->first; node; node = node->next)
        if (slice_eq(node->key, key)) return node;
    return NULL;
}

/* At most JSON_DEPTH_MAX calls deep. */
bool json_tree_put(const struct json_node *n, struct json *out) {
    switch ((enum json_kind)n->kind) {
    case JSON_NULL: json_null(out); return true;
    case JSON_BOOL: json_bool(out, n->truth); return true;
    case JSON_NUMBER: json_raw(out, n->text); return true;
    case JSON_TEXT: json_text(out, n->text); return true;
    case JSON_OBJECT:
    case JSON_ARRAY: break;
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
    case JSON_OVER: PANIC("a node that is no value");
    }
    bool is_object = n->kind == JSON_OBJECT, fits = out->depth < JSON_DEPTH_MAX;
    if (!fits) return false;
    if (is_object)
        json_object(out);
    else
        json_array(out);
    for (const struct json_node *m = n->first; fits && m != NULL; m = m->next) {
        if (is_object) json_key_slice(out, m->key);
        fits = json_tree_put(m, out);
    }
    if (is_object)
        json_object_end(out);
    else
        json_array_end(out);
    return fits;
}
