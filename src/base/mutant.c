/* mutant.c: which deliberate defect is active. Compiled for reeve-mutants and reeve-sim-mutants only. */
#include "mutant.h"

#ifdef REEVE_MUTANTS
#include <string.h>

enum mutant mutant_active = MUTANT_none;

const char *const mutant_words[MUTANT_COUNT] = {
#define X(name, text) #name,
    MUTANT_TABLE(X)
#undef X
};

bool mutant_choose(const char *name) {
    for (int i = 0; i < (int)MUTANT_COUNT; i++) {
        if (strcmp(name, mutant_words[i]) != 0) continue;
        mutant_active = (enum mutant)i;
        return true;
    }
    return false;
}
#endif
