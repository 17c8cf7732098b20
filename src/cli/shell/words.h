/* words.h: a line as words, as a shell reads it: blanks divide, quotes of both kinds hold together, \ takes the next
 * character as it is, # at the beginning of a word ends the line. Nothing is expanded. */
#ifndef REEVE_WORDS_H
#define REEVE_WORDS_H

#include "arena.h"

#define WORDS_MAX 256u

struct words {
    char *word[WORDS_MAX + 1]; /* terminated by NULL */
    int count;
    const char *wrong; /* what is wrong with the line, or NULL */
    size_t last_at;    /* where the last word begins, in the line */
    bool is_open;      /* the line ends inside a word: that one is still being typed */
};

void words_split(struct words *w, struct arena *a, struct slice line);
/* Whether a history should leave it out: it begins with a blank, or one of its words looks like a secret. */
bool words_are_secret(struct slice line);

#endif
