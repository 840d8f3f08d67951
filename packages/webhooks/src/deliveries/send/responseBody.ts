// Stores the start of a response body without secrets: an endpoint may echo its request.
import { looksLikeKey, minKeyLength } from '../../endpoints/endpointUrl.ts'
import { toPostgresText } from '../tables/recordDeliveries.ts'

/** The part of a response body that was read, as text. */
export type ReadBody = {
  readonly text: string
  /** Whether the body was longer, or broke off. */
  readonly isCut: boolean
}

/** How many bytes of a body are read, and how many are stored. */
export const maxStoredBytes = 16 * 1024
const replacement = '[redacted]'
/** Shorter texts are not secrets, and would match by accident. */
export const shortestSecret = 6

/** @param secrets the longest first, as `endpointSecrets` returns them */
export function redactedBody({ text, isCut }: ReadBody, secrets: readonly string[]): string {
  const whole = isCut ? withoutBrokenSecret(text, secrets) : text
  const redacted = secrets.reduce((rest, secret) => rest.replaceAll(secret, replacement), whole)
  return startOf(toPostgresText(redacted))
}

/**
 * The texts to redact, because they allow posting to the endpoint or signing as Paylog: the endpoint's URL, its parts
 * that may be keys, and its secrets, each also in JSON and form encoding.
 */
export function endpointSecrets(endpoint: {
  readonly url: string
  readonly secrets: readonly string[]
}): readonly string[] {
  const url = new URL(endpoint.url)
  const target = `${url.pathname}${url.search}`
  const names = [...url.hostname.split('.'), ...url.pathname.split('/')].filter(looksLikeKey)
  const values = [...url.search.slice(1).split('&').map(parameterValue), ...url.searchParams.values()]
  const keys = endpoint.secrets.flatMap((secret) => [secret, secret.replace(/^whsec_/, '')])
  const wholes = [url.href, `${url.host}${target}`].filter(() => target !== '/')
  return allSpellings([...wholes, ...(target.length >= minKeyLength ? [target] : []), ...names, ...values, ...keys])
}

/** The signatures of a `webhook-signature` header, in all encodings. */
export function signaturesIn(header: string | undefined): readonly string[] {
  return allSpellings((header ?? '').split(' ').map((signature) => signature.replace(/^v1,/, '')))
}

function parameterValue(parameter: string): string {
  return parameter.slice(parameter.indexOf('=') + 1)
}

/** Longest first, so that replacing a part does not break up a longer secret. */
function allSpellings(texts: readonly string[]): readonly string[] {
  const spellings = texts.flatMap((text) => [
    text,
    text.replaceAll('/', '\\/'),
    text.replaceAll('&', '&amp;'),
    encodeURIComponent(text),
    decoded(text),
  ])
  const long = spellings.filter((spelling) => spelling.length >= shortestSecret)
  return [...new Set(long)].sort((one, other) => other.length - one.length)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Removes a secret that is cut off at the end of the text. */
function withoutBrokenSecret(text: string, secrets: readonly string[]): string {
  for (const secret of secrets) {
    for (let length = Math.min(secret.length - 1, text.length); length >= shortestSecret; length--) {
      if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length)
    }
  }
  return text
}

function startOf(text: string): string {
  const bytes = Buffer.from(text)
  return bytes.length <= maxStoredBytes ? text : textOf(bytes.subarray(0, maxStoredBytes), true)
}

/** @param isCut the last character may be incomplete; if so, it is dropped */
export function textOf(bytes: Buffer, isCut: boolean): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: isCut })
}
