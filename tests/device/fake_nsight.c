/* A fake of the library that Nsight Systems injects, for tests: writes NVTX ranges to the file
   $FAKE_NSIGHT, one "begin NAME" or "end" a line, each with the process.

       gcc -shared -fPIC -I$CUDA_HOME/include -o fake_nsight.so tests/device/fake_nsight.c
       NVTX_INJECTION64_PATH=$PWD/fake_nsight.so FAKE_NSIGHT=$PWD/ranges evotile try ...
*/
#include <nvtx3/nvToolsExt.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void tell(const char *what, const char *name) {
    FILE *file = fopen(getenv("FAKE_NSIGHT"), "a");
    if (file == NULL)
        abort();
    fprintf(file, "%d %s%s\n", (int)getpid(), what, name);
    fclose(file);
}

static int push(const char *name) {
    tell("begin ", name);
    return 0;
}

static int pop(void) {
    tell("end", "");
    return 0;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
    const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table;
    unsigned size;
    if (callbacks == NULL || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size))
        return 0;
    *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
    return 1;
}
