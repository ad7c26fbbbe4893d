/**
 * SHA-256 without waiting: what a question is known by has to stand before its fiber may be interrupted, and the digest of the
 * platform comes later.
 */
import { sha256 as digest } from "@noble/hashes/sha2.js"
import * as Base64Url from "./base64Url.ts"

const encoder = new TextEncoder()

/** The digest of a text in base64url. */
export const sha256 = (text: string): string => Base64Url.encode(digest(encoder.encode(text)))
