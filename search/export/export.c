#include "export/export.h"

#include "base/memory.h"
#include "base/signature.h"
#include "export/folder.h"
#include "export/internal.h"

#include <stdio.h>
#include <string.h>

/* ---- the files ---- */

static int write_file(const struct export *export, const char *name, const void *bytes, size_t size,
                      struct error *error) {
    char path[PATH_SIZE];
    if (path_join(path, export->folder, name, error) < 0)
        return -1;
    return path_write_file(path, bytes, size, error);
}

int write_text(const struct export *export, const char *name, int written, struct strbuf *text,
               struct error *error) {
    int result = written < 0 ? -1 : write_file(export, name, text->bytes, text->used, error);
    strbuf_release(text);
    return result;
}

int write_export_file(const struct export *export, const char *name, export_writer *write,
                      struct error *error) {
    struct strbuf text = {0};
    char whole[NAME_SIZE + 16];
    const bool follows = name[0] == '.' || name[0] == '_';
    snprintf(whole, sizeof whole, "%s%s", follows ? export->name : "", name);
    return write_text(export, whole, write(export, &text, error), &text, error);
}

/* Each variant's variant_N.h and variant_N.cubin. */
static int write_variants(const struct export *export, struct error *error) {
    const struct export_request *request = export->request;
    for (int variant = 0; variant < count_all_variants(export); variant++) {
        struct strbuf header = {0};
        char name[VARIANT_FILE_SIZE];
        int written = write_variant_header(export, variant, &header, error);
        if (write_text(export, variant_file(variant, "h", name), written, &header, error) < 0 ||
            write_file(export, variant_file(variant, "cubin", name),
                       request->variants[variant].cubin, request->variants[variant].cubin_bytes,
                       error) < 0)
            return -1;
    }
    return 0;
}

static int write_reference(const struct export *export, struct error *error) {
    const struct template *template = export->template;
    char path[PATH_SIZE];
    size_t size;
    if (!has_cpu_reference(export))
        return 0;
    if (template->cpu_reference == NULL) {
        struct strbuf text = {0};
        int written =
            (template->real ? write_host_reference : write_program_reference)(export, &text, error);
        return write_text(export, cpu_reference_file(export), written, &text, error);
    }
    if (path_join(path, template->folder, template->cpu_reference, error) < 0)
        return -1;
    char *bytes = path_read_file(path, 4 << 20, &size, error);
    int result =
        bytes != NULL ? write_file(export, cpu_reference_file(export), bytes, size, error) : -1;
    free(bytes);
    return result;
}

/* The source of each solution. */
static int write_kernels(const struct export *export, struct error *error) {
    for (int s = 0; s < export->solution_count; s++) {
        struct strbuf text = {0};
        char name[SOURCE_FILE_SIZE];
        int written = write_kernel(export, export->solutions[s], &text, error);
        if (write_text(export, source_file(export, export->solutions[s], name), written, &text,
                       error) < 0)
            return -1;
    }
    return 0;
}

static bool exports_solution(const struct export *export, const char *name) {
    for (int s = 0; s < export->solution_count; s++)
        if (strcmp(export->solutions[s]->solution, name) == 0)
            return true;
    return false;
}

/* Removes the solutions that the export has not from the copy of their problem. */
static int remove_solutions(const struct export *export, const char *folder, struct error *error) {
    char **names, path[PATH_SIZE];
    int count;
    int status = template_solutions(folder, &names, &count, error);
    for (int i = 0; i < count && status == 0; i++)
        if (!exports_solution(export, names[i]) &&
            (path_join(path, folder, names[i], error) < 0 || path_remove_tree(path, error) < 0))
            status = -1;
    path_list_free(names, count);
    return status;
}

/* template/NAME and template/lib, as template_load expects them. */
static int write_template(const struct export *export, struct error *error) {
    const struct template *template = export->template;
    char to[PATH_SIZE];
    if (path_join(to, export->folder, "template", error) < 0 ||
        path_join(to, to, template->name, error) < 0 || path_make_folder(to, error) < 0 ||
        path_copy_tree(template->folder, to, error) < 0 || remove_solutions(export, to, error) < 0)
        return -1;
    if (!path_is_dir(template->library))
        return 0;
    if (path_join(to, export->folder, "template/lib", error) < 0)
        return -1;
    return path_copy_tree(template->library, to, error);
}

static int write_all(const struct export *export, struct error *error) {
    static const struct {
        const char *name;
        export_writer *write;
        enum { ALWAYS, WITH_REFERENCE_SOURCE, WITH_DEFAULT_GENOME, WITH_SETUP, WITH_PYTHON } when;
    } files[] = {
        {".h", write_header, ALWAYS},
        {".c", write_launcher, ALWAYS},
        {"cases.h", write_cases, ALWAYS},
        {"check.c", write_check, ALWAYS},
        {"numbers.h", write_numbers, ALWAYS},
        {"fills.h", write_fills, ALWAYS},
        {"shape.h", write_shape, ALWAYS},
        {"verify.h", write_verify, ALWAYS},
        {"reference.cu", write_reference_source, WITH_REFERENCE_SOURCE},
        {"reference_runner.py", write_reference_runner, WITH_PYTHON},
        {"Makefile", write_makefile, ALWAYS},
        {"CMakeLists.txt", write_cmake, ALWAYS},
        {".pc", write_pkg_config, ALWAYS},
        {"reference_launch.c", write_reference_launch, WITH_REFERENCE_SOURCE},
        {"reference_launch.c", write_default_launch, WITH_DEFAULT_GENOME},
        {"setup.cu", write_setup_source, WITH_SETUP},
        {"setup_launch.c", write_setup_launch, WITH_SETUP},
        {"manifest.json", write_manifest, ALWAYS}, /* lists all the others */
    };
    if (write_kernels(export, error) < 0 || write_variants(export, error) < 0 ||
        write_reference(export, error) < 0 || write_template(export, error) < 0 ||
        write_frameworks(export, error) < 0)
        return -1;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if ((files[i].when == WITH_REFERENCE_SOURCE &&
             (!has_gpu_reference(export) || has_default_reference(export))) ||
            (files[i].when == WITH_DEFAULT_GENOME && !has_default_reference(export)) ||
            (files[i].when == WITH_SETUP && export->template->setup.count == 0) ||
            (files[i].when == WITH_PYTHON && (export->template->reference_python == NULL ||
                                              export->template->cpu_reference != NULL)))
            continue;
        if (write_export_file(export, files[i].name, files[i].write, error) < 0)
            return -1;
    }
    return sign_export(export, error);
}

