/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 2.0: what passes between the registry and a provider's library. Programs need none of it. */
#ifndef SOFTDAT_DAT2_DAT_REGISTRY_H
#define SOFTDAT_DAT2_DAT_REGISTRY_H

#include <dat2/udat_redirection.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whether two IAs share a fate, for programs that want to survive one of them. SoftDAT's adapters are independent. */
typedef enum dat_ha_relationship {
  DAT_HA_FALSE = 0,         /**< They are independent. */
  DAT_HA_TRUE = 1,          /**< They are ways to one device, or the same name. */
  DAT_HA_UNKNOWN = 2,       /**< No IA of either name is open, or no provider knows. */
  DAT_HA_CONFLICTING = 3,   /**< Their providers contradict each other. */
  DAT_HA_EXTENSION_BASE = 4 /**< First value for extensions. */
} DAT_HA_RELATIONSHIP;

/** From a provider's init, or from a program: registers the table under the name, version and thread safety of the
 *  info, which is copied. Together they must be unique; a declared name comes before one of dat.conf. The table stays
 *  the provider's and must outlive every handle made through it.
 *  Errors: INVALID_PARAMETER (a NULL pointer; a name without end), PROVIDER_ALREADY_REGISTERED, INSUFFICIENT_RESOURCES.
 *  Threads: safe, also inside init and a library's constructor. Man page: dat_registry_add_provider(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_registry_add_provider(const DAT_PROVIDER* provider,
                                                        const DAT_PROVIDER_INFO* provider_info);

/** From a provider's fini: takes the registration out, so that nobody opens the adapter any more.
 *  Errors: INVALID_PARAMETER (a NULL pointer; a name without end), PROVIDER_NOT_FOUND (NAME_NOT_REGISTERED),
 *  PROVIDER_IN_USE (an IA is open).
 *  Threads: safe. Man page: dat_registry_remove_provider(3DAT). */
DAT_EXPORT DAT_RETURN DAT_API dat_registry_remove_provider(const DAT_PROVIDER* provider,
                                                           const DAT_PROVIDER_INFO* provider_info);

/** Tells whether two IA names are known to be ways to one device, by asking the providers of IAs that are open under
 *  them. New in DAT 2.0.
 *  Errors: INVALID_PARAMETER (name NULL or of 256 bytes and more; NULL output), PROVIDER_NOT_FOUND (a name is not
 *  registered).
 *  Threads: safe. Man page: dat_registry_providers_related(3). */
DAT_EXPORT DAT_RETURN DAT_API dat_registry_providers_related(const DAT_NAME_PTR first_name,
                                                             const DAT_NAME_PTR second_name,
                                                             DAT_HA_RELATIONSHIP* related);

/** A provider's library exports two functions of these types and names. The registry calls init after loading it for an
 *  entry of dat.conf, with that entry's name, version and thread safety and its instance data (the seventh field),
 *  which are the registry's and valid during the call. init registers exactly that name by dat_registry_add_provider; a
 *  provider fails by not registering, and the library is then unloaded. The registry calls fini, which removes the
 *  provider, with the same information when the last IA of the entry is closed. Neither can report failure.
 *  Threads: for one name the calls are serialised, for different ones they may run at once; no lock of the registry is
 *  held.
 *  Man pages: dat_provider_init(3DAT), dat_provider_fini(3DAT). */
typedef void(DAT_API* DAT_PROVIDER_INIT_FUNC)(const DAT_PROVIDER_INFO* provider_info, const char* instance_data);
typedef void(DAT_API* DAT_PROVIDER_FINI_FUNC)(const DAT_PROVIDER_INFO* provider_info);
/** The names under which the registry looks for the two, as identifiers and as strings for dlsym(3). */
#define DAT_PROVIDER_INIT_FUNC_NAME dat_provider_init
#define DAT_PROVIDER_FINI_FUNC_NAME dat_provider_fini
#define DAT_PROVIDER_INIT_FUNC_STR "dat_provider_init"
#define DAT_PROVIDER_FINI_FUNC_STR "dat_provider_fini"

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_DAT2_DAT_REGISTRY_H */
