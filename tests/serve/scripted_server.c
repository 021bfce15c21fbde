/* `evotile serve` with a judge that runs nothing: its arguments are the verb's. */
#include "cli/cli.h"
#include "serve/evaluation_judge.h"
#include "serve/scripted_judge.h"

struct judge *evaluation_judge_new(const struct evaluation_judge_settings *settings,
                                   struct error *error) {
    (void)settings;
    (void)error;
    return scripted_judge_new();
}

int main(int argc, char **argv) {
    static const struct verb *const all[] = {&verb_serve, NULL};
    struct verb called = verb_serve;
    called.all = all;
    return called.run(&called, argc, argv);
}
