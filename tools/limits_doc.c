/* limits_doc.c: writes docs/limits.md from the table of limits. */
#include <inttypes.h>
#include <stdio.h>

#include "limit.h"

int main(void) {
    printf(
        "# Limits\n\n"
        "Everything has a limit. This page is written by `make docs` from the table in `src/limits/limit.h`.\n"
        "A limit binds new requests only: lowering one never changes what is already recorded.\n\n"
        "| name | default | least | most | unit | reason |\n"
        "| --- | ---: | ---: | ---: | --- | --- |\n");
    for (uint32_t i = 0; i < limit_count; i++) {
        const struct limit_info *limit = &limit_table[i];
        printf("| `%s` | %" PRId64 " | %" PRId64 " | %" PRId64 " | %s | %s |\n", limit->name, limit->standard,
               limit->least, limit->most, limit->unit, limit->reason);
    }
    return 0;
}
