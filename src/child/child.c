/* child.c: see child.h. */
#include "child.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "child_fetch.h"
#include "child_http.h"
#include "proc.h"

#define PREFIX "--child-"

struct child {
    const char *name;
    int (*run)(const struct child_world *world, int count, char **args); /* the arguments after its name */
};

static const struct child children[] = {
    {"fetch", child_fetch},
    {"http", child_http},
    {"unpack", child_unpack},
    {NULL, NULL},
};

bool child_is(int argc, char **argv) {
    return argc > 1 && strncmp(argv[1], PREFIX, strlen(PREFIX)) == 0;
}

int child_run(const struct child_world *world, int argc, char **argv) {
    const char *name = argv[1] + strlen(PREFIX);
    for (const struct child *c = children; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0) return c->run(world, argc - 2, argv + 2);
    fprintf(stderr, "reeve: this program has no child `%s`\n", name);
    return PROC_REFUSED;
}

int child_refuse(const char *text) {
    FILE *f = fopen("../" PROC_REFUSAL_FILE, "we");
    if (f != NULL) {
        fputs(text, f);
        fclose(f);
    }
    fprintf(stderr, "reeve: %s\n", text);
    return PROC_REFUSED;
}
