/* completion.c: what the table of verbs says, for shells. */
#include <stdio.h>

#include "cli.h"

static size_t first_len(const struct cli_verb *v) {
    return strcspn(v->words, " ");
}

/* Verbs of one group stand beside each other. */
static bool is_first_of_group(uint32_t i) {
    size_t len = first_len(&cli_verbs[i]);
    return i == 0 || first_len(&cli_verbs[i - 1]) != len ||
           memcmp(cli_verbs[i - 1].words, cli_verbs[i].words, len) != 0;
}

static const char *second_word(const struct cli_verb *v) { /* NULL = it has one alone */
    const char *space = strchr(v->words, ' ');
    return space != NULL ? space + 1 : NULL;
}

/* ---- bash, and zsh as bash ---- */

static void bash_seconds(uint32_t first) {
    size_t len = first_len(&cli_verbs[first]);
    printf("    %.*s) seconds=\"", (int)len, cli_verbs[first].words);
    for (uint32_t i = first; i < cli_verb_count && (i == first || !is_first_of_group(i)); i++)
        if (second_word(&cli_verbs[i]) != NULL) printf("%s ", second_word(&cli_verbs[i]));
    printf("\" ;;\n");
}

static void bash_flags(const struct cli_flag *flags) {
    for (const struct cli_flag *f = flags; f != NULL && f->name != NULL; f++) printf("--%s ", f->name);
}

static void bash_body(void) {
    printf("    local verb=\"${words[1]}\" two=\"${words[1]} ${words[2]}\" flags=\"\" seconds=\"\"\n");
    printf("    case \"$verb\" in\n");
    for (uint32_t i = 0; i < cli_verb_count; i++)
        if (is_first_of_group(i) && second_word(&cli_verbs[i]) != NULL) bash_seconds(i);
    printf("    completion) seconds=\"bash zsh fish\" ;;\n    esac\n    case \"$two\" in\n");
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        if (cli_verbs[i].outside != CLI_INSIDE) continue;
        printf("    \"%s%s\"*) flags=\"", cli_verbs[i].words, second_word(&cli_verbs[i]) != NULL ? "" : " ");
        bash_flags(cli_verbs[i].flags);
        bash_flags(cli_common_flags);
        printf("\" ;;\n");
    }
    printf("    esac\n");
}

static void bash(bool is_zsh) {
    if (is_zsh) printf("#compdef reeve\nautoload -U +X bashcompinit && bashcompinit\n");
    printf("_reeve() {\n    local cur=\"${COMP_WORDS[COMP_CWORD]}\"\n    local words=(\"${COMP_WORDS[@]}\")\n");
    /* zsh counts from 1; its bash emulation gives COMP_WORDS that do too unless told otherwise. */
    if (is_zsh) printf("    setopt localoptions ksharrays\n");
    bash_body();
    printf("    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        COMPREPLY=($(compgen -W \"");
    for (uint32_t i = 0; i < cli_verb_count; i++)
        if (is_first_of_group(i)) printf("%.*s ", (int)first_len(&cli_verbs[i]), cli_verbs[i].words);
    printf("\" -- \"$cur\"))\n"
           "    elif [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$seconds\" ]; then\n"
           "        COMPREPLY=($(compgen -W \"$seconds\" -- \"$cur\"))\n"
           "    elif [ \"${cur#-}\" != \"$cur\" ]; then\n"
           "        COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n"
           "    else\n        COMPREPLY=($(compgen -f -- \"$cur\"))\n    fi\n}\n"
           "complete -o filenames -F _reeve reeve\n");
}

/* ---- fish ---- */

static void fish_text(const char *text) {
    printf(" -d '");
    for (; *text != 0; text++) {
        if (*text == '\'' || *text == '\\') putchar('\\');
        putchar(*text);
    }
    printf("'\n");
}

static void fish_verb(uint32_t i) {
    const struct cli_verb *v = &cli_verbs[i];
    const char *second = second_word(v);
    int len = (int)first_len(v);
    if (is_first_of_group(i)) printf("complete -c reeve -n __fish_use_subcommand -f -a %.*s", len, v->words);
    if (is_first_of_group(i)) fish_text(second == NULL ? v->text : "");
    if (second == NULL) return;
    printf(
        "complete -c reeve -n 'test (count (commandline -opc)) -eq 2; and __fish_seen_subcommand_from %.*s' -f -a %s",
        len, v->words, second);
    fish_text(v->text);
}

static void fish_flag(const struct cli_verb *v, const struct cli_flag *f) {
    const char *second = second_word(v);
    printf("complete -c reeve -n '__fish_seen_subcommand_from %.*s", (int)first_len(v), v->words);
    if (second != NULL) printf("; and __fish_seen_subcommand_from %s", second);
    printf("' -l %s", f->name);
    if (f->letter != 0) printf(" -s %c", f->letter);
    if (f->value != NULL) printf(" -r");
    fish_text(f->text);
}

static void fish(void) {
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        const struct cli_verb *v = &cli_verbs[i];
        fish_verb(i);
        if (v->outside != CLI_INSIDE) continue;
        for (const struct cli_flag *f = v->flags; f != NULL && f->name != NULL; f++) fish_flag(v, f);
    }
    for (const struct cli_flag *f = cli_common_flags; f->name != NULL; f++) {
        printf("complete -c reeve -l %s%s", f->name, f->value != NULL ? " -r" : "");
        fish_text(f->text);
    }
    printf("complete -c reeve -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n");
}

enum err verb_completion(struct cli *c) {
    const char *shell = c->args[0];
    if (strcmp(shell, "fish") == 0)
        fish();
    else if (strcmp(shell, "bash") == 0 || strcmp(shell, "zsh") == 0)
        bash(shell[0] == 'z');
    else
        return cli_refuse(c, ERR_INVALID, "expected bash, zsh or fish, found `%s`", shell);
    return ERR_OK;
}
