/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Facts about chips that no NVIDIA call returns without a GPU: architecture, compute capability,
 * products; and the releases of CUPTI that list a chip. Facts that NVIDIA has not published are
 * absent.
 */
#include <string.h>

#include "chip/chip.h"

enum { MAX_PRODUCTS = 12 };

/*
 * In the order of cuptiProfilerHostGetSupportedChips. Products are spelt without blanks, because
 * lists in CSV are separated by blanks; well-known ones come first. GPUs of laptops that have the
 * name of another chip's product are left out.
 */
static const struct facts {
	const char *chip, *architecture, *compute_capability;
	const char *products[MAX_PRODUCTS];
} facts[] = {
	{ "GV100", "Volta", "7.0", { "Tesla-V100", "TITAN-V", "Tesla-V100S", "Quadro-GV100" } },
	{ "GV11B", "Volta", "7.2", { "Jetson-AGX-Xavier", "Jetson-Xavier-NX" } },
	{ "TU102",
	  "Turing",
	  "7.5",
	  { "RTX-2080-Ti", "TITAN-RTX", "Quadro-RTX-6000", "Quadro-RTX-8000" } },
	{ "TU104",
	  "Turing",
	  "7.5",
	  { "Tesla-T4", "RTX-2080", "RTX-2080-SUPER", "RTX-2070-SUPER", "Quadro-RTX-5000",
	    "Quadro-RTX-4000" } },
	{ "TU106", "Turing", "7.5", { "RTX-2070", "RTX-2060", "RTX-2060-SUPER" } },
	{ "TU116",
	  "Turing",
	  "7.5",
	  { "GTX-1660-Ti", "GTX-1660", "GTX-1660-SUPER", "GTX-1650-SUPER" } },
	{ "TU117", "Turing", "7.5", { "GTX-1650", "T1000", "T600", "T400" } },
	{ "GA100", "Ampere", "8.0", { "A100", "A30", "A800", "A100X", "A30X" } },
	{ "GA102",
	  "Ampere",
	  "8.6",
	  { "RTX-3090", "RTX-3080", "A40", "A10", "A10G", "RTX-A6000", "RTX-A5500", "RTX-A5000",
	    "RTX-A4500", "RTX-3090-Ti", "RTX-3080-Ti" } },
	{ "GA103", "Ampere", "8.6", { "RTX-3080-Ti-Laptop" } },
	{ "GA104", "Ampere", "8.6", { "RTX-3070", "RTX-A4000", "RTX-3070-Ti", "RTX-3060-Ti" } },
	{ "GA106", "Ampere", "8.6", { "RTX-3060", "RTX-A2000" } },
	{ "GA107", "Ampere", "8.6", { "A16", "A2" } },
	{ "GA10B", "Ampere", "8.7", { "Jetson-AGX-Orin", "Jetson-Orin-NX", "Jetson-Orin-Nano" } },
	{ "GH100", "Hopper", "9.0", { "H100", "H200", "GH200", "H20", "H800" } },
	{ "AD102",
	  "Ada",
	  "8.9",
	  { "RTX-4090", "RTX-6000-Ada", "L40", "L40S", "L40G", "L20", "RTX-5880-Ada",
	    "RTX-5000-Ada", "RTX-4090-D" } },
	{ "AD103", "Ada", "8.9", { "RTX-4080", "RTX-4080-SUPER" } },
	{ "AD104",
	  "Ada",
	  "8.9",
	  { "RTX-4070-Ti", "RTX-4070", "L4", "RTX-4070-SUPER", "RTX-4500-Ada", "RTX-4000-Ada",
	    "RTX-4000-SFF-Ada" } },
	{ "AD106", "Ada", "8.9", { "RTX-4060-Ti" } },
	{ "AD107", "Ada", "8.9", { "RTX-4060", "RTX-2000-Ada" } },
	{ "GB100", "Blackwell", "10.0", { "B200", "GB200", "B100" } },
	{ "GB102", "Blackwell", "", { 0 } },
	{ "GB110", "Blackwell", "10.3", { "B300", "GB300" } },
	{ "GB112", "Blackwell", "", { 0 } },
	/* CUDA 12.8 and 12.9 called it 10.1. */
	{ "GB10B", "Blackwell", "11.0", { "Jetson-T5000" } },
	{ "GB10C", "Blackwell", "", { 0 } },
	{ "GB202",
	  "Blackwell",
	  "12.0",
	  { "RTX-5090", "RTX-PRO-6000-Blackwell", "RTX-5090-D", "RTX-PRO-5000-Blackwell" } },
	{ "GB203",
	  "Blackwell",
	  "12.0",
	  { "RTX-5080", "RTX-5070-Ti", "RTX-PRO-4500-Blackwell", "RTX-PRO-4000-Blackwell" } },
	{ "GB205", "Blackwell", "12.0", { "RTX-5070" } },
	{ "GB206", "Blackwell", "12.0", { "RTX-5060-Ti", "RTX-5060" } },
	{ "GB207", "Blackwell", "12.0", { "RTX-5050" } },
	{ "GB20B", "Blackwell", "12.1", { "GB10", "DGX-Spark" } },
	{ "GB20C", "Blackwell", "", { 0 } },
	/* The name in NVIDIA's library. */
	{ "GR100", "Rubin", "", { 0 } },
};

enum { FACT_COUNT = sizeof facts / sizeof *facts };

const char *opk_chip_known(size_t i)
{
	return i < FACT_COUNT ? facts[i].chip : NULL;
}

const char *opk_chip_architecture(const char *chip)
{
	return opk_chip_get_facts(chip).architecture;
}

struct opk_chip_facts opk_chip_known_facts(size_t i)
{
	struct opk_chip_facts out = { .architecture = "", .compute_capability = "" };

	if (i >= FACT_COUNT)
		return out;
	out.architecture = facts[i].architecture;
	out.compute_capability = facts[i].compute_capability;
	out.products = facts[i].products;
	while (out.product_count < MAX_PRODUCTS && out.products[out.product_count])
		out.product_count++;
	return out;
}

struct opk_chip_facts opk_chip_get_facts(const char *chip)
{
	size_t i = 0;

	while (i < FACT_COUNT && strcmp(facts[i].chip, chip))
		i++;
	return opk_chip_known_facts(i);
}

/* Chips that one of the releases from 12.6 to 13.5 does not list. */
static const struct {
	const char *chip;
	struct opk_chip_releases releases;
} changes[] = {
	{ "GB100", { "12.8", NULL } }, { "GB10B", { "12.8", NULL } }, { "GB202", { "12.8", NULL } },
	{ "GB203", { "12.8", NULL } }, { "GB205", { "12.8", NULL } }, { "GB102", { "12.9", NULL } },
	{ "GB206", { "12.9", NULL } }, { "GB20B", { "12.9", NULL } }, { "GB110", { "13.0", NULL } },
	{ "GB207", { "13.0", NULL } }, { "GB112", { "13.1", NULL } }, { "GB20C", { "13.1", NULL } },
	{ "GR100", { "13.4", NULL } }, { "GB10C", { "13.5", NULL } }, { "GV100", { NULL, "13.0" } },
	{ "GV11B", { NULL, "13.0" } },
};

struct opk_chip_releases opk_chip_get_releases(const char *chip)
{
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
		if (!strcmp(changes[i].chip, chip))
			return changes[i].releases;
	return (struct opk_chip_releases){ 0 };
}
