/*
 * What of XLA's foreign function interface an export's handler uses, to compile it: jax_program.py
 * compiles the same source with the real one. The macro checks that the handler takes what is
 * bound.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace xla::ffi {

enum class DataType {
    PRED,
    S8,
    S16,
    S32,
    S64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    BF16,
    F8E5M2,
    F8E4M3FN
};
enum class ErrorCode { kOk, kInvalidArgument, kUnimplemented, kResourceExhausted, kInternal };

class Error {
  public:
    Error() = default;
    Error(ErrorCode number, std::string text) : code(number), message(text) {
    }
    static Error Success() {
        return Error();
    }

  private:
    ErrorCode code = ErrorCode::kOk;
    std::string message;
};

template <typename T> class ErrorOr {
  public:
    bool has_error() const;
    Error error() const;
    T &operator*();
    const T &operator*() const;
};

struct Dimensions {
    const int64_t *begin() const;
    size_t size() const;
};

class AnyBuffer {
  public:
    DataType element_type() const;
    Dimensions dimensions() const;
    void *untyped_data() const;
};

template <typename T> class Result {
  public:
    T &operator*();
};

struct RemainingArgs {
    template <typename T> ErrorOr<T> get(size_t index) const;
};
struct RemainingRets {
    template <typename T> ErrorOr<Result<T>> get(size_t index) const;
};
struct ScratchAllocator {
    std::optional<void *> Allocate(size_t bytes, size_t alignment = 1);
};

template <typename T> struct PlatformStream {};
template <typename T> struct Context { using type = T; };
template <typename T> struct Context<PlatformStream<T>> { using type = T; };

template <typename... Bound> struct Binding {
    template <typename T> Binding<Bound..., typename Context<T>::type> Ctx() const {
        return {};
    }
    Binding<Bound..., ffi::RemainingArgs> RemainingArgs() const {
        return {};
    }
    Binding<Bound..., ffi::RemainingRets> RemainingRets() const {
        return {};
    }
    template <typename T> Binding<Bound..., T> Attr(const char *) const {
        return {};
    }
    template <typename Function> constexpr bool takes(Function) const {
        return std::is_invocable_r_v<Error, Function, Bound...>;
    }
};
struct Ffi {
    static constexpr Binding<> Bind() {
        return {};
    }
};

} // namespace xla::ffi

#define XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, binding)                                     \
    extern "C" void *name() {                                                                      \
        static_assert(decltype(binding)().takes(function));                                        \
        return reinterpret_cast<void *>(&function);                                                \
    }
