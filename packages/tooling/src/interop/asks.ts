/** What servers of other makes ask our client for. */
export const info = { name: "interop-asks", version: "1.0.0" }
export const tool = "ask"
export const question = "Who are you?"
