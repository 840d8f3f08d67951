// Decodes the configured webhook endpoints from the environment.
import { parseDurationMs } from '@paylog/domain/duration'
import { providerNames } from '@paylog/domain/providerEvents'
import { canonicalNames } from '../canonicalNames.ts'
import { chatServices, formatByHost, type WebhookFormat } from '../chat/chatServices.ts'
import { isLegacyFamily } from '../notifications.ts'
import { signingKey } from '../signing.ts'
import { endpointUrl, endpointUrlRule } from './endpointUrl.ts'
import { isPattern, matchesPattern } from './patterns.ts'
import {
  atMost,
  createVariableReader,
  type EndpointSuffix,
  type Environment,
  reportUnknownVariables,
  type VariableReader,
} from './variables.ts'

export const eventModes = ['raw', 'canonical', 'both'] as const
/** The kind of messages an endpoint receives; `legacy` for the endpoints of the legacy list. */
export type EventMode = (typeof eventModes)[number] | 'legacy'

/** One configured endpoint. Its name is part of the ids of its deliveries. */
export type WebhookEndpoint = {
  readonly name: string
  readonly url: string
  readonly patterns: readonly string[]
  readonly mode: EventMode
  readonly format: WebhookFormat
  /** Signing secrets, several during a rotation; empty means unsigned. */
  readonly secrets: readonly string[]
  /** The delay before each retry; its length is the number of retries. */
  readonly retryScheduleMs: readonly number[]
  readonly timeoutMs: number
}

export type DecodedEndpoints = {
  readonly endpoints: readonly WebhookEndpoint[]
  /** One sentence per bad variable, without its value: URLs and secrets must not reach the log. */
  readonly problems: readonly string[]
  /** One sentence per variable that is valid but probably a mistake, also without its value. */
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

/** For processes that only need the list of endpoints: the files with signing secrets may be readable by the worker only. */
export function withoutSigningSecrets(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^WEBHOOK_\d+_SECRET(_FILE)?$/.test(name)))
}

/**
 * Decodes both configurations of interface §6.2, which work side by side: `WEBHOOK_n_*` (which the interface calls nodes)
 * for n from 1 to `WEBHOOK_SCAN_MAX`, with our additions (secrets, format, retry schedule, timeout), and the legacy list of
 * URLs. Ignores the other variables of an endpoint that is not enabled.
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

/** Defaults of all endpoints. */
function readDefaults(read: VariableReader): EndpointDefaults {
  const retries = read.integer('EXTERNAL_WEBHOOK_MAX_RETRIES', { min: 0, max: maxRetries }, 3)
  const delayMs = read.duration('EXTERNAL_WEBHOOK_RETRY_DELAY', maxDelayMs, 5_000)
  return {
    // The interface's backoff: the delay doubles with each retry.
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

/** The endpoints of the legacy list share patterns, retries and timeout, and are unsigned. */
function readLegacyEndpoints(read: VariableReader, defaults: EndpointDefaults): readonly WebhookEndpoint[] {
  if (!read.isSet(urlList)) return []
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
  if (!read.isSet(variable)) read.problem(variable, 'is required for an enabled endpoint')
  return read.read(variable, '', endpointUrl, `an http or https URL ${endpointUrlRule}`)
}

/** @param url empty when it is missing or invalid */
function formatOf(url: string, configured: (typeof formats)[number]): WebhookFormat {
  if (configured !== 'auto') return configured
  return url === '' ? 'json' : formatByHost(new URL(url))
}

/** A Telegram bot can write to many chats, and each message has to name one: we take it from the URL's query. */
function checkChat(
  read: VariableReader,
  variable: string,
  endpoints: readonly Pick<WebhookEndpoint, 'url' | 'format'>[],
): void {
  const lacksChat = endpoints.some(
    ({ url, format }) => format === 'telegram' && url !== '' && !new URL(url).searchParams.get('chat_id'),
  )
  if (lacksChat) read.problem(variable, 'must name the Telegram chat with ?chat_id=')
}

/**
 * Whether a pattern can match any message of this mode. We do not know all event names of the providers, so for raw messages
 * we only check the provider's name.
 */
function canMatch(pattern: string, mode: EventMode): boolean {
  if (pattern === 'all') return true
  const [provider] = pattern.includes(':') ? pattern.split(':') : []
  if (provider !== undefined) return mode !== 'canonical' && providerNames.some((name) => name === provider)
  if (mode === 'canonical') return canonicalNames.some((plain) => matchesPattern(pattern, { plain, prefixed: null }))
  return mode !== 'legacy' || isLegacyFamily(pattern)
}

/**
 * Warns about patterns that never match, such as `payments.*`. Names them by position, because a value pasted by mistake may
 * be a secret.
 */
function unmatchedPatterns(variable: string, { patterns, mode }: Pick<WebhookEndpoint, 'patterns' | 'mode'>): string[] {
  return patterns.flatMap((pattern, index) =>
    canMatch(pattern, mode)
      ? []
      : [`${variable} has a pattern (number ${index + 1}) that matches no event of a ${mode} endpoint`],
  )
}

/** Warns about a URL that is listed twice. */
function duplicateUrls(variable: string, endpoints: readonly Pick<WebhookEndpoint, 'url'>[]): string[] {
  const isRepeated = new Set(endpoints.map(({ url }) => url)).size < endpoints.length
  return isRepeated ? [`${variable} lists a URL twice, which then receives every webhook twice`] : []
}

/** Warns about endpoints that have a URL but no ENABLED variable. */
function misconfiguredEndpoints(read: VariableReader): string[] {
  return read.names().flatMap((variable) => {
    const [, number] = /^WEBHOOK_(\d+)_URL$/.exec(variable) ?? []
    if (number === undefined || read.isSet(`WEBHOOK_${number}_ENABLED`)) return []
    return [`${variable} is ignored because WEBHOOK_${number}_ENABLED is not set`]
  })
}
