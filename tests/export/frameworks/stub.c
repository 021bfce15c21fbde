/* Stands in for the exported kernel NAME (-DNAME=rms) of any template: every shape has a kernel,
 * and a launch does nothing. */
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define FUNCTION(f) JOIN(NAME, f)
#define QUOTE_(a)   #a
#define QUOTE(a)    QUOTE_(a)
#include QUOTE(HEADER)

int stand_in_calls;

int64_t FUNCTION(_workspace_bytes)(const struct FUNCTION(_shape) * shape) {
    (void)shape;
    return 0;
}

int FUNCTION(_launch)(const struct FUNCTION(_shape) * shape,
                      const struct FUNCTION(_tensors) * tensors, void *workspace, size_t bytes,
                      cudaStream_t stream) {
    (void)shape, (void)workspace, (void)bytes, (void)stream;
    stand_in_calls += tensors != NULL;
    return 0;
}

const char *FUNCTION(_error_string)(int status) {
    (void)status;
    return "an error";
}
