/** Every mutation there is. */
import { client } from "./entries/client.ts"
import { http } from "./entries/http.ts"
import { schema } from "./entries/schema.ts"
import { server } from "./entries/server.ts"
import { session } from "./entries/session.ts"
import { transport } from "./entries/transport.ts"
import type { Mutation } from "./mutation.ts"

/** All of them; those of one test file are tried together. */
export const mutations: ReadonlyArray<Mutation> = [
  ...schema,
  ...transport,
  ...http,
  ...session,
  ...server,
  ...client
]
