/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The advice of an out of memory in the words of both: its sentence, and what
 * the program's function is told. */
#ifndef LIB_ADVICE_H
#define LIB_ADVICE_H

#include "oom.h"

/* The same advice as a word, by a part of its sentence. */
LIB_USE gpumem_advice advice_of(const char *sentence)
{
	static const struct {
		const char *part;
		gpumem_advice advice;
	} words[] = {
		{"is too small for", GPUMEM_ADVICE_TOO_LARGE},
		{"pool's limit", GPUMEM_ADVICE_LIMIT},
		{"host:0: ", GPUMEM_ADVICE_DRIVER},
		{"synchronise them", GPUMEM_ADVICE_STREAMS},
		{"gpumem_graph_destroy", GPUMEM_ADVICE_GRAPHS},
		{"handles that also hold", GPUMEM_ADVICE_HANDLES},
		{"pages that also hold", GPUMEM_ADVICE_PAGES},
		{"large blocks first", GPUMEM_ADVICE_SEGMENTS},
		{"gpumem-probe shows", GPUMEM_ADVICE_OUTSIDE},
		{"is being captured", GPUMEM_ADVICE_CAPTURE},
		{"free blocks, or make", GPUMEM_ADVICE_LESS},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(sentence, words[i].part))
			return words[i].advice;
	return 0;
}

/* The function of the program is told the same. */
LIB_USE void advises_told(void)
{
	char sentence[1024];
	const char *at;

	json_member(told.json, "advice_text", sentence, sizeof(sentence));
	at = strstr(last_text(), sentence);
	ok(json_whole(told.json) && *sentence && at,
	   "the JSON has the advice: %s", sentence);
	is_int(told.oom.advice, at ? advice_of(at) : 0,
	       "and so has the struct");
}

#endif
