// A part of kernel.cu: the two products of a tile. With tensor cores or without, a thread has the
// same fragments of scores and of O.

// ---- on tensor cores ----

// Scores Q K^T of the warp's queries and its slice of a tile.
DEVICE void scores_mma(score_fragments &s_rmem, q_fragments &q_rmem, u32 tile_smem,
                       const place &p) {
    choose<qk_in_half, u32[m_tiles][n_tiles][2], float[m_tiles][n_tiles][4]> sums_rmem = {};
#pragma unroll
    for (int k = 0; k < k_steps; ++k) {
#pragma unroll
        for (int m = 0; m < m_tiles && !q_in_registers; ++m)
            load_left<q_tile>(q_rmem[m][k], smem_address(smem) + q_smem, p.first_row + m * 16, k);
#pragma unroll
        for (int n = 0; n < n_tiles; n += 2) {
            u32 k_rmem[4];
            load_right_transposed<kv_tile>(k_rmem, tile_smem, p.first_key + n * 8, k);
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                mma_m16n8k16<element>(sums_rmem[m][n], q_rmem[m][k], k_rmem[0], k_rmem[1]);
                mma_m16n8k16<element>(sums_rmem[m][n + 1], q_rmem[m][k], k_rmem[2], k_rmem[3]);
            }
        }
    }
    to_floats(s_rmem, sums_rmem);
}

// Rounds weights for the product with V. They become a left operand without leaving the registers
// they were computed in.
DEVICE void take_weights(weight_fragments &p_rmem, const score_fragments &weights_rmem) {
#pragma unroll
    for (int i = 0; i < m_tiles * n_tiles * 2; ++i) {
        const int m = i / (n_tiles * 2), n = i % (n_tiles * 2) / 4;
        const float(&from)[4] = weights_rmem[m][n * 2 + i % 4 / 2];
        p_rmem[m][n][i % 4] = pack_pair<element>(from[i % 2 * 2], from[i % 2 * 2 + 1]);
    }
}

// O += P V of the warp's slice of a tile.
DEVICE void accumulate_mma(o_fragments &o_rmem, const weight_fragments &p_rmem, u32 tile_smem,
                           const place &p) {
#pragma unroll
    for (int n = 0; n < n_tiles / 2; ++n) {
#pragma unroll
        for (int d = 0; d < d_tiles; d += 2) {
            u32 v_rmem[4];
            load_right<kv_tile>(v_rmem, tile_smem, p.first_key + n * 16, d / 2);
#pragma unroll
            for (int m = 0; m < m_tiles; ++m) {
                mma_m16n8k16<element>(o_rmem[m][d], p_rmem[m][n], v_rmem[0], v_rmem[1]);
                mma_m16n8k16<element>(o_rmem[m][d + 1], p_rmem[m][n], v_rmem[2], v_rmem[3]);
            }
        }
    }
}

// ---- without ----

// Eight elements that lie side by side, as floats.
DEVICE void load_eight(float (&to)[8], u32 place_smem) {
    const uint4 four = load_smem_16(place_smem);
    const u32 pairs[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        to[i * 2] = low_of<element>(pairs[i]);
        to[i * 2 + 1] = high_of<element>(pairs[i]);
    }
}

DEVICE void scores_simt(score_fragments &s_rmem, u32 tile_smem, const place &p) {
#pragma unroll
    for (int i = 0; i < m_tiles * n_tiles * 4; ++i)
        s_rmem[i / 4 / n_tiles][i / 4 % n_tiles][i % 4] = 0;
#pragma unroll 1
    for (int chunk = 0; chunk < d_tiles; ++chunk) {
        float q_rmem[m_tiles * 2][8];
#pragma unroll
        for (int i = 0; i < m_tiles * 2; ++i)
            load_eight(q_rmem[i], smem_address(smem) + q_smem +
                                      q_tile::offset(p.first_row + i * 8 + p.g, chunk));
#pragma unroll
        for (int n = 0; n < n_tiles * 2; ++n) {
            float k_rmem[8];
            load_eight(k_rmem, tile_smem + kv_tile::offset(
                                               p.first_key + n / 2 * 8 + p.t * 2 + n % 2, chunk));
#pragma unroll
            for (int i = 0; i < m_tiles * 2 * 8; ++i)
                s_rmem[i / 16][n / 2][i / 8 % 2 * 2 + n % 2] +=
                    q_rmem[i / 8][i % 8] * k_rmem[i % 8];
        }
    }
}

// Of each row, a weight comes from the one of its four lanes that has it. (A template, so that it
// is not compiled for sums in half.)
template <typename sums>
DEVICE void accumulate_simt(sums &o_rmem, const score_fragments &p_rmem, u32 tile_smem,
                            const place &p) {
#pragma unroll 1
    for (int key = 0; key < 8; ++key) {
#pragma unroll
        for (int n = 0; n < n_tiles; ++n) {
            const int row = p.first_key + n * 8 + key;
            float weight[m_tiles * 2];
#pragma unroll
            for (int i = 0; i < m_tiles * 2; ++i) {
                const float(&from)[4] = p_rmem[i / 2][n];
                weight[i] = __shfl_sync(full_warp, key % 2 ? from[i % 2 * 2 + 1] : from[i % 2 * 2],
                                        key / 2, 4);
            }
#pragma unroll
            for (int d = 0; d < d_tiles; ++d) {
                const u32 pair = load_smem_4(tile_smem + kv_tile::offset(row, d) + p.t * 4);
#pragma unroll
                for (int i = 0; i < m_tiles * 2; ++i) {
                    o_rmem[i / 2][d][i % 2 * 2] += weight[i] * low_of<element>(pair);
                    o_rmem[i / 2][d][i % 2 * 2 + 1] += weight[i] * high_of<element>(pair);
                }
            }
        }
    }
}

// ---- whichever it is ----

DEVICE void scores(score_fragments &s_rmem, q_fragments &q_rmem, u32 tile_smem, const place &p) {
    if constexpr (simt)
        scores_simt(s_rmem, tile_smem, p);
    else
        scores_mma(s_rmem, q_rmem, tile_smem, p);
}

DEVICE void accumulate(o_fragments &o_rmem, const score_fragments &weights_rmem, u32 tile_smem,
                       const place &p) {
    if constexpr (simt) {
        accumulate_simt(o_rmem, weights_rmem, tile_smem, p);
    } else {
        weight_fragments p_rmem;
        take_weights(p_rmem, weights_rmem);
        accumulate_mma(o_rmem, p_rmem, tile_smem, p);
    }
}
