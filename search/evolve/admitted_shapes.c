/* A solution may be limited to some shapes by its constraints. One that replaces another is not: a
   kernel that computes nothing where no case of the run looks would be kept for its speed. */
#include "evolve/internal.h"

#include "base/random.h"
#include "space/breed.h"

enum { GENOME_STREAM = 0x70726f62 };

/* Whether some genome is valid for a shape. -1 with `error`. */
static int admits_shape(const struct template *template, const struct template_setting *setting,
                        const struct shape *shape, struct error *error) {
    struct template_setting only = *setting;
    struct random random;
    only.solution = template->solution;
    only.cases = shape;
    only.case_count = 1;
    only.derived_cases = true;
    struct template *alone = template_load(template->folder, &only, error);
    if (alone == NULL)
        return -1;
    struct genome genome = genome_default(alone->space);
    genome_canonicalise(&genome, alone->space);
    random_seed(&random, 1, GENOME_STREAM);
    const bool admitted = template_genome_is_valid(alone, &genome, 0) ||
                          (breed_repair(alone->space, &random, &genome) &&
                           template_genome_is_valid(alone, &genome, 0));
    template_free(alone);
    return admitted;
}

int evolve_check_admitted_shapes(const struct template *changed, const struct template *parent,
                                 const struct template_setting *setting, struct error *refusal) {
    struct error unloaded = {0};
    char name[CASE_NAME_SIZE];
    struct template *probes = template_load_probes(parent, setting, &unloaded);
    int status = unloaded.kind == ERROR_NONE ? 0 : -1;
    if (status < 0)
        *refusal = unloaded;
    for (int p = 0; probes != NULL && p < probes->case_count && status == 0; p++) {
        const int before = admits_shape(parent, setting, &probes->cases[p], refusal);
        const int after =
            before == 1 ? admits_shape(changed, setting, &probes->cases[p], refusal) : before;
        template_print_shape(parent, &probes->cases[p], name);
        if (before < 0 || after < 0)
            status = -1;
        else if (before > after)
            status = error_input(refusal,
                                 "its constraints exclude %s, a probe case of the problem, for "
                                 "which its parent has genomes: compute it, too",
                                 name);
    }
    template_free(probes);
    return status;
}
