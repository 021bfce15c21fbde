/* The work of a call, where a template's genes change it: scores and duels are of the time for the
   same work. */
#include "evaluate/evaluation.h"

double evaluation_call_score(const struct evaluation *evaluation, int case_index, double us) {
    const enum minimised minimised = evaluation_minimises(evaluation);
    struct error error;
    double work;
    if (!minimised_counts_work(minimised))
        return us;
    if (template_work(evaluation->template, &evaluation->request->genome, case_index, &work,
                      &error) < 0)
        BUG("a genome was planned but its work has no value: %s", error.text);
    return minimised_call_score(minimised, us, work);
}

int evaluation_work_ratios(const struct evaluation *evaluation, const struct evaluation *other,
                           double ratios[CASES_MAX]) {
    const struct template *template = evaluation->template,
                          *others = other != NULL ? other->template : template;
    const struct genome genome =
        other != NULL ? other->request->genome : genome_default(template->space);
    for (int c = 0; c < template->case_count; c++) {
        double own, of_other;
        if (template_work(template, &evaluation->request->genome, c, &own, evaluation->error) < 0 ||
            template_work(others, &genome, c, &of_other, evaluation->error) < 0)
            return -1;
        ratios[c] = of_other / own;
    }
    return 0;
}
