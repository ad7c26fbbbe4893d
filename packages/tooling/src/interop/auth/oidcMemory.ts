/** What an `oidc-provider` keeps, outside of it, so that it outlives one that is made anew. */
import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider"

/** The names of the models whose entries end with the login that they came from. */
const granted = new Set(["AccessToken", "AuthorizationCode", "RefreshToken", "DeviceCode"])

/** One memory for as many providers as are made with it, one after the other. */
export const makeMemory = (): AdapterFactory => {
  const entries = new Map<string, AdapterPayload>()
  return (model): Adapter => {
    const keyOf = (id: string): string => `${model} ${id}`
    const find = (is: (payload: AdapterPayload) => boolean): AdapterPayload | undefined =>
      [...entries].find(([key, payload]) => key.startsWith(`${model} `) && is(payload))?.[1]
    return {
      upsert: async (id, payload) => void entries.set(keyOf(id), payload),
      find: async (id) => entries.get(keyOf(id)),
      findByUid: async (uid) => find((payload) => payload.uid === uid),
      findByUserCode: async (userCode) => find((payload) => payload.userCode === userCode),
      consume: async (id) => {
        const payload = entries.get(keyOf(id))
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000)
      },
      destroy: async (id) => void entries.delete(keyOf(id)),
      revokeByGrantId: async (grantId) => {
        for (const [key, payload] of entries) {
          if (payload.grantId === grantId && granted.has(key.split(" ")[0] ?? "")) entries.delete(key)
        }
      }
    }
  }
}
