// The endpoints that an operator configured, decoded from the environment.
import { parseDurationMs } from '@paylog/domain/duration'
import { providerNames } from '@paylog/domain/providerEvents'
import { canonicalNames } from '../canonicalNames.ts'
import { chatServices, formatByHost, type WebhookFormat } from '../chat/chatServices.ts'
import { isLegacyFamily } from '../notifications.ts'
import { signingKey } from '../signing.ts'
import { isPattern, matchesPattern } from './patterns.ts'
import {
  atMost,
  createVariableReader,
  type EndpointSuffix,
  type Environment,
  endpointUrl,
  endpointUrlRule,
  reportUnknownVariables,
  type VariableReader,
} from './variables.ts'

export const eventModes = ['raw', 'canonical', 'both'] as const
/** What a node is told: `legacy` is that of the single list of endpoints. */
export type EventMode = (typeof eventModes)[number] | 'legacy'

/** One configured endpoint. Its name is part of the ids of everything that is sent to it. */
export type WebhookEndpoint = {
  readonly name: string
  readonly url: string
  readonly patterns: readonly string[]
  readonly mode: EventMode
  readonly format: WebhookFormat
  /** Signing secrets, several during a rotation; none means unsigned. */
  readonly secrets: readonly string[]
  /** The pause before each further attempt; its length is the number of retries. */
  readonly retryScheduleMs: readonly number[]
  readonly timeoutMs: number
}

export type DecodedEndpoints = {
  readonly endpoints: readonly WebhookEndpoint[]
  /** One sentence per bad variable. Values are never repeated: a URL or a secret must not end in a log. */
  readonly problems: readonly string[]
  /** One sentence per variable that can be meant and probably is not, in the same manner. */
  readonly warnings: readonly string[]
}

type EndpointDefaults = Pick<WebhookEndpoint, 'retryScheduleMs' | 'timeoutMs'>

const maxScan = 100
const maxRetries = 20
const maxDelayMs = 24 * 3_600_000
const maxTimeoutMs = 5 * 60_000

const formats = ['auto', 'json', ...chatServices] as const
const urlList = 'EXTERNAL_WEBHOOK_URLS'
const allPatterns: readonly string[] = Object.freeze(['all'])
const patternRule = 'event patterns: all, a name such as payment.succeeded, payment.*, or with a provider stripe:*'

/** Whether a variable is one of those for webhooks, which have no fixed list. */
export const isWebhookVariable = (name: string) => /^(EXTERNAL_)?WEBHOOKS?_/.test(name)

/** For who knows the nodes and sends them nothing: the files of signing secrets may be where only the worker reads them. */
export function withoutSigningSecrets(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^WEBHOOK_\d+_SECRET(_FILE)?$/.test(name)))
}

/**
 * Reads both configurations of interface §6.2, which work side by side: `WEBHOOK_n_*` for n from 1 to `WEBHOOK_SCAN_MAX`,
 * with the additions of the design (secrets, format, retry schedule, timeout), and the single list of endpoints. A node
 * that is not enabled is not looked at further.
 */
export function decodeEndpoints(env: Environment): DecodedEndpoints {
  const read = createVariableReader(env)
  const isOn = read.flag('EXTERNAL_WEBHOOKS_ENABLED', true)
  const scanMax = read.integer('WEBHOOK_SCAN_MAX', { min: 0, max: maxScan }, 10)
  const defaults = readDefaults(read)
  const names = Array.from({ length: scanMax }, (_, index) => String(index + 1))
  const enabled = names.filter((name) => read.flag(endpointVariable(name, 'ENABLED'), false))
  const indexed = isOn ? enabled.map((name) => readEndpoint(read, name, defaults)) : []
  const listed = isOn ? readLegacyEndpoints(read, defaults) : []
  if (isOn) reportUnknownVariables(read, { scanMax, enabled })
  const warnings = [
    ...indexed.flatMap((endpoint) => unmatchedPatterns(endpointVariable(endpoint.name, 'EVENTS'), endpoint)),
    ...listed.slice(0, 1).flatMap((endpoint) => unmatchedPatterns('EXTERNAL_WEBHOOK_EVENTS', endpoint)),
    ...duplicateUrls(urlList, listed),
    ...(isOn ? misconfiguredEndpoints(read) : []),
  ]
  return Object.freeze({
    endpoints: Object.freeze([...indexed, ...listed]),
    problems: Object.freeze(read.problems),
    warnings: Object.freeze(warnings),
  })
}

const endpointVariable = (name: string, ending: EndpointSuffix) => `WEBHOOK_${name}_${ending}`

/** What holds for every node that says nothing else for itself. */
function readDefaults(read: VariableReader): EndpointDefaults {
  const retries = read.integer('EXTERNAL_WEBHOOK_MAX_RETRIES', { min: 0, max: maxRetries }, 3)
  const delayMs = read.duration('EXTERNAL_WEBHOOK_RETRY_DELAY', maxDelayMs, 5_000)
  return {
    // The interface's backoff: the delay, then each time twice as long.
    retryScheduleMs: Object.freeze(
      Array.from({ length: retries }, (_, attempt) => Math.min(delayMs * 2 ** attempt, maxDelayMs)),
    ),
    timeoutMs: read.duration('EXTERNAL_WEBHOOK_TIMEOUT', maxTimeoutMs, 10_000),
  }
}

