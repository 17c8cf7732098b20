/* dotenv.h: files of NAME=VALUE lines, as they lie beside many programs: blank lines, lines that begin with `#`, an
 * `export` before the name.
 *
 *     DAY=2026-03-31
 *     WHO='a b'              as it stands
 *     TEXT="a\nb"            \n \r \t \" \\ \$ are escapes
 *     SIZE=small  # why      a comment behind a blank
 *
 * Nothing is filled in: `$HOME` is five characters. */
#ifndef REEVE_DOTENV_H
#define REEVE_DOTENV_H

#include "arena.h"
#include "err.h"
#include "slice.h"

struct dotenv_pair {
    struct slice name, value;
};

/* At most `most` pairs. ERR_INVALID: `line N: …`. Values without escapes are slices of `text`. */
CHECKED enum err dotenv_read(struct slice text, struct arena *arena, uint32_t most, struct dotenv_pair *ret,
                             uint32_t *ret_count, struct why *why);

#endif
