// The endpoints that an operator configured, decoded from the environment.
import { parseDurationMs } from '@paylog/domain/duration'
import type { WebhookFormat } from './chat/chatServices.ts'
import { isPattern } from './patterns.ts'
import { signingKey } from './signing.ts'

export const eventModes = ['raw', 'canonical', 'both'] as const
/** What a node is told: `legacy` is that of the single list of endpoints. */
export type EventMode = (typeof eventModes)[number] | 'legacy'

/** One configured endpoint. Its name is part of the ids of everything that is sent to it. */
export type WebhookNode = {
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

export type DecodedNodes = {
  readonly nodes: readonly WebhookNode[]
  /** One sentence per bad variable. Values are never repeated: a URL or a secret must not end in a log. */
  readonly problems: readonly string[]
}

/** Values of `WEBHOOK_n_FORMAT` that ask for what is sent anyway. */
const jsonFormats: readonly string[] = ['auto', 'json']

type Environment = Readonly<Record<string, string | undefined>>

const maxScan = 100
const maxRetries = 20
const maxDelayMs = 24 * 3_600_000
const maxTimeoutMs = 5 * 60_000

/**
 * Reads the indexed configuration of interface §6.2, `WEBHOOK_n_*` for n from 1 to `WEBHOOK_SCAN_MAX`, with the
 * additions of the design (secrets, retry schedule, timeout). A node that is not enabled is not looked at further.
 */
export function decodeNodes(env: Environment): DecodedNodes {
  const read = createReader(env)
  const enabled = read.flag('EXTERNAL_WEBHOOKS_ENABLED', true)
  const scanMax = read.integer('WEBHOOK_SCAN_MAX', { min: 0, max: maxScan }, 10)
  const defaults = {
    retryScheduleMs: exponential(
      read.integer('EXTERNAL_WEBHOOK_MAX_RETRIES', { min: 0, max: maxRetries }, 3),
      read.duration('EXTERNAL_WEBHOOK_RETRY_DELAY', maxDelayMs, 5_000),
    ),
    timeoutMs: read.duration('EXTERNAL_WEBHOOK_TIMEOUT', maxTimeoutMs, 10_000),
  }
  const names = Array.from({ length: scanMax }, (_, index) => String(index + 1))
  const wanted = names.filter((name) => read.flag(`WEBHOOK_${name}_ENABLED`, false))
  if (enabled) read.unsupported('EXTERNAL_WEBHOOK_URLS')
  const nodes = enabled ? wanted.map((name) => readNode(read, name, defaults)) : []
  return Object.freeze({ nodes: Object.freeze(nodes), problems: Object.freeze(read.problems) })
}

type Reader = ReturnType<typeof createReader>

function readNode(
  read: Reader,
  name: string,
  defaults: Pick<WebhookNode, 'retryScheduleMs' | 'timeoutMs'>,
): WebhookNode {
  const variable = (suffix: string) => `WEBHOOK_${name}_${suffix}`
  read.unsupported(variable('FORMAT'), jsonFormats)
  return Object.freeze({
    name,
    url: read.endpoint(variable('URL')),
    patterns: read.list(variable('EVENTS'), ['all'], (text) => (isPattern(text) ? text : undefined), 'event patterns'),
    mode: read.oneOf(variable('EVENT_MODE'), eventModes, 'canonical'),
    format: 'json',
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

/** The interface's backoff: the delay, then each time twice as long. */
function exponential(retries: number, delayMs: number): readonly number[] {
  return Array.from({ length: retries }, (_, attempt) => Math.min(delayMs * 2 ** attempt, maxDelayMs))
}

function atMost(max: number, value: number | undefined): number | undefined {
  return value === undefined || value > max ? undefined : value
}

/** Reads variables one by one; what is wrong is collected, and a default takes its place so that reading goes on. */
function createReader(env: Environment) {
  const problems: string[] = []
  const given = (variable: string) => (env[variable] === '' ? undefined : env[variable])

  function read<Value>(
    variable: string,
    fallback: Value,
    parse: (text: string) => Value | undefined,
    expected: string,
  ) {
    const text = given(variable)
    if (text === undefined) return fallback
    const value = parse(text.trim())
    if (value === undefined) problems.push(`${variable} must be ${expected}`)
    return value ?? fallback
  }

  return {
    problems,
    flag: (variable: string, fallback: boolean) =>
      read(
        variable,
        fallback,
        (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
        'true or false',
      ),
    integer: (variable: string, { min, max }: { min: number; max: number }, fallback: number) =>
      read(
        variable,
        fallback,
        (text) => (/^\d{1,6}$/.test(text) && Number(text) >= min ? atMost(max, Number(text)) : undefined),
        `a whole number from ${min} to ${max}`,
      ),
    duration: (variable: string, maxMs: number, fallback: number) =>
      read(
        variable,
        fallback,
        (text) => atMost(maxMs, parseDurationMs(text)) || undefined,
        `a duration such as 500ms, 5s, 2m or 1h, at most ${maxMs / 60_000}m`,
      ),
    oneOf: <Word extends string>(variable: string, words: readonly Word[], fallback: NoInfer<Word>) =>
      read(variable, fallback, (text) => words.find((word) => word === text), `one of ${words.join(', ')}`),
    list: <Value>(
      variable: string,
      fallback: readonly Value[],
      parse: (text: string) => Value | undefined,
      expected: string,
      maxLength = 100,
    ) =>
      read(
        variable,
        fallback,
        (text): readonly Value[] | undefined => {
          const words = text.split(',').map((word) => word.trim())
          const values = words.map(parse).filter((value) => value !== undefined)
          return values.length === words.length && values.length <= maxLength ? Object.freeze(values) : undefined
        },
        `a comma-separated list of ${expected}`,
      ),
    /** For what is planned but not there: an operator who sets it must not believe that it works. */
    unsupported(variable: string, except: readonly string[] = []): void {
      const text = given(variable)
      if (text !== undefined && !except.includes(text.trim())) problems.push(`${variable} is not supported yet`)
    },
    endpoint(variable: string): string {
      if (given(variable) === undefined) problems.push(`${variable} is required for an enabled node`)
      return read(variable, '', endpointUrl, 'an http or https URL without user name and password')
    },
  }
}

function endpointUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:'
  return isHttp && url.username === '' && url.password === '' ? url.href : undefined
}