function readEndpoint(read: VariableReader, name: string, defaults: EndpointDefaults): WebhookEndpoint {
  const variable = (ending: EndpointSuffix) => endpointVariable(name, ending)
  const url = readUrl(read, variable('URL'))
  const format = formatOf(url, read.oneOf(variable('FORMAT'), formats, 'auto'))
  checkChat(read, variable('URL'), [{ url, format }])
  return Object.freeze({
    name,
    url,
    patterns: readPatterns(read, variable('EVENTS')),
    mode: read.oneOf(variable('EVENT_MODE'), eventModes, 'canonical'),
    format,
    secrets: read.list(
      variable('SECRET'),
      [],
      (text) => (signingKey(text) === undefined ? undefined : text),
      'secrets, base64 of 24 to 64 bytes with or without whsec_',
    ),
    retryScheduleMs: read.list(
      variable('RETRY_SCHEDULE'),
      defaults.retryScheduleMs,
      (text) => atMost(maxDelayMs, parseDurationMs(text)),
      'at most 20 durations up to 24h, such as 5s,10s,20s',
      maxRetries,
    ),
    timeoutMs: read.duration(variable('TIMEOUT'), maxTimeoutMs, defaults.timeoutMs),
  })
}

/** The single list: all its endpoints share patterns, retries and timeout, and their messages are not signed. */
function readLegacyEndpoints(read: VariableReader, defaults: EndpointDefaults): readonly WebhookEndpoint[] {
  if (!read.isGiven(urlList)) return []
  const urls = read.list<string>(urlList, [], endpointUrl, `http or https URLs ${endpointUrlRule}`)
  const patterns = readPatterns(read, 'EXTERNAL_WEBHOOK_EVENTS')
  const endpoints = urls.map((url, index): WebhookEndpoint => {
    const format = formatOf(url, 'auto')
    const name = `legacy-${index + 1}`
    return Object.freeze({ name, url, patterns, mode: 'legacy', format, secrets: Object.freeze([]), ...defaults })
  })
  checkChat(read, urlList, endpoints)
  return endpoints
}

function readPatterns(read: VariableReader, variable: string): readonly string[] {
  return read.list(variable, allPatterns, (text) => (isPattern(text) ? text : undefined), patternRule)
}

function readUrl(read: VariableReader, variable: string): string {
  if (!read.isGiven(variable)) read.problem(variable, 'is required for an enabled node')
  return read.read(variable, '', endpointUrl, `an http or https URL ${endpointUrlRule}`)
}

/** @param url empty where there is none that could be read */
function formatOf(url: string, configured: (typeof formats)[number]): WebhookFormat {
  if (configured !== 'auto') return configured
  return url === '' ? 'json' : formatByHost(new URL(url))
}

/** A bot may write to many chats, and which one is said by the message; nothing but the URL's query can tell us. */
function checkChat(
  read: VariableReader,
  variable: string,
  endpoints: readonly Pick<WebhookEndpoint, 'url' | 'format'>[],
): void {
  const lacksChat = endpoints.some(
    ({ url, format }) => format === 'telegram' && url !== '' && !new URL(url).searchParams.get('chat_id'),
  )
  if (lacksChat) read.problem(variable, 'must say with ?chat_id= which Telegram chat the messages are for')
}

// What can be meant, and probably is not: it stops nobody, and operators are told.

/**
 * Whether a pattern can cover anything at all that a node of this mode is told. Providers have more names than are known
 * here, so that a raw node's patterns are only checked for the provider.
 */
function canMatch(pattern: string, mode: EventMode): boolean {
  if (pattern === 'all') return true
  const [provider] = pattern.includes(':') ? pattern.split(':') : []
  if (provider !== undefined) return mode !== 'canonical' && providerNames.some((name) => name === provider)
  if (mode === 'canonical') return canonicalNames.some((plain) => matchesPattern(pattern, { plain, prefixed: null }))
  return mode !== 'legacy' || isLegacyFamily(pattern)
}

/**
 * Patterns of a node that never cover anything, as `payments.*` does. They are told by their place: whatever somebody
 * pasted there by mistake may be a secret.
 * @param variable the list's
 */
function unmatchedPatterns(variable: string, { patterns, mode }: Pick<WebhookEndpoint, 'patterns' | 'mode'>): string[] {
  return patterns.flatMap((pattern, index) =>
    canMatch(pattern, mode)
      ? []
      : [`${variable} covers nothing that a ${mode} node is told with its pattern number ${index + 1}`],
  )
}

/** An endpoint that is in the single list twice is told everything twice. */
function duplicateUrls(variable: string, endpoints: readonly Pick<WebhookEndpoint, 'url'>[]): string[] {
  const isRepeated = new Set(endpoints.map(({ url }) => url)).size < endpoints.length
  return isRepeated ? [`${variable} names an endpoint twice, which is told everything twice`] : []
}

/** Nodes that have an address, and of which nobody said whether they are enabled. */
function misconfiguredEndpoints(read: VariableReader): string[] {
  return read.names().flatMap((variable) => {
    const [, number] = /^WEBHOOK_(\d+)_URL$/.exec(variable) ?? []
    if (number === undefined || read.isGiven(`WEBHOOK_${number}_ENABLED`)) return []
    return [`${variable} is not looked at, because WEBHOOK_${number}_ENABLED is not set`]
  })
}
