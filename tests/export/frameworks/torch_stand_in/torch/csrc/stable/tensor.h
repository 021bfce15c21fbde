/*
 * What of PyTorch's stable ABI an export's operators use, on host memory: torch_program.py compiles
 * the same source with the real one. Tensors, the allocator, a stream, a device guard that counts,
 * and a dispatcher of boxed operators.
 */
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// ---- the C functions ----

using AOTITorchError = int32_t;
using StableIValue = uint64_t;
#define TORCH_ABI_VERSION 0

struct StandInTensor {
    std::shared_ptr<void> memory;
    int64_t offset; // in bytes
    std::vector<int64_t> extents, strides;
    int32_t dtype, device;
};
using AtenTensorHandle = StandInTensor *;

#define TORCH_ERROR_CODE_CHECK(call)                                                               \
    do {                                                                                           \
        if ((call) != 0)                                                                           \
            throw std::runtime_error("stand-in: " #call);                                          \
    } while (0)

// Numbers that are not those of PyTorch: nothing may rely on them.
#define STAND_IN_DTYPES(X)                                                                         \
    X(float16, 21, 2)                                                                              \
    X(bfloat16, 22, 2)                                                                             \
    X(float32, 23, 4)                                                                              \
    X(float64, 24, 8)                                                                              \
    X(uint32, 25, 4)                                                                               \
    X(int32, 26, 4)                                                                                \
    X(int8, 27, 1)                                                                                 \
    X(uint8, 28, 1)                                                                                \
    X(int16, 29, 2)                                                                                \
    X(int64, 30, 8)                                                                                \
    X(float8_e4m3fn, 31, 1)                                                                        \
    X(float8_e5m2, 32, 1)                                                                          \
    X(bool, 33, 1)
#define STAND_IN_DTYPE(name, number, bytes)                                                        \
    inline int32_t aoti_torch_dtype_##name() {                                                     \
        return number;                                                                             \
    }
STAND_IN_DTYPES(STAND_IN_DTYPE)
inline int64_t stand_in_bytes(int32_t dtype) {
#define STAND_IN_BYTES(name, number, bytes)                                                        \
    if (dtype == number)                                                                           \
        return bytes;
    STAND_IN_DTYPES(STAND_IN_BYTES)
    return 16; // of complex numbers
}

namespace stand_in {
inline int allocations, guards, device = 7; // device: of the guard, or 7
} // namespace stand_in

inline AOTITorchError aoti_torch_get_dtype(AtenTensorHandle tensor, int32_t *dtype) {
    *dtype = tensor->dtype;
    return 0;
}
inline AOTITorchError aoti_torch_get_device_type(AtenTensorHandle, int32_t *type) {
    *type = 1;
    return 0;
}
inline AOTITorchError aoti_torch_get_current_cuda_stream(int32_t device, void **stream) {
    *stream = reinterpret_cast<void *>(0x5eed + intptr_t(device));
    return stand_in::device == device ? 0 : 1;
}
// Fills with a pattern what a kernel must write.
inline AOTITorchError aoti_torch_empty_strided(int64_t rank, const int64_t *extents,
                                               const int64_t *strides, int32_t dtype, int32_t,
                                               int32_t device, AtenTensorHandle *tensor) {
    int64_t last = 0, any = 1;
    for (int64_t i = 0; i < rank; i++) {
        last += (extents[i] - 1) * strides[i];
        any *= extents[i];
    }
    const size_t bytes = any > 0 ? size_t((last + 1) * stand_in_bytes(dtype)) : 0;
    void *memory = std::aligned_alloc(64, (bytes / 64 + 1) * 64);
    std::memset(memory, 0x7e, bytes);
    stand_in::allocations++;
    *tensor = new StandInTensor{std::shared_ptr<void>(memory, std::free),
                                0,
                                {extents, extents + rank},
                                {strides, strides + rank},
                                dtype,
                                device};
    return stand_in::device == device ? 0 : 1;
}

namespace torch::stable {

// ---- tensors ----

template <typename T> struct Span {
    const T *first;
    size_t count;
    const T *begin() const {
        return first;
    }
    const T *end() const {
        return first + count;
    }
    size_t size() const {
        return count;
    }
};

class Tensor {
  public:
    Tensor() = default;
    explicit Tensor(AtenTensorHandle handle) : tensor(handle) {
    }
    AtenTensorHandle get() const {
        return tensor.get();
    }
    void *data_ptr() const {
        return static_cast<char *>(tensor->memory.get()) + tensor->offset;
    }
    const void *const_data_ptr() const {
        return data_ptr();
    }
    Span<int64_t> sizes() const {
        return {tensor->extents.data(), tensor->extents.size()};
    }
    Span<int64_t> strides() const {
        return {tensor->strides.data(), tensor->strides.size()};
    }
    int32_t get_device_index() const {
        return tensor->device;
    }

