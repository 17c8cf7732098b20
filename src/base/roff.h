/* roff.h: text in a manual page. */
#ifndef REEVE_ROFF_H
#define REEVE_ROFF_H

#include <stdio.h>

/* As it is: what roff would take for a command or an escape is escaped; a line end becomes a blank. */
void roff_text(FILE *to, const char *text);
/* "NAME - TEXT", with the head of the page. */
void roff_head(FILE *to, const char *name, int section, const char *version, const char *text);
/* A paragraph behind a tag: a flag or a key with how its value is called (NULL = none), and what it is. */
void roff_item(FILE *to, const char *tag, const char *value, const char *text);

#endif
