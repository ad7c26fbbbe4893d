/** The body of an answer as an object, in whichever of the two forms it is written (field AUT-18). */
import * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import { isMembers, type Members, parseJson } from "./members.ts"
import type { Answer } from "./outbound.ts"

/** `name=value` pairs and nothing that looks like prose or markup. */
const pairs = /^[\w.~%+-]+=[^<>\s&]*(?:&[\w.~%+-]+=[^<>\s&]*)*$/

/** The type of a body, without its parameters. */
export const mediaType = (headers: Headers.Headers): string =>
  Option.getOrElse(Headers.get(headers, "content-type"), () => "").split(";", 1).join("").trim().toLowerCase()

/** Which of the two forms an answer is in is found out by looking: servers label them wrongly. */
export const membersOf = ({ body, headers }: Pick<Answer, "body" | "headers">): Members | undefined => {
  const json = parseJson(body)
  if (isMembers(json)) return json
  const type = mediaType(headers)
  const form = type === "application/x-www-form-urlencoded" || type === "text/plain" || type === ""
  return form && pairs.test(body.trim()) ? Object.fromEntries(new URLSearchParams(body.trim())) : undefined
}

/** What an unreadable answer looked like, without a word of it. */
export const looksLike = ({ body, headers }: Pick<Answer, "body" | "headers">): string => {
  if (body.trim() === "") return "nothing"
  return mediaType(headers) === "text/html" || body.trimStart().startsWith("<") ? "a page" : "no object"
}