  private:
    std::shared_ptr<StandInTensor> tensor;
};

inline Tensor copy_(Tensor &to, const Tensor &from) {
    const int64_t bytes = stand_in_bytes(from.get()->dtype);
    std::vector<int64_t> at(from.sizes().size(), 0);
    const auto address = [&](const Tensor &tensor) {
        int64_t offset = 0;
        for (size_t i = 0; i < at.size(); i++)
            offset += at[i] * tensor.get()->strides[i];
        return static_cast<char *>(tensor.data_ptr()) + offset * bytes;
    };
    for (size_t axis = 0; axis < at.size();) {
        std::memcpy(address(to), address(from), size_t(bytes));
        for (axis = 0; axis < at.size() && ++at[axis] == from.get()->extents[axis]; axis++)
            at[axis] = 0;
    }
    return to;
}

// ---- a boxed call ----

namespace detail {
template <typename T> struct Box {
    static StableIValue from(const T &value) {
        return StableIValue(new T(value));
    }
    static T to(StableIValue value) {
        T *boxed = reinterpret_cast<T *>(value), result = *boxed;
        delete boxed;
        return result;
    }
};
template <typename T> StableIValue from(const T &value) {
    return Box<T>::from(value);
}
template <typename T> T to(StableIValue value) {
    return Box<T>::to(value);
}

using Boxed = void (*)(StableIValue *, uint64_t, uint64_t);

template <auto function> struct Boxer;
template <typename Result, typename... Parameters, Result (*function)(Parameters...)>
struct Boxer<function> {
    template <size_t... I> static void call(StableIValue *stack, std::index_sequence<I...>) {
        // In braces arguments are taken from left to right.
        std::tuple<Parameters...> arguments{to<Parameters>(stack[I])...};
        if constexpr (std::is_void_v<Result>)
            std::apply(function, arguments);
        else
            put(stack, std::apply(function, arguments));
    }
    template <typename T> static void put(StableIValue *stack, const T &value) {
        stack[0] = from(value);
    }
    template <typename... T> static void put(StableIValue *stack, const std::tuple<T...> &values) {
        std::apply([&](const T &...value) { (..., (*stack++ = from(value))); }, values);
    }
    static void boxed(StableIValue *stack, uint64_t count, uint64_t) {
        if (count != sizeof...(Parameters))
            throw std::runtime_error("stand-in: another number of arguments");
        call(stack, std::index_sequence_for<Parameters...>());
    }
};
} // namespace detail

struct Operator {
    std::string schema;
    detail::Boxed function;
};
inline std::map<std::string, Operator> &operators() {
    static std::map<std::string, Operator> all;
    return all;
}

struct Library {
    std::string name;
    void def(const char *schema) {
        const std::string text = schema;
        operators()[name + "::" + text.substr(0, text.find('('))].schema = text;
    }
    void impl(const char *function, detail::Boxed boxed) {
        operators().at(name + "::" + function).function = boxed;
    }
};
} // namespace torch::stable

inline AOTITorchError torch_call_dispatcher(const char *name, const char *, StableIValue *stack,
                                            uint64_t) {
    const torch::stable::Operator &called = torch::stable::operators().at(name);
    if (called.function == nullptr)
        return 1;
    uint64_t count = 1; // what the schema has between its first brackets that are not "(a!)"
    for (size_t i = 0; i < called.schema.find(") -> "); i++)
        count += called.schema[i] == ',' && called.schema.compare(i, 3, ", *") != 0;
    called.function(stack, count, 0);
    return 0;
}

namespace torch::stable::accelerator {
class DeviceGuard {
  public:
    explicit DeviceGuard(int32_t index) : before(std::exchange(stand_in::device, index)) {
        stand_in::guards++;
    }
    ~DeviceGuard() {
        stand_in::device = before;
    }
    DeviceGuard(const DeviceGuard &) = delete;

  private:
    int before;
};
} // namespace torch::stable::accelerator

#define STAND_IN_JOIN_(a, b) a##b
#define STAND_IN_JOIN(a, b)  STAND_IN_JOIN_(a, b)
#define STAND_IN_LIBRARY(ns, m, function)                                                          \
    static void function(torch::stable::Library &);                                                \
    static const bool STAND_IN_JOIN(function, _called) = [] {                                      \
        torch::stable::Library library{#ns};                                                       \
        function(library);                                                                         \
        return true;                                                                               \
    }();                                                                                           \
    static void function(torch::stable::Library &m)
#define STABLE_TORCH_LIBRARY(ns, m)           STAND_IN_LIBRARY(ns, m, stand_in_define)
#define STABLE_TORCH_LIBRARY_IMPL(ns, key, m) STAND_IN_LIBRARY(ns, m, STAND_IN_JOIN(stand_in_, key))
#define TORCH_BOX(function)                   torch::stable::detail::Boxer<function>::boxed
