/** Every mutation there is. */
import { asking } from "./entries/asking.ts"
import { authorizationServer } from "./entries/authorizationServer.ts"
import { client } from "./entries/client.ts"
import { clientAsks } from "./entries/clientAsks.ts"
import { extensions } from "./entries/extensions.ts"
import { grants } from "./entries/grants.ts"
import { http } from "./entries/http.ts"
import { httpSse } from "./entries/httpSse.ts"
import { logins } from "./entries/logins.ts"
import { oauthClient } from "./entries/oauthClient.ts"
import { resourceServer } from "./entries/resourceServer.ts"
import { resumption } from "./entries/resumption.ts"
import { schema } from "./entries/schema.ts"
import { server } from "./entries/server.ts"
import { session } from "./entries/session.ts"
import { tasks } from "./entries/tasks.ts"
import { transport } from "./entries/transport.ts"
import { wire } from "./entries/wire.ts"
import type { Mutation } from "./mutation.ts"

/** All of them; those of one test file are tried together. */
export const mutations: ReadonlyArray<Mutation> = [
  ...schema,
  ...transport,
  ...http,
  ...httpSse,
  ...resumption,
  ...session,
  ...server,
  ...asking,
  ...client,
  ...clientAsks,
  ...tasks,
  ...extensions,
  ...resourceServer,
  ...oauthClient,
  ...grants,
  ...authorizationServer,
  ...logins,
  ...wire
]
