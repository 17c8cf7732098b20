/* json_tree.h: a JSON text as a tree of nodes in an arena, each with its place in the text, so that whoever finds fault
 * with a value can point at it. Built on json_read.h, with its rules and limits. */
#ifndef REEVE_JSON_TREE_H
#define REEVE_JSON_TREE_H

#include "json_read.h"

struct json_node {
    uint8_t kind;   /* enum json_kind; never an end */
    bool is_member; /* of an object: `key` is its name */
    bool truth;
    uint32_t at, key_at; /* offsets in the text */
    uint32_t end;        /* of the value: offset behind it */
    uint32_t count;      /* of members or items */
    struct slice key;
    struct slice text;             /* JSON_TEXT, JSON_NUMBER */
    const struct json_node *first; /* of its members or items, in the order of the text */
    const struct json_node *next;  /* beside it */
};

struct json; /* json.h */

CHECKED enum err json_tree_read(struct slice in, const struct limits *limits, struct arena *arena,
                                const struct json_node **ret, struct why *why);
/* The member of that name, or NULL; also NULL when the node is no object. Looks at each: for objects of known shape. */
const struct json_node *json_tree_get(const struct json_node *object, struct slice key);
/* The value as JSON text. False: it is nested deeper than a writer goes (JSON_DEPTH_MAX), and the text is of no use. */
bool json_tree_put(const struct json_node *n, struct json *out);

#endif
