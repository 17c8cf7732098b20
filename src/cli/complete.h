/* complete.h: what a half-typed line of the shell may become: verbs, flags, files, and names that the server knows. */
#ifndef REEVE_COMPLETE_H
#define REEVE_COMPLETE_H

#include "cli.h"
#include "vec.h"

#define COMPLETE_MAX 1000u

struct complete_choice {
    struct slice text; /* in place of the word that was begun */
    struct slice note; /* beside it, for people */
    bool is_part;      /* something follows it directly: "f3k9a/", "dir/" */
};

struct complete {
    struct cli *c; /* of the shell */
    struct arena *arena;
    struct slice begun; /* the word, as far as it goes */
    size_t from;        /* where it begins in the line */
    struct vec choices; /* struct complete_choice, in order */
};

/* `line` is what stands before the cursor. A server that does not answer has no names to offer. */
void complete_line(struct complete *x, struct cli *c, struct arena *arena, struct slice line);
void complete_fini(struct complete *x);
/* What all choices begin with. */
struct slice complete_common(const struct complete *x);

#endif
