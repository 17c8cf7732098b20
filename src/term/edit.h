/* edit.h: a line being typed. Keys as in Emacs and readline, a history, a search through it (Ctrl-R); one row of the
 * terminal, which scrolls sideways. Knows nothing of what lines mean: completion is the owner's. */
#ifndef REEVE_EDIT_H
#define REEVE_EDIT_H

#include "bytes.h"
#include "keys.h"
#include "screen.h"
#include "vec.h"

#define EDIT_BYTES_MAX 4096u
#define EDIT_HISTORY_MAX 1000u /* lines kept; the oldest goes first */

enum edit_event {
    EDIT_GOES_ON,
    EDIT_LINE,        /* Enter: it is in `text` */
    EDIT_COMPLETE,    /* Tab */
    EDIT_INTERRUPTED, /* Ctrl-C */
    EDIT_END,         /* Ctrl-D on an empty line */
    EDIT_REDRAW,      /* Ctrl-L */
    EDIT_SUSPEND      /* Ctrl-Z */
};

struct edit {
    char text[EDIT_BYTES_MAX + 1]; /* terminated */
    size_t len, at;                /* at: where the next character goes */
    char killed[EDIT_BYTES_MAX + 1];
    struct vec history; /* struct bytes *, oldest first */
    uint32_t past;      /* lines back in the history; 0 = the line itself */
    char kept[EDIT_BYTES_MAX + 1]; /* what was typed before going back */
    bool is_searching;
    char wanted[128];
};

void edit_init(struct edit *e);
void edit_fini(struct edit *e);
void edit_clear(struct edit *e); /* an empty line; the history stays */
enum edit_event edit_key(struct edit *e, const struct key_press *key);
void edit_insert(struct edit *e, struct slice text);           /* where the cursor is; what has no room is dropped */
void edit_replace(struct edit *e, size_t from, struct slice text); /* the bytes from there to the cursor */
void edit_remember(struct edit *e, struct slice line);         /* unless it is empty or the last one again */
void edit_draw(const struct edit *e, struct screen *s, uint32_t row, struct slice prompt);

#endif
