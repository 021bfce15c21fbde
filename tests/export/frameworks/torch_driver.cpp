// Calls the operators of an export of attention_fwd (NAME_torch.cpp) through the stand-in of
// PyTorch's stable ABI, with a launcher that stands in for the kernel: torch_driver.cpp is compiled
// with -DNAME=att.
#include NAME_TORCH_CPP

#include <cmath>
#include <cstdio>

extern "C" int stand_in_calls;
extern "C" void *stand_in_stream;

namespace {

#define QUOTE_(name) #name
#define QUOTE(name)  QUOTE_(name)
const std::string prefix = std::string(QUOTE(NAME)) + "::";
int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("line %d: %s\n", __LINE__, #condition);                                    \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

// A tensor of f16 ones in which element [b][h][s][d] of `marked` rows is 2; device 3.
Tensor make(std::vector<int64_t> extents, std::vector<int64_t> strides, int64_t offset = 0,
            int32_t dtype = 21, int32_t device = 3) {
    int64_t elements = offset + 1;
    for (size_t i = 0; i < extents.size(); i++)
        elements += (extents[i] - 1) * strides[i];
    uint16_t *memory =
        static_cast<uint16_t *>(std::aligned_alloc(64, size_t(elements * 2 / 64 + 1) * 64));
    for (int64_t i = 0; i < elements; i++)
        memory[i] = uint16_t(0x3c00 + (i * 37 % 101)); // 1 to 1.1
    return Tensor(new StandInTensor{std::shared_ptr<void>(memory, std::free), offset * 2, extents,
                                    strides, dtype, device});
}

double value(const Tensor &tensor, std::vector<int64_t> at) {
    int64_t offset = 0;
    for (size_t i = 0; i < at.size(); i++)
        offset += at[i] * tensor.get()->strides[i];
    const uint16_t bits = static_cast<const uint16_t *>(tensor.const_data_ptr())[offset];
    return std::ldexp(1024 + (bits & 1023), (bits >> 10 & 31) - 25);
}

// Attention of one query, in double precision, from whatever memory the tensors are in.
double expected(const Tensor &q, const Tensor &k, const Tensor &v, std::vector<int64_t> at,
                bool causal) {
    const int64_t keys = causal ? at[2] + 1 : k.get()->extents[2];
    const int64_t kv = at[1] / (q.get()->extents[1] / k.get()->extents[1]);
    double sum = 0, result = 0;
    for (int64_t j = 0; j < keys; j++) {
        double score = 0;
        for (int64_t d = 0; d < 64; d++)
            score += value(q, {at[0], at[1], at[2], d}) * value(k, {at[0], kv, j, d}) / 8;
        sum += std::exp(score);
        result += std::exp(score) * value(v, {at[0], kv, j, at[3]});
    }
    return result / sum;
}

Tensor sdpa(const Tensor &q, const Tensor &k, const Tensor &v, bool causal = false,
            std::optional<double> scale = {}, std::optional<Tensor> mask = {}) {
    StableIValue stack[] = {from(q),   from(k),      from(v),     from(mask),
                            from(0.0), from(causal), from(scale), from(true)};
    dispatch((prefix + "scaled_dot_product_attention").c_str(), stack);
    return to<Tensor>(stack[0]);
}

// ---- fall-backs, as the Python module registers them ----

int fallbacks;

Tensor other_attention(Tensor query, Tensor, Tensor, std::optional<Tensor>, double, bool,
                       std::optional<double>, bool) {
    fallbacks++;
    return query;
}

std::tuple<Tensor, Tensor> other_forward(Tensor q, Tensor k, Tensor, std::optional<Tensor>,
                                         std::optional<Tensor>, std::optional<Tensor>, int64_t,
                                         int64_t, int64_t, double, int64_t, int64_t, int64_t,
                                         int64_t, int64_t) {
    fallbacks++;
    return {q, k};
}

std::string forward_error(const Tensor &q, const Tensor &k, const Tensor &v, bool fall_back,
                          int64_t causal = 0) {
    const std::optional<Tensor> none; // sinks and both cu_seqlens
    const int64_t zero = 0, lse = 1;
    StableIValue stack[] = {from(q),    from(k),    from(v),      from(none),
                            from(none), from(none), from(causal), from(zero),
                            from(lse),  from(0.0),  from(zero),   from(zero),
                            from(zero), from(zero), from(zero),   from(fall_back)};
    try {
        dispatch((prefix + "forward").c_str(), stack);
    } catch (const std::exception &error) {
        return error.what();
    }
    const Tensor o = to<Tensor>(stack[0]), sums = to<Tensor>(stack[1]);
    CHECK(fall_back || sums.get()->extents == std::vector<int64_t>({2 * 4 * 9}));
    return "";
}

// ---- checks ----

void check_result(const Tensor &o, const Tensor &q, const Tensor &k, const Tensor &v, bool causal) {
    CHECK(o.get()->extents == q.get()->extents && o.get()->device == 3);
    for (const auto &at : std::vector<std::vector<int64_t>>{
             {0, 0, 0, 0}, {1, 3, 8, 63}, {0, 2, 5, 17}, {1, 1, 1, 40}})
        CHECK(std::fabs(value(o, at) - expected(q, k, v, at, causal)) < 2e-3);
}

void check_views() {
    const std::vector<int64_t> extents = {2, 4, 9, 64};
    const struct {
        std::vector<int64_t> strides;
        int64_t offset;
        int copies;
    } views[] = {
        {{2304, 576, 64, 1}, 0, 0}, // packed
        {{2304, 64, 256, 1}, 0, 0}, // [B, S, H, D]
        {{2592, 648, 72, 1}, 0, 0}, // columns of a wider tensor
        {{2304, 576, 64, 1}, 8, 0}, // another address, at a multiple of 16 bytes
        {{2304, 576, 64, 1}, 3, 1}, // and at none
        {{2340, 585, 65, 1}, 0, 1}, // rows at none
        {{2304, 576, 1, 9}, 0, 1},  // columns that are not dense
        {{576, 0, 64, 1}, 0, 1},    // one head, expanded
        {{0, 0, 0, 1}, 0, 1},       // one row: without a copy it would mean a packed tensor
    };
    for (const auto &one : views)
        for (const auto &other : views) {
            const Tensor q = make(extents, one.strides, one.offset);
            const Tensor k = make(extents, other.strides, other.offset),
                         v = make(extents, other.strides, other.offset);
            const int before = stand_in_calls, allocated = stand_in::allocations;
            const Tensor o = sdpa(q, k, v, true);
            CHECK(stand_in_calls == before + 1);
            /* o, the result that is not there, the workspace and copies */
            CHECK(stand_in::allocations == allocated + 3 + one.copies + 2 * other.copies);
            check_result(o, q, k, v, true);
        }
    // The result's order is that of q.
    const Tensor q = make(extents, {2304, 64, 256, 1});
    CHECK(sdpa(q, q, q).get()->strides == std::vector<int64_t>({2304, 64, 256, 1}));
    // Extents of 1 may have any stride.
    const Tensor few = make({1, 1, 1, 64}, {3, 1, 5, 1});
    CHECK(std::fabs(value(sdpa(few, few, few), {0, 0, 0, 9}) - value(few, {0, 0, 0, 9})) < 1e-3);
    const Tensor one = make({1, 4, 9, 64}, {3, 64, 256, 1});
    const int before = stand_in_calls;
    CHECK(std::fabs(value(sdpa(one, one, one), {0, 3, 8, 1}) -
                    expected(one, one, one, {0, 3, 8, 1}, false)) < 2e-3);
    CHECK(stand_in_calls == before + 1);
    // Grouped heads; the stream and the device are those of the tensors.
    const Tensor k = make({2, 2, 9, 64}, {1152, 576, 64, 1});
    check_result(sdpa(q, k, k), q, k, k, false);
    CHECK(stand_in_stream == reinterpret_cast<void *>(0x5eed + 3) && stand_in::device == 7);
}

void check_refusals() {
    const std::vector<int64_t> packed = {2304, 576, 64, 1};
    const Tensor q = make({2, 4, 9, 64}, packed),
                 longer = make({2, 4, 201, 64}, {51456, 12864, 64, 1});
    const Tensor keys = make({2, 4, 12, 64}, {3072, 768, 64, 1}),
                 f32 = make({2, 4, 9, 64}, packed, 0, 23);
    const Tensor complex = make({2, 4, 9, 64}, packed, 0, 99),
                 elsewhere = make({2, 4, 9, 64}, packed, 0, 21, 4);
    const Tensor narrow = make({2, 4, 9, 48}, {1728, 432, 48, 1}),
                 flat = make({4, 9, 64}, {576, 64, 1});
    const Tensor none = make({0, 4, 9, 64}, packed),
                 many = make({1, 1, 1, 2, 4, 9, 64}, {1, 1, 1, 2304, 576, 64, 1});
    const int calls = stand_in_calls, before = fallbacks;
    sdpa(q, q, q, false, 0.0); // which the kernel would take for its default
    sdpa(q, q, q, false, -1.0);
    sdpa(q, q, q, false, {}, f32);
    sdpa(q, keys, keys, true); // PyTorch's mask begins at the first key
    sdpa(longer, longer, longer);
    for (const Tensor &one : {f32, complex, elsewhere, narrow, flat, none, many})
        sdpa(one, q, q), sdpa(q, one, q), sdpa(q, q, one);
    CHECK(stand_in_calls == calls && fallbacks == before + 5 + 21);
    CHECK(forward_error(q, q, q, false) == "");
    CHECK(forward_error(q, keys, keys, false, 1) == "");
    CHECK(stand_in_calls == calls + 2);
    CHECK(forward_error(q, elsewhere, q, false).find("several devices") != std::string::npos);
    CHECK(forward_error(q, f32, q, false).find("k has another dtype") != std::string::npos);
    CHECK(forward_error(flat, q, q, false).find("q has 3 extents, and not 4") != std::string::npos);
    CHECK(forward_error(q, q, keys, false).find("extent 2 of v is 12, and not 9") !=
          std::string::npos);
    CHECK(forward_error(narrow, narrow, narrow, false).find("no kernel for B=2,H=4") !=
          std::string::npos);
    CHECK(forward_error(longer, longer, longer, false).find("not verified") != std::string::npos);
    CHECK(forward_error(longer, longer, longer, true) == "" && fallbacks == before + 5 + 21 + 1);
    CHECK(stand_in_calls == calls + 2);
}

} // namespace

int main() {
    torch::stable::operators().at(prefix + "forward_fallback").function = TORCH_BOX(&other_forward);
    torch::stable::operators().at(prefix + "scaled_dot_product_attention_fallback").function =
        TORCH_BOX(&other_attention);
    check_views();
    check_refusals();
    std::printf("%d calls of the kernel, %d fall-backs, %d failures\n", stand_in_calls, fallbacks,
                failures);
    return failures > 0;
}
