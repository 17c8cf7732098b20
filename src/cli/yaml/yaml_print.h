/* yaml_print.h: a JSON text as YAML on standard output, block style, keys in the order of the text. */
#ifndef REEVE_YAML_PRINT_H
#define REEVE_YAML_PRINT_H

#include "arena.h"
#include "slice.h"

/* False: it is larger or deeper than a JSON text may be, and what was printed is not all. */
bool yaml_print(struct slice json, struct arena *arena);

#endif
