// The variables of webhook endpoints, and those that would have no effect.

import { parseDurationMs } from '@paylog/domain/duration'
import { bool, integer, oneOf, parsed } from '@paylog/runtime/config/kinds'
import { Type } from 'typebox'
import { chatServices } from '../messages/chat/chatServices.ts'
import { signingKey } from '../messages/signing.ts'
import { endpointUrl, endpointUrlRule } from './endpointUrl.ts'
import { isPattern } from './patterns.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export const eventModes = ['raw', 'canonical', 'both'] as const

const maxScan = 100
const maxRetries = 20
export const maxDelayMs = 24 * 3_600_000

/** @returns undefined when it is no duration, or 0, or too long */
const delayMs = (text: string) => positiveUpTo(maxDelayMs, parseDurationMs(text))
const timeoutMs = (text: string) => positiveUpTo(5 * 60_000, parseDurationMs(text))
const positiveUpTo = (max: number, ms = 0) => (ms > 0 && ms <= max ? ms : undefined)

const delay = (byDefault: string) => parsed(delayMs, 'a duration such as 500ms, 5s, 2m or 1h, at most 24h', byDefault)
const timeout = (byDefault?: string) =>
  parsed(timeoutMs, 'a duration such as 500ms, 5s, 2m or 1h, at most 5m', byDefault)

/** An empty word is a mistake, unlike in other lists: legacy endpoints are named by their position. */
function list<Value>(
  parse: (word: string) => Value | undefined,
  expected: string,
  { byDefault, maxLength = 100 }: { readonly byDefault?: string; readonly maxLength?: number } = {},
) {
  const parseAll = (text: string): readonly Value[] | undefined => {
    const words = text.split(',')
    const values = words.flatMap((word) => parse(word.trim()) ?? [])
    return values.length === words.length && values.length <= maxLength ? values : undefined
  }
  return parsed(parseAll, `a comma-separated list of ${expected}`, byDefault)
}

const patterns = () =>
  list(
    (text) => (isPattern(text) ? text : undefined),
    'event patterns: all, a name such as payment.succeeded, payment.*, or with a provider stripe:*',
    { byDefault: 'all' },
  )

/** The variables that concern all endpoints. */
export const CommonVariables = Type.Object({
  EXTERNAL_WEBHOOKS_ENABLED: bool(true),
  WEBHOOK_SCAN_MAX: integer(0, maxScan, 10),
  EXTERNAL_WEBHOOK_MAX_RETRIES: integer(0, maxRetries, 3),
  EXTERNAL_WEBHOOK_RETRY_DELAY: delay('5s'),
  EXTERNAL_WEBHOOK_TIMEOUT: timeout('10s'),
})

/** The variables of the legacy list. */
export const LegacyVariables = Type.Object({
  EXTERNAL_WEBHOOK_URLS: Type.Optional(list(endpointUrl, `http or https URLs ${endpointUrlRule}`)),
  EXTERNAL_WEBHOOK_EVENTS: patterns(),
})

/** Only the other variables of enabled endpoints are read. */
export const EnabledVariable = Type.Object({ ENABLED: bool(false) })

const maxLabelLength = 60
/** Docker sets such a value for a linked container: it is no name that somebody gave. */
const containerPath = /^\//

/** What people call an endpoint; null when they give it no name. */
function label(text: string): string | null | undefined {
  if (containerPath.test(text)) return null
  return text.length <= maxLabelLength && !/\p{C}/u.test(text) ? text : undefined
}

/** The variables of one enabled endpoint, after their prefix. */
export const EndpointVariables = Type.Object({
  NAME: Type.Optional(parsed(label, `a name of at most ${maxLabelLength} characters`)),
  URL: parsed(endpointUrl, `an http or https URL ${endpointUrlRule}`),
  EVENTS: patterns(),
  EVENT_MODE: oneOf(eventModes, 'canonical'),
  FORMAT: oneOf(['auto', 'json', ...chatServices], 'auto'),
  SECRET: Type.Optional(
    list(
      (text) => (signingKey(text) === undefined ? undefined : text),
      'secrets, base64 of 24 to 64 bytes with or without whsec_',
    ),
  ),
  RETRY_SCHEDULE: Type.Optional(
    list(delayMs, 'at most 20 durations up to 24h, such as 5s,10s,20s', { maxLength: maxRetries }),
  ),
  TIMEOUT: Type.Optional(timeout()),
})

/** The prefix of an endpoint's variables. */
export const prefixOf = (name: string) => `WEBHOOK_${name}_`

/** Kubernetes and Docker set such variables for a service or container named `webhook-1`. */
const setByContainers = /^(?:SERVICE_.*|PORT(?:_.*)?|NAME|ENV_.*)$/

const listPattern = /^EXTERNAL_WEBHOOKS?_(.+)$/
const endpointPattern = /^WEBHOOK_(\d+)_(.+)$/

const generalNames = Object.keys({ ...CommonVariables.properties, ...LegacyVariables.properties })
const suffixes = Object.keys({ ...EnabledVariable.properties, ...EndpointVariables.properties })

/**
 * Finds variables that would have no effect: unknown variables of enabled endpoints, and unknown general ones
 * (`EXTERNAL_WEBHOOK_ENABLED=false` would not switch anything off).
 * @param enabled the names of the endpoints in use
 * @returns a sentence for each
 */
export function uselessVariables(env: Environment, enabled: readonly string[]): readonly string[] {
  return namesSet(env).flatMap((variable) => {
    const [, listSuffix] = listPattern.exec(variable) ?? []
    if (listSuffix !== undefined && !generalNames.includes(variable) && !setByContainers.test(listSuffix))
      return [`${variable} is not a known variable (known: ${generalNames.join(', ')})`]
    const [, number = '', suffix = ''] = endpointPattern.exec(variable) ?? []
    if (!enabled.includes(number) || suffixes.includes(suffix) || setByContainers.test(suffix)) return []
    return [`${variable} is not a known endpoint variable (known: ${suffixes.join(', ')})`]
  })
}

/**
 * Finds the variables of endpoints that the interface does not read, because of their number. One that is switched off is left
 * out.
 * @returns a sentence for each endpoint
 */
export function unscannedVariables(env: Environment, scanMax: number): readonly string[] {
  const unscanned = namesSet(env).flatMap((variable) => {
    const [, number = '', suffix = ''] = endpointPattern.exec(variable) ?? []
    const isSwitchedOff = env[`${prefixOf(number)}ENABLED`] === 'false'
    return suffixes.includes(suffix) && !isScanned(number, scanMax) && !isSwitchedOff ? [{ number, variable }] : []
  })
  return [...Map.groupBy(unscanned, ({ number }) => number).values()].map((found) => {
    const names = found.map(({ variable }) => variable).join(', ')
    return `${names}: not read, because endpoints are numbered from 1 to WEBHOOK_SCAN_MAX, which is ${scanMax}`
  })
}

/** The names of all variables that are set; an empty one counts as unset. */
export const namesSet = (env: Environment): readonly string[] => Object.keys(env).filter((name) => env[name])

/** `01` is not the same as `1`. */
export function isScanned(number: string, scanMax: number): boolean {
  return String(Number(number)) === number && Number(number) >= 1 && Number(number) <= scanMax
}
