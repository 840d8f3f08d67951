// Decodes the configured webhook endpoints from the environment.

import { providerNames } from '@paylog/domain/providerEvents'
import { decodeVariables, loadConfig, readVariableFiles } from '@paylog/runtime/config/environment'
import type { StaticDecode, TObject } from 'typebox'
import { canonicalNames } from '../messages/canonicalNames.ts'
import { formatByHost, type WebhookFormat } from '../messages/chat/chatServices.ts'
import { isLegacyFamily } from '../messages/notifications.ts'
import {
  CommonVariables,
  EnabledVariable,
  EndpointVariables,
  type Environment,
  type eventModes,
  isScanned,
  LegacyVariables,
  maxDelayMs,
  namesSet,
  prefixOf,
  unscannedVariables,
  uselessVariables,
} from './endpointVariables.ts'
import { matchesPattern } from './patterns.ts'

/** The kind of messages an endpoint receives; `legacy` for the endpoints of the legacy list. */
export type EventMode = (typeof eventModes)[number] | 'legacy'

/** One configured endpoint. Its name is part of the ids of its deliveries. */
export type WebhookEndpoint = {
  readonly name: string
  /** What people call it; null without `WEBHOOK_n_NAME`. */
  readonly label: string | null
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

const urlList = 'EXTERNAL_WEBHOOK_URLS'

export type WithEndpoints = Pick<DecodedEndpoints, 'endpoints' | 'warnings'>

/** Whether a variable is one of those for webhooks, which have no fixed list. */
export const isWebhookVariable = (name: string) => /^(EXTERNAL_)?WEBHOOKS?_/.test(name)

/**
 * Decodes the variables of a schema, and the webhook endpoints.
 * @param problemsOf further problems of the environment, with the values of `*_FILE` variables in place
 * @throws ConfigError naming every bad variable
 */
export function loadWithEndpoints<Schema extends TObject>(
  schema: Schema,
  env: NodeJS.ProcessEnv,
  problemsOf: (env: NodeJS.ProcessEnv) => readonly string[] = () => [],
): Readonly<StaticDecode<Schema>> & WithEndpoints {
  const given = readVariableFiles(env, (name) => name in schema.properties || isWebhookVariable(name))
  const { endpoints, problems, warnings } = decodeEndpoints(given.env)
  const further = [...given.problems, ...problems, ...problemsOf(given.env)]
  return { ...loadConfig(schema, given.env, further), endpoints, warnings }
}

/** For processes that only need the list of endpoints: the files with signing secrets may be readable by the worker only. */
export function withoutSigningSecrets(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^WEBHOOK_\d+_SECRET(_FILE)?$/.test(name)))
}

/**
 * Decodes both configurations of interface §6.2, which work side by side: `WEBHOOK_n_*` (which the interface calls nodes)
 * for n from 1 to `WEBHOOK_SCAN_MAX`, with our additions (secrets, format, retry schedule, timeout), and the legacy list of
 * URLs. Ignores the other variables of an endpoint that is not enabled.
 */
export function decodeEndpoints(given: Environment): DecodedEndpoints {
  const env = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value?.trim()]))
  const problems: string[] = []
  const decode: Decode = (schema, prefix) => {
    const decoded = decodeVariables(schema, env, prefix)
    problems.push(...decoded.problems)
    return decoded.values
  }
  const common = decode(CommonVariables)
  const { EXTERNAL_WEBHOOKS_ENABLED: isOn, WEBHOOK_SCAN_MAX: scanMax } = common
  const names = Array.from({ length: scanMax }, (_, index) => String(index + 1))
  const enabled = names.filter((name) => decode(EnabledVariable, prefixOf(name)).ENABLED)
  const defaults = { retryScheduleMs: retryScheduleMs(common), timeoutMs: common.EXTERNAL_WEBHOOK_TIMEOUT }
  const numbered = isOn ? enabled.flatMap((name) => numberedEndpoint(decode, name, defaults)) : []
  const listed = isOn && env[urlList] ? legacyEndpoints(decode(LegacyVariables), defaults) : []
  problems.push(
    ...numbered.flatMap((endpoint) => missingChats(`${prefixOf(endpoint.name)}URL`, [endpoint])),
    ...missingChats(urlList, listed),
  )
  if (isOn) problems.push(...uselessVariables(env, enabled))
  const warnings = [
    ...numbered.flatMap((endpoint) => unmatchedPatterns(`${prefixOf(endpoint.name)}EVENTS`, endpoint)),
    ...listed.slice(0, 1).flatMap((endpoint) => unmatchedPatterns('EXTERNAL_WEBHOOK_EVENTS', endpoint)),
    ...duplicateUrls(listed),
    ...(isOn ? [...ignoredUrls(env, scanMax), ...unscannedVariables(env, scanMax)] : []),
  ]
  return Object.freeze({
    endpoints: Object.freeze([...numbered, ...listed]),
    problems: Object.freeze(problems),
    warnings: Object.freeze(warnings),
  })
}

