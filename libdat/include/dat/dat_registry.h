/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: what passes between the registry and a provider's library. Programs need none of it. */
#ifndef SOFTDAT_DAT12_DAT_REGISTRY_H
#define SOFTDAT_DAT12_DAT_REGISTRY_H

#include <dat/udat_redirection.h>

#ifdef __cplusplus
extern "C" {
#endif

/** From a provider's init: registers its table under the name, version and thread safety of the info, which is copied.
 *  The table must outlive every handle.
 *  Errors: INVALID_PARAMETER (a missing pointer), PROVIDER_ALREADY_REGISTERED, INSUFFICIENT_RESOURCES.
 *  Threads: safe. Man page: dat_registry_add_provider(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_registry_add_provider(const DAT_PROVIDER* provider,
                                                        const DAT_PROVIDER_INFO* provider_info);

/** From a provider's fini: takes it out again.
 *  Errors: INVALID_PARAMETER, PROVIDER_NOT_FOUND (NAME_NOT_REGISTERED), PROVIDER_IN_USE (an IA is open).
 *  Threads: safe. Man page: dat_registry_remove_provider(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_registry_remove_provider(const DAT_PROVIDER* provider,
                                                           const DAT_PROVIDER_INFO* provider_info);

/** A provider's library exports two functions of these types and names. The registry calls init after loading it for
 *  an entry of dat.conf, with that entry's name, version and thread safety and its instance data; init registers
 *  by dat_registry_add_provider. It calls fini, which removes the provider, when the last IA of the entry is closed.
 *  Neither can report failure. Man pages: dat_provider_init(3DAT), dat_provider_fini(3DAT). */
typedef void(DAT_API* DAT_PROVIDER_INIT_FUNC)(const DAT_PROVIDER_INFO* provider_info, const char* instance_data);
typedef void(DAT_API* DAT_PROVIDER_FINI_FUNC)(const DAT_PROVIDER_INFO* provider_info);
#define DAT_PROVIDER_INIT_FUNC_NAME dat_provider_init
#define DAT_PROVIDER_FINI_FUNC_NAME dat_provider_fini
#define DAT_PROVIDER_INIT_FUNC_STR "dat_provider_init"
#define DAT_PROVIDER_FINI_FUNC_STR "dat_provider_fini"

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT12_DAT_REGISTRY_H */
