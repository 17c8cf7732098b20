/* core_scripts.h: what the golden journals of the core were made from: a script for each of them, in two halves with a
 * snapshot between. They may change freely: what was once written does not come from them any more. */
#ifndef REEVE_CORE_SCRIPTS_H
#define REEVE_CORE_SCRIPTS_H

#include "engine_fixture.h"

#define CORE_SCRIPTS 15

struct core_script {
    const char *name;
    void (*first_half)(struct fixture *r);
    void (*second_half)(struct fixture *r);
};
extern const struct core_script core_scripts[CORE_SCRIPTS];

#endif
