/* guidenames.h: guides that map another system's words onto ours, and whether each of ours exists: flags, verbs, paths,
 * settings, events, states, records and numbers, looked up in what the program says of itself and in documents that are
 * written from its tables. */
#ifndef REEVE_GUIDENAMES_H
#define REEVE_GUIDENAMES_H

#include <stdbool.h>
#include <stdint.h>

/* What there is, as text. */
void guidenames_know(const char *text);
void guidenames_know_file(const char *path);
char *guidenames_read(const char *path); /* the caller frees it */

bool guidenames_has(const char *word); /* as a word of its own, in any case */
/* Each name between backquotes in the tables of the guide, behind their first column. Those that do not exist are told;
 * how many names there were. */
uint32_t guidenames_check(const char *path, uint32_t *ret_missing);

#endif
