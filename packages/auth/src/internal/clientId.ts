/** Pure: client ids that are addresses of a document. */

const parts = /^https:\/\/([^/?#\\]+)(\/[^?#\\]*)(?:\?[^#]*)?$/
const dots = /^(?:\.|%2e){1,2}$/i

/** Why an address cannot be a client id (ACL-09): read as it is written, since a parser would tidy it first. */
export const clientIdFault = (clientId: string): string | undefined => {
  const [, authority = "", path = ""] = parts.exec(clientId) ?? []
  if (!URL.canParse(clientId) || authority === "") return "it is no https URL with a path and without a fragment"
  if (authority.includes("@")) return "it holds a user name or a password"
  if (path === "/") return "it has no path"
  if (path.split("/").some((segment) => dots.test(segment))) return "it has a segment of dots"
  // Whatever else a parser changes leaves two spellings of one name, which are compared to the letter.
  return /[\s\p{C}]/u.test(clientId) ? "it has a blank in it" : undefined
}
