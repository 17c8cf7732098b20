/* interpreter.h: what runs a file that is no program by itself, told by the ending of its name. One table for scripts
 * and for what comes out of archives. */
#ifndef REEVE_INTERPRETER_H
#define REEVE_INTERPRETER_H

#include "slice.h"

#define INTERPRETER_NONE "it ends neither in .py, .sh, .js nor .jar, and does not begin with #!" /* for refusals */
#define INTERPRETER_ARGS_MAX 2u

struct interpreter {
    const char *ending;
    const char *argv[INTERPRETER_ARGS_MAX + 1]; /* NULL-terminated; the file comes behind */
};

const struct interpreter *interpreter_of(struct slice name); /* NULL: no ending that we know */

#endif
