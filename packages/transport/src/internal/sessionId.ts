const visibleAscii = /^[\x21-\x7e]+$/

/** The id of a session, if a header may hold it (HTTP-35). */
export const sessionIdOf = (id: string | undefined): string | undefined =>
  id !== undefined && visibleAscii.test(id) ? id : undefined
