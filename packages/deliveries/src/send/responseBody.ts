// What of an endpoint's answer is kept: its start, without what opens doors. An endpoint may echo its request.
import { looksLikeKey, minKeyLength } from '@paylog/webhooks/endpoints/endpointUrl'
import { toPostgresText } from '../tables/recordDeliveries.ts'

/** What was read of a response body, as text. */
export type ReadBody = {
  readonly text: string
  /** Whether more came, or would have come. */
  readonly isCut: boolean
}

/** How much of a body is read, and how much of it is kept. */
export const maxStoredBytes = 16 * 1024
const replacement = '[redacted]'
/** A shorter text is no secret, and would be found by chance. */
const shortestSecret = 6

/** @param secrets the longest first, as `nodeSecrets` gives them */
export function redactedBody({ text, isCut }: ReadBody, secrets: readonly string[]): string {
  const whole = isCut ? withoutBrokenSecret(text, secrets) : text
  const redacted = secrets.reduce((rest, secret) => rest.replaceAll(secret, replacement), whole)
  return startOf(toPostgresText(redacted))
}

/**
 * The texts that must not stand in a log because whoever knows them may post to the endpoint, or sign as we do: the
 * node's URL, those parts of it that may be keys, and its secrets. Each as it is and as it looks in JSON and in forms.
 */
export function endpointSecrets(node: {
  readonly url: string
  readonly secrets: readonly string[]
}): readonly string[] {
  const url = new URL(node.url)
  const target = `${url.pathname}${url.search}`
  const names = [...url.hostname.split('.'), ...url.pathname.split('/')].filter(looksLikeKey)
  const values = [...url.search.slice(1).split('&').map(parameterValue), ...url.searchParams.values()]
  const keys = node.secrets.flatMap((secret) => [secret, secret.replace(/^whsec_/, '')])
  const wholes = [url.href, `${url.host}${target}`].filter(() => target !== '/')
  return allSpellings([...wholes, ...(target.length >= minKeyLength ? [target] : []), ...names, ...values, ...keys])
}

/** The signatures of a `webhook-signature` header, in all their spellings. */
export function signaturesIn(header: string | undefined): readonly string[] {
  return allSpellings((header ?? '').split(' ').map((signature) => signature.replace(/^v1,/, '')))
}

function parameterValue(parameter: string): string {
  return parameter.slice(parameter.indexOf('=') + 1)
}

/** The longest first, so that none is broken up by a part of it. */
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

/** A secret that stood at the end of what was read may be there by half. */
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

/** @param isCut whether the last character may be there by half; it is left out then */
export function textOf(bytes: Buffer, isCut: boolean): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: isCut })
}
