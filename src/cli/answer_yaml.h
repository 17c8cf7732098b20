/* answer_yaml.h: a JSON text as YAML on standard output, block style, keys in the order of the text. */
#ifndef REEVE_ANSWER_YAML_H
#define REEVE_ANSWER_YAML_H

#include "arena.h"
#include "slice.h"

/* False: it is larger or deeper than a JSON text may be, and what was printed is not all. */
bool answer_yaml(struct slice json, struct arena *arena);

#endif
