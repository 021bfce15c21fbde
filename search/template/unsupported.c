#include "template/unsupported.h"

#include <stdbool.h>
#include <string.h>

static const char textures[] =
    "a template has no textures and no surfaces: read a tensor, through __ldg or a symbol in "
    "__constant__ memory";
static const char host[] = "a template has no host code: give its launches and workspaces in "
                           "template.json, which evotile makes and exports";
static const char libraries[] =
    "a template calls no library between its kernels: write the step as a kernel of its own, with "
    "a launch in template.json";

/* Identifiers, or with `prefix` what they begin with. */
static const struct {
    const char *word;
    bool prefix;
    const char *why;
} words[] = {
    {"cudaTextureObject_t", false, textures},
    {"cudaSurfaceObject_t", false, textures},
    {"CUtexObject", false, textures},
    {"CUsurfObject", false, textures},
    {"tex1D", true, textures},
    {"tex2D", true, textures},
    {"tex3D", true, textures},
    {"surf1D", true, textures},
    {"surf2D", true, textures},
    {"surf3D", true, textures},
    {"cudaMalloc", true, host},
    {"cudaMemcpy", true, host},
    {"cudaMemset", true, host},
    {"cudaLaunch", true, host},
    {"cuLaunchKernel", true, host},
    {"cudaStream", true, host},
    {"cudaEvent", true, host},
    {"cublas", true, libraries},
    {"cudnn", true, libraries},
    {"cufft", true, libraries},
    {"cusparse", true, libraries},
    {"curandGenerate", true, libraries},
};

const char *unsupported_word(const char *word, size_t length) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t known = strlen(words[i].word);
        if ((words[i].prefix ? length >= known : length == known) &&
            strncmp(word, words[i].word, known) == 0)
            return words[i].why;
    }
    return NULL;
}
