#include "base/random.h"

#include <cinttypes>
#include <iostream>
#include <locale>
#include <typeinfo>

/* A debugging aid of the library, which is not called here, needs run-time type information; C++ is
   compiled without it here. */
struct no_type_information {
    const char *name() const {
        return "";
    }
};
#define typeid(type) no_type_information()
#include <pcg_random.hpp>
#undef typeid

namespace {

using pcg_extras::pcg128_t;

pcg128_t wide(uint64_t high, uint64_t low) {
    return PCG_128BIT_CONSTANT(high, low);
}

uint64_t high_of(pcg128_t value) {
    return static_cast<uint64_t>(value >> 64);
}

uint64_t low_of(pcg128_t value) {
    return static_cast<uint64_t>(value);
}

/* The library keeps its state protected (except for text output); a subclass can access it. */
struct engine : pcg64 {
    engine(uint64_t seed, uint64_t stream) : pcg64(seed, stream) {
    }

    explicit engine(const struct random &from) {
        state_ = wide(from.state_high, from.state_low);
        inc_ = wide(from.increment_high, from.increment_low);
    }

    void save(struct random *to) const {
        to->state_high = high_of(state_);
        to->state_low = low_of(state_);
        to->increment_high = high_of(inc_);
        to->increment_low = low_of(inc_);
    }
};

} // namespace

void random_seed(struct random *random, uint64_t seed, uint64_t stream) {
    engine(seed, stream).save(random);
}

uint64_t random_next(struct random *random) {
    engine engine(*random);
    uint64_t bits = engine();
    engine.save(random);
    return bits;
}
