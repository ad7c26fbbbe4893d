/** A certificate that nobody trusts, for servers behind TLS. */
import { readFileSync } from "node:fs"

const read = (name: string): Buffer => readFileSync(new URL(`../fixtures/login.${name}.pem`, import.meta.url))

export const certificate = { key: read("key"), cert: read("cert") }