/** Decodes variables and keeps what is wrong with them. */
type Decode = <Schema extends TObject>(schema: Schema, prefix?: string) => Readonly<StaticDecode<Schema>>

/** The interface's backoff: the delay doubles with each retry. */
function retryScheduleMs(common: StaticDecode<typeof CommonVariables>): readonly number[] {
  const { EXTERNAL_WEBHOOK_MAX_RETRIES: length, EXTERNAL_WEBHOOK_RETRY_DELAY: delayMs } = common
  return Object.freeze(Array.from({ length }, (_, retry) => Math.min(delayMs * 2 ** retry, maxDelayMs)))
}

/** @returns nothing when its URL is missing or bad */
function numberedEndpoint(decode: Decode, name: string, defaults: EndpointDefaults): readonly WebhookEndpoint[] {
  const { URL: url, FORMAT, ...own } = decode(EndpointVariables, prefixOf(name))
  // Missing after a problem.
  if (url === undefined) return []
  const endpoint = {
    name,
    label: own.NAME ?? null,
    url,
    patterns: own.EVENTS,
    mode: own.EVENT_MODE,
    format: FORMAT === 'auto' ? formatByHost(new URL(url)) : FORMAT,
    secrets: own.SECRET ?? Object.freeze([]),
    retryScheduleMs: own.RETRY_SCHEDULE ?? defaults.retryScheduleMs,
    timeoutMs: own.TIMEOUT ?? defaults.timeoutMs,
  }
  return [Object.freeze(endpoint)]
}

/** The endpoints of the legacy list share patterns, retries and timeout, and are unsigned. */
function legacyEndpoints(
  { EXTERNAL_WEBHOOK_URLS: urls = [], EXTERNAL_WEBHOOK_EVENTS: patterns }: StaticDecode<typeof LegacyVariables>,
  defaults: EndpointDefaults,
): readonly WebhookEndpoint[] {
  return urls.map((url, index) => {
    const format = formatByHost(new URL(url))
    const name = `legacy-${index + 1}`
    const own = { name, label: null, url, format, secrets: Object.freeze([]) }
    return Object.freeze({ ...own, patterns, mode: 'legacy', ...defaults })
  })
}

/** A Telegram bot can write to many chats, and each message has to name one: we take it from the URL's query. */
function missingChats(variable: string, endpoints: readonly WebhookEndpoint[]): readonly string[] {
  const lacksChat = endpoints.some(
    ({ url, format }) => format === 'telegram' && !new URL(url).searchParams.get('chat_id'),
  )
  return lacksChat ? [`${variable} must name the Telegram chat with ?chat_id=`] : []
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
function duplicateUrls(listed: readonly WebhookEndpoint[]): string[] {
  const isRepeated = new Set(listed.map(({ url }) => url)).size < listed.length
  return isRepeated ? [`${urlList} lists a URL twice, which then receives every webhook twice`] : []
}

/** Warns about endpoints that have a URL but no ENABLED variable. */
function ignoredUrls(env: Environment, scanMax: number): string[] {
  return namesSet(env).flatMap((variable) => {
    const [, number] = /^WEBHOOK_(\d+)_URL$/.exec(variable) ?? []
    if (number === undefined || !isScanned(number, scanMax) || env[`${prefixOf(number)}ENABLED`]) return []
    return [`${variable} is ignored because ${prefixOf(number)}ENABLED is not set`]
  })
}
