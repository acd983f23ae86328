/* SPDX-License-Identifier: BSD-2-Clause */
/* The fake's subscribers: one, or from 13.2 on several that share. The names of its statuses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu/fake_cupti.h"

enum { MAX_ID = 1024, MAX_SUBSCRIBERS = 4, SHARES = 130200 };

struct CUpti_Subscriber_st {
	bool used, shares;
	char name[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
	CUpti_CallbackFunc callback;
	void *data;
	bool wanted[CUPTI_CB_DOMAIN_SIZE][MAX_ID];
};

static struct CUpti_Subscriber_st subscribers[MAX_SUBSCRIBERS];

static const char *const domains[CUPTI_CB_DOMAIN_SIZE] = {
	"invalid", "driver", "runtime", "resource", "synchronize", "nvtx", "state",
};

void callbacks_emit(int domain, uint32_t id, const void *data)
{
	for (CUpti_SubscriberHandle who = subscribers; who < subscribers + MAX_SUBSCRIBERS; who++)
		if (__atomic_load_n(&who->used, __ATOMIC_ACQUIRE) && id < MAX_ID
		    && who->wanted[domain][id])
			who->callback(who->data, (CUpti_CallbackDomain)domain, id, data);
}

/* The name of a subscriber that prevents another one, unless both share. */
static const char *taken_by(bool shares)
{
	if (fake_number("FAKE_GPU_OTHER_PROFILER", 0))
		return "Nsight Fake";
	if (!cupti_is_first())
		return "CUPTI for <not provided>";
	for (size_t i = 0; i < MAX_SUBSCRIBERS; i++)
		if (subscribers[i].used && !(shares && subscribers[i].shares))
			return subscribers[i].name;
	return NULL;
}

static int subscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *data,
                     const char *name, bool shares)
{
	CUpti_SubscriberHandle who = subscribers;

	if (!out || !callback)
		return CUPTI_ERROR_INVALID_PARAMETER;
	while (who < subscribers + MAX_SUBSCRIBERS && who->used)
		who++;
	if (taken_by(shares) || who == subscribers + MAX_SUBSCRIBERS)
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	memset(who, 0, sizeof *who);
	snprintf(who->name, sizeof who->name, "CUPTI%s%s", name ? " for " : "", name ? name : "");
	who->callback = callback;
	who->data = data;
	who->shares = shares;
	*out = who;
	__atomic_store_n(&who->used, true, __ATOMIC_RELEASE);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *data)
{
	return FAKE_CALL(CUptiResult, subscribe(out, callback, data, NULL, false), "%s", "");
}

/* The struct of 13.2 has one member more than 13.0's. */
static int subscribe_by_name(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *data,
                             CUpti_SubscriberParams *params)
{
	bool newer = fake_number("FAKE_GPU_CUPTI_VERSION", CUPTI_API_VERSION) >= SHARES;
	size_t size = CUpti_SubscriberParams_STRUCT_SIZE;
	bool shares = newer && params->structSize > size && ((const uint8_t *)params)[size];
	int status;

	if (params->structSize < size || (params->structSize > size && !newer))
		return CUPTI_ERROR_INVALID_PARAMETER;
	status = subscribe(out, callback, data, params->subscriberName, shares);
	if (status == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && params->oldSubscriberName)
		snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s",
		         taken_by(shares));
	return status;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *data,
                              CUpti_SubscriberParams *params)
{
	return FAKE_CALL(CUptiResult, subscribe_by_name(out, callback, data, params), "%s", "");
}

static int check(CUpti_SubscriberHandle who)
{
	return who && who->used ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

static int unsubscribe(CUpti_SubscriberHandle who)
{
	if (check(who))
		return CUPTI_ERROR_INVALID_PARAMETER;
	__atomic_store_n(&who->used, false, __ATOMIC_RELEASE);
	return CUPTI_SUCCESS;
}

void callbacks_end(void)
{
	for (size_t i = 0; i < MAX_SUBSCRIBERS; i++)
		__atomic_store_n(&subscribers[i].used, false, __ATOMIC_RELEASE);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle who)
{
	return FAKE_CALL(CUptiResult, unsubscribe(who), "%s", "");
}

static bool valid_domain(CUpti_CallbackDomain domain)
{
	return domain > CUPTI_CB_DOMAIN_INVALID && domain < CUPTI_CB_DOMAIN_SIZE;
}

static int enable(CUpti_SubscriberHandle who, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                  bool on)
{
	if (check(who) || !valid_domain(domain) || id >= MAX_ID)
		return CUPTI_ERROR_INVALID_PARAMETER;
	who->wanted[domain][id] = on;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle who,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	return FAKE_CALL(CUptiResult, enable(who, domain, id, on), "%u %s %u", on,
	                 valid_domain(domain) ? domains[domain] : "?", id);
}

static int callback_state(uint32_t *on, CUpti_SubscriberHandle who, CUpti_CallbackDomain domain,
                          CUpti_CallbackId id)
{
	if (check(who) || !valid_domain(domain) || id >= MAX_ID)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*on = who->wanted[domain][id];
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackState(uint32_t *on, CUpti_SubscriberHandle who,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
	return FAKE_CALL(CUptiResult, callback_state(on, who, domain, id), "%s %u",
	                 valid_domain(domain) ? domains[domain] : "?", id);
}

static int enable_domain(CUpti_SubscriberHandle who, CUpti_CallbackDomain domain, bool on)
{
	if (check(who) || !valid_domain(domain))
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (CUpti_CallbackId id = 0; id < MAX_ID; id++)
		who->wanted[domain][id] = on;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t on, CUpti_SubscriberHandle who, CUpti_CallbackDomain domain)
{
	return FAKE_CALL(CUptiResult, enable_domain(who, domain, on), "%u %s", on,
	                 valid_domain(domain) ? domains[domain] : "?");
}

#define NAME(status)                                                                               \
	{                                                                                          \
		status, #status                                                                    \
	}
static const struct {
	CUptiResult status;
	const char *name;
} names[] = {
	NAME(CUPTI_SUCCESS),
	NAME(CUPTI_ERROR_INVALID_PARAMETER),
	NAME(CUPTI_ERROR_INVALID_DEVICE),
	NAME(CUPTI_ERROR_INVALID_CONTEXT),
	NAME(CUPTI_ERROR_INVALID_OPERATION),
	NAME(CUPTI_ERROR_OUT_OF_MEMORY),
	NAME(CUPTI_ERROR_HARDWARE),
	NAME(CUPTI_ERROR_NOT_INITIALIZED),
	NAME(CUPTI_ERROR_INVALID_STREAM),
	NAME(CUPTI_ERROR_HARDWARE_BUSY),
	NAME(CUPTI_ERROR_NOT_SUPPORTED),
	NAME(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES),
	NAME(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED),
	NAME(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES),
	/* 12.6's headers lack it. */
	{ (CUptiResult)43, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED" },
	NAME(CUPTI_ERROR_INVALID_CHIP_NAME),
	NAME(CUPTI_ERROR_UNKNOWN),
};

CUptiResult cuptiGetResultString(CUptiResult status, const char **text)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (names[i].status == status) {
			*text = names[i].name;
			return CUPTI_SUCCESS;
		}
	}
	return CUPTI_ERROR_INVALID_PARAMETER;
}
