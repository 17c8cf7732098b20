/* complete.h: what a half-typed line may become: verbs, flags, files, and names that the server knows. It serves Tab in
 * `reeve shell`, and by a hidden verb (completion.c) bash, zsh and fish. The table of verbs says what stands where. */
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
    struct cli *c; /* that asks the server */
    struct arena *arena;
    struct slice begun; /* the word, as far as it goes */
    size_t from;        /* where it begins in the line */
    struct vec choices; /* struct complete_choice, in order */
    bool wants_files;   /* files, too: complete_files offers them, or the shell does by itself */
};

/* `line` is what stands before the cursor. A server that does not answer has no names to offer. For the line of another
 * shell `takes_place` is true: --server and the like in it say whom to ask. */
void complete_line(struct complete *x, struct cli *c, struct arena *arena, struct slice line, bool takes_place);
void complete_files(struct complete *x);
void complete_fini(struct complete *x);
/* What all choices begin with. */
struct slice complete_common(const struct complete *x);

/* ---- between complete.c and complete_names.c ---- */

void complete_offer(struct complete *x, struct slice text, struct slice note, bool is_part);
/* Names for a place of the table ("FLOW|JOB", "WORKER"), or for the value of a flag, which is NULL otherwise. */
void complete_names(struct complete *x, const struct cli_verb *verb, const struct cli_flag *flag, struct slice place);

#endif
