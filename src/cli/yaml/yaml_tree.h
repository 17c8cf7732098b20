/* yaml_tree.h: a YAML text as the same tree that JSON gives (json_tree.h), each value with its place in the text.
 *
 * The plain values of YAML 1.2: null, true, false and the numbers of JSON; everything else is text, also `yes`, `on`
 * and `1:30`. One document. A key that occurs twice is refused, as in JSON. Anchors and aliases work, but the tree that
 * they stand for must fit a limit: nine lines of YAML can mean a billion values. Only the command line reads YAML; what
 * goes over the wire does not depend on it. */
#ifndef REEVE_YAML_TREE_H
#define REEVE_YAML_TREE_H

#include "json_tree.h"

#define YAML_NODES_MAX 4000000u

/* ERR_INVALID with `line N, column M: …`, ERR_LIMIT for what is too long, too deep or too much. */
CHECKED enum err yaml_tree_read(struct slice in, const struct limits *limits, struct arena *arena,
                                const struct json_node **ret, struct why *why);

#endif
