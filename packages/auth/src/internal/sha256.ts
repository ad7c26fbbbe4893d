/**
 * SHA-256 without waiting: what a remembered token is known by is asked for with each request, and the digest of the platform,
 * which is waited for, costs half as much as a signature.
 */
import { sha256 as digest } from "@noble/hashes/sha2.js"
import * as Base64Url from "effect/encoding/Base64Url"

const encoder = new TextEncoder()

/** The digest of a text, in base64url without padding. */
export const sha256 = (text: string): string => Base64Url.encode(digest(encoder.encode(text)))
