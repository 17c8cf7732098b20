/* limit.c: the table as data, for settings, help and documentation. */
#include "limit.h"

#include <stddef.h>
#include <string.h>

#include "panic.h"

const struct limit_info limit_table[] = {
#define X(name, standard, least, most, unit, reason) {#name, standard, least, most, unit, reason},
    LIMIT_TABLE(X)
#undef X
};
const uint32_t limit_count = sizeof limit_table / sizeof limit_table[0];

static const size_t offsets[] = {
#define X(name, standard, least, most, unit, reason) offsetof(struct limits, name),
    LIMIT_TABLE(X)
#undef X
};

void limits_default(struct limits *l) {
    REQUIRE(l != NULL);
#define X(name, standard, least, most, unit, reason) l->name = (standard);
    LIMIT_TABLE(X)
#undef X
}

int64_t *limit_by_name(struct limits *l, const char *name) {
    REQUIRE(l != NULL);
    for (uint32_t i = 0; i < limit_count; i++) {
        if (strcmp(limit_table[i].name, name) == 0) return (int64_t *)(void *)((char *)l + offsets[i]);
    }
    return NULL;
}
