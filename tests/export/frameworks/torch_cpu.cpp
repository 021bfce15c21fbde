// What PyTorch's operators need of a GPU, for tensors of the CPU: no device to make current, and a
// stream that the launcher's stand-in can recognise.
#include <torch/csrc/inductor/aoti_torch/c/shim.h>

extern "C" {
AOTITorchError aoti_torch_create_device_guard(int32_t, DeviceGuardHandle *guard) {
    *guard = nullptr;
    return 0;
}

AOTITorchError aoti_torch_delete_device_guard(DeviceGuardHandle) {
    return 0;
}

AOTITorchError aoti_torch_get_current_cuda_stream(int32_t, void **stream) {
    *stream = reinterpret_cast<void *>(0x5eed);
    return 0;
}
}
