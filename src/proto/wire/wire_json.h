/* wire_json.h: messages of the wire as JSON, and back, by their descriptions (tlv.h): what HTTP needs so that a route
 * is a line in a table. Members have the names of the fields.
 *
 *     numbers, booleans, enums   themselves; enums as their words
 *     text                       a string
 *     bytes                      a string when they are UTF-8, else {"base64": "…"}
 *     a hash                     64 hexadecimal digits
 *     JSON, a message in bytes   itself (enum tlv_form)
 *     a list                     an array; of parts with one field (names, keys): an array of those
 *     labels, amounts            an object: {"team": "blue"}
 *
 * What is 0, false or empty is left out, and what is left out means that. */
#ifndef REEVE_WIRE_JSON_H
#define REEVE_WIRE_JSON_H

#include "json.h"
#include "json_tree.h"
#include "tlv.h"

/* ---- out ---- */

struct wire_json_out {
    struct json *json;
    struct arena *arena; /* for what is in bytes */
    const struct limits *limits;
};

/* Writes the members of one message that came in `count` parts: lists are continued, anything else is taken from the
 * first part that has it. The list named `about` is written also when it is empty; NULL = none. */
void wire_json_put(const struct wire_json_out *x, const struct tlv_desc *d, const void *const *parts, uint32_t count,
                   const char *about);

/* ---- in ---- */

#define WIRE_JSON_FIELD_BYTES 128u

struct wire_json_in {
    struct slice text; /* that was read */
    struct arena *arena;
    struct why *why;
    char field[WIRE_JSON_FIELD_BYTES]; /* of a refusal: which one, "jobs[2].name"; may be empty */
};

/* Sets the fields that the object has. ERR_INVALID: no such field, or not a value of it; ERR_LIMIT: too long. */
CHECKED enum err wire_json_read(struct wire_json_in *x, const struct json_node *object, const struct tlv_desc *d,
                                void *ret);
/* Sets one field from text, as a query or a path has it. A list grows by one; a label is `key=value`. */
CHECKED enum err wire_json_set(struct wire_json_in *x, const struct tlv_desc *d, struct slice name, struct slice text,
                               void *ret);

/* ---- what descriptions tell ---- */

const struct tlv_field *wire_json_field(const struct tlv_desc *d, struct slice name); /* NULL = there is none */
bool wire_json_is_plain(const struct tlv_desc *sub); /* an item of a list that is written as its only field */
bool wire_json_is_map(const struct tlv_desc *sub);   /* a list that is written as an object */

#endif
