/** The first revision whose answers leave out the id of a request that could not be read (RPC-08). */
const omitsUnreadableId = "2025-11-25"

/** The id of an answer to a request whose own cannot be read. */
export const unreadableIdOn = (version: string): null | undefined => version < omitsUnreadableId ? null : undefined

/** The first revision whose requests name their version in a header (HTTP-43). */
const namesVersion = "2025-06-18"

/** Whether messages of an agreed version name it in a header. */
export const isNamedInHeader = (version: string): boolean => version >= namesVersion