int sign_export(const struct export *export, struct error *error) {
    char manifest[PATH_SIZE];
    if (export->request->sign_key == NULL)
        return 0;
    if (path_join(manifest, export->folder, "manifest.json", error) < 0)
        return -1;
    return signature_write(export->request->sign_key, manifest, error);
}

/* ---- the export ---- */

void export_make_name(const char *folder, char name[NAME_SIZE]) {
    const char *from = path_name(folder);
    int used = snprintf(name, NAME_SIZE, "%s%.*s", *from >= '0' && *from <= '9' ? "tuned_" : "",
                        NAME_SIZE - 8, from);
    for (int i = 0; i < used; i++)
        if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
              (name[i] >= '0' && name[i] <= '9')))
            name[i] = '_';
}

static void check_request(const struct export_request *request) {
    if (request->variant_count < 1 || request->variant_count > CASES_MAX)
        BUG("%d variants", request->variant_count);
    if ((request->reference_count > 0) !=
        (request->template->reference_kind == REFERENCE_DEFAULT_GENOME))
        BUG("%d variants are the reference", request->reference_count);
    for (int variant = 0; variant < request->variant_count + request->reference_count; variant++)
        if (request->variants[variant].cubin == NULL || request->variants[variant].key == NULL)
            BUG("variant %d has no %s", variant,
                request->variants[variant].key == NULL ? "key" : "cubin");
    if (request->template != request->variants[0].template)
        BUG("the template is not that of the first variant");
    for (int c = 0; c < request->template->case_count; c++)
        if (request->cases[c].variant < 0 || request->cases[c].variant >= request->variant_count ||
            request->cases[c].outcome == NULL)
            BUG("case %d has no variant or no outcome", c);
    if (request->replay == NULL)
        BUG("no replay command");
}

/* The genome may have been found with another template, config or device than the loaded one. */
static int check_genomes(const struct export *export, struct error *error) {
    for (int c = 0; c < export->template->case_count; c++) {
        const int variant = export->request->cases[c].variant;
        const struct template *template = variant_template(export, variant);
        const struct genome *genome = export->request->variants[variant].genome;
        char text[GENOME_TEXT_SIZE];
        char name[CASE_NAME_SIZE];
        if (template_genome_is_valid(template, genome, c))
            continue;
        genome_print(genome, template->space, text);
        template_print_shape(template, &template->cases[c], name);
        return error_input(error,
                           "the genome %.600s is not valid for %.300s: has the template or the "
                           "config changed? `evotile space CONFIG --genome ...` shows why",
                           text, name);
    }
    return 0;
}

static int write_folder(struct export *export, const struct export_folder *folder,
                        struct error *error) {
    const struct template *template = export->template;
    if (check_names(export, error) < 0 || check_genomes(export, error) < 0)
        return -1;
    if (template->cpu_reference == NULL && !template->real && !has_default_reference(export) &&
        template->reference_kind != REFERENCE_PROGRAM &&
        template->reference_kind != REFERENCE_ANSWERS)
        return error_input(error,
                           "%s: an exported kernel is verified against a CPU reference, but the "
                           "template has none: write its reference in `real`, or write reference.c "
                           "and name it in \"cpu_reference\" (docs/templates.md)",
                           template->document.file);
    if (find_workspaces(export, error) < 0 || find_checked_shapes(export, error) < 0 ||
        export_folder_create(folder, error) < 0)
        return -1;
    return export_folder_finish(folder, write_all(export, error), error);
}

int export_write(const struct export_request *request, const char *requested, struct error *error) {
    struct export_folder *paths = xmalloc(sizeof *paths);
    char name[NAME_SIZE];
    struct export export = {.request = request, .template = request->template};
    check_request(request);
    if (export_folder_open(paths, requested, request->force, error) < 0) {
        free(paths);
        return -1;
    }
    export_make_name(paths->folder, name);
    export.name = request->name != NULL ? request->name : name;
    export.folder = paths->temporary;
    find_solutions(&export);
    if (has_default_reference(&export) && export.solution_count > 1)
        BUG("the default genomes of several solutions are no reference");
    for (int t = 0; t < request->template->tensor_count; t++) {
        export.contents_count += request->template->tensors[t].of_output;
        export.magnitude_count += request->template->tensors[t].role == ROLE_MAGNITUDE;
        export.setup_count += request->template->tensors[t].role == ROLE_SETUP;
    }
    int result = write_folder(&export, paths, error);
    free(export.checked);
    free(export.verified);
    free(paths);
    return result;
}
