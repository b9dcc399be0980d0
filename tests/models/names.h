/*
 * names.h - what the micro-kernels are called when they are compiled for the models, beside the library's own
 * of the same sources. Include before cpu/stages.h, whose declarations then have these names.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef MODELS_NAMES_H
#define MODELS_NAMES_H

#define ozg_product_16x6x2_avx2        modelled_16x6x2_avx2
#define ozg_product_16x6x4_avxvnni     modelled_16x6x4_avxvnni
#define ozg_product_32x12x4_avx512vnni modelled_32x12x4_avx512vnni
#define ozg_product_32x32x64_amxint8   modelled_32x32x64_amxint8
#define ozg_state_amxint8              modelled_state_amxint8
#define ozg_product_16x6x4_neondot     modelled_16x6x4_neondot
#define ozg_product_16x6x8_neoni8mm    modelled_16x6x8_neoni8mm

#endif
