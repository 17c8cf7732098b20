/* tools_doc.c: writes docs/guides/agents.md from the table of tools (mcp/tools.c).
 *
 *     tools_doc < docs/src/agents.head.md */
#include <stdio.h>

#include "tool.h"

int main(void) {
    uint32_t count;
    const struct tool *all = tool_table(&count);
    int c;
    while ((c = getchar()) != EOF) putchar(c);
    printf("| tool | arguments (*: needed) | role | what it does |\n| --- | --- | --- | --- |\n");
    for (uint32_t i = 0; i < count; i++) {
        printf("| `%s` | ", all[i].name);
        for (const struct tool_arg *a = all[i].args; a->name != NULL; a++)
            printf("%s`%s`%s", a == all[i].args ? "" : ", ", a->name, a->required ? "*" : "");
        printf(" | %s | %s |\n", all[i].role, all[i].text);
    }
    return ferror(stdout) != 0;
}
