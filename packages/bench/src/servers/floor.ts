/** The least that could answer: parse, look up, call, stringify. */
import { start } from "../tools.ts"
import { serveHttp } from "./floorHttp.ts"
import { serveStdio } from "./floorStdio.ts"

if (start.transport === "http") serveHttp()
else serveStdio()
