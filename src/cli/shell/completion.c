/* completion.c: completion for bash, zsh and fish. Their scripts hand the line up to the cursor to a verb that is in no
 * list (CLI_COMPLETE_WORD), which prints a line TEXT, tab, NOTE for each choice, and FILES where files go: what a line
 * may become is known in one place (complete.h), and a script that was installed once knows later verbs. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

#include "complete.h"
#include "out.h"

#define FILES ":files"
#define ANSWER_MS 300 /* whoever presses Tab does not wait longer; without an answer there are no names */

/* ---- the choices ---- */

static void give_up(int number) {
    (void)number;
    _exit(0);
}

static void limit_time(void) {
    struct sigaction act = {.sa_handler = give_up};
    struct itimerval limit = {.it_value = {.tv_usec = ANSWER_MS * 1000}};
    (void)sigaction(SIGALRM, &act, NULL);
    (void)setitimer(ITIMER_REAL, &limit, NULL);
}

int cli_complete(const struct cli_world *world, const char *line) {
    static const struct cli_verb own = {.words = CLI_COMPLETE_WORD, .args = ""};
    struct cli c;
    struct why why = {{0}};
    struct complete x;
    limit_time();
    c = (struct cli){.world = world, .verb = &own, .why = &why, .client = {.fd = -1}};
    arena_init(&c.arena, 65536, (size_t)256 << 20);
    complete_line(&x, &c, &c.arena, slice_str(line), true);
    if (x.wants_files) printf(FILES "\n");
    for (uint32_t i = 0; i < x.choices.count; i++) {
        const struct complete_choice *choice = vec_at(&x.choices, i);
        if (memchr(choice->text.ptr, '\n', choice->text.len) != NULL) continue;
        out_clean(stdout, choice->text);
        if (choice->note.len > 0) putchar('\t'), out_clean(stdout, choice->note);
        putchar('\n');
    }
    complete_fini(&x);
    client_close(&c.client);
    arena_fini(&c.arena);
    (void)fflush(stdout);
    return 0;
}

/* ---- the scripts ---- */

/* bash cuts words at signs like = and @: what stands before the last cut is taken off each choice. */
static const char bash[] =
    "_reeve() {\n"
    "    local line=\"${COMP_LINE:0:COMP_POINT}\" cut text note\n"
    "    cut=\"${line##*[[:space:]]}\"\n"
    "    cut=\"${cut%\"$2\"}\"\n"
    "    COMPREPLY=()\n"
    "    while IFS=$'\\t' read -r text note; do\n"
    "        if [[ $text == " FILES " ]]; then\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            while IFS= read -r text; do COMPREPLY+=(\"$text\"); done < <(compgen -f -- \"$2\")\n"
    "        else\n"
    "            COMPREPLY+=(\"${text#\"$cut\"}\")\n"
    "        fi\n"
    "    done < <(\"${1/#\\~/$HOME}\" " CLI_COMPLETE_WORD " \"$line\" 2>/dev/null)\n"
    "    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then compopt -o nospace 2>/dev/null; fi\n"
    "}\n"
    "complete -F _reeve reeve\n";

static const char zsh[] = "#compdef reeve\n"
                          "_reeve() {\n"
                          "    local line=\"${(j: :)words[1,CURRENT-1]} $PREFIX\" text note files\n"
                          "    local -a names shown parts shown_parts\n"
                          "    while IFS=$'\\t' read -r text note; do\n"
                          "        if [[ $text == " FILES " ]]; then\n"
                          "            files=1\n"
                          "        elif [[ $text == */ ]]; then\n"
                          "            parts+=(\"$text\")\n"
                          "            shown_parts+=(\"$text${note:+  -- $note}\")\n"
                          "        else\n"
                          "            names+=(\"$text\")\n"
                          "            shown+=(\"$text${note:+  -- $note}\")\n"
                          "        fi\n"
                          "    done < <(${(Q)words[1]/#\\~/$HOME} " CLI_COMPLETE_WORD " \"$line\" 2>/dev/null)\n"
                          "    (( $#names )) && compadd -V names -l -d shown -a names\n"
                          "    (( $#parts )) && compadd -V parts -l -S '' -d shown_parts -a parts\n"
                          "    [[ -n $files ]] && _files\n"
                          "}\n"
                          "if [[ $funcstack[1] == _reeve ]]; then _reeve \"$@\"; else compdef _reeve reeve; fi\n";

static const char fish[] =
    "function __reeve_complete\n"
    "    for choice in (reeve " CLI_COMPLETE_WORD " (commandline -cp | string collect) 2>/dev/null)\n"
    "        if test \"$choice\" = " FILES "\n"
    "            __fish_complete_path (commandline -ct)\n"
    "        else\n"
    "            echo $choice\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c reeve -f -a '(__reeve_complete)'\n";

enum err verb_completion(struct cli *c) {
    static const struct { const char *shell, *script; } scripts[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        if (strcmp(scripts[i].shell, c->args[0]) != 0) continue;
        fputs(scripts[i].script, stdout);
        return ERR_OK;
    }
    return cli_refuse(c, ERR_INVALID, "expected bash, zsh or fish, found `%s`", c->args[0]);
}
