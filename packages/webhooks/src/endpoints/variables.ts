// Reads webhook variables one by one and collects problems. Their names are not fixed, so they have no schema.
import { parseDurationMs } from '@paylog/domain/duration'

export type Environment = Readonly<Record<string, string | undefined>>
export type VariableReader = ReturnType<typeof createVariableReader>

/**
 * Collects problems and continues with a default, so that all of them are reported at once. An empty variable counts as
 * unset. Problems never show values: URLs and secrets must not reach the log.
 */
export function createVariableReader(env: Environment) {
  const problems: string[] = []
  const textOf = (variable: string) => (env[variable] === '' ? undefined : env[variable])
  const problem = (variable: string, sentence: string) => void problems.push(`${variable} ${sentence}`)

  function read<Value>(
    variable: string,
    fallback: Value,
    parse: (text: string) => Value | undefined,
    expected: string,
  ) {
    const text = textOf(variable)
    if (text === undefined) return fallback
    const value = parse(text.trim())
    if (value === undefined) problem(variable, `must be ${expected}`)
    return value ?? fallback
  }

  return {
    problems,
    /** Adds a sentence that begins with the variable's name. */
    problem,
    isSet: (variable: string) => textOf(variable) !== undefined,
    /** The names of all variables that are set. */
    names: () => Object.keys(env).filter((name) => textOf(name) !== undefined),
    read,
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
        `a duration such as 500ms, 5s, 2m or 1h, at most ${durationText(maxMs)}`,
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
  }
}

/** In whole hours if possible, else in minutes. */
function durationText(ms: number): string {
  return ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : `${ms / 60_000}m`
}

export function atMost(max: number, value: number | undefined): number | undefined {
  return value === undefined || value > max ? undefined : value
}

/** The suffixes of an endpoint's variables `WEBHOOK_n_…`. */
const endpointSuffixes = [
  'ENABLED',
  'URL',
  'EVENTS',
  'EVENT_MODE',
  'FORMAT',
  'SECRET',
  'RETRY_SCHEDULE',
  'TIMEOUT',
] as const
export type EndpointSuffix = (typeof endpointSuffixes)[number]
const suffixes: readonly string[] = endpointSuffixes

/** Kubernetes and Docker set such variables for a service or container named `webhook-1`. */
const setByContainers = /^(?:SERVICE_.*|PORT(?:_.*)?|NAME|ENV_.*)$/

/** The variables of all endpoints and of the legacy list. */
const generalNames: readonly string[] = [
  'EXTERNAL_WEBHOOKS_ENABLED',
  'EXTERNAL_WEBHOOK_URLS',
  'EXTERNAL_WEBHOOK_EVENTS',
  'EXTERNAL_WEBHOOK_MAX_RETRIES',
  'EXTERNAL_WEBHOOK_RETRY_DELAY',
  'EXTERNAL_WEBHOOK_TIMEOUT',
]

const listPattern = /^EXTERNAL_WEBHOOKS?_(.+)$/

const endpointPattern = /^WEBHOOK_(\d+)_(.+)$/

/**
 * Reports variables that would have no effect: enabled endpoints whose number is out of range, unknown variables of enabled
 * endpoints, and unknown general ones (`EXTERNAL_WEBHOOK_ENABLED=false` would not switch anything off).
 * @param options `enabled` has the names of the endpoints in use
 */
export function reportUnknownVariables(
  read: VariableReader,
  { scanMax, enabled }: { readonly scanMax: number; readonly enabled: readonly string[] },
): void {
  for (const variable of read.names()) {
    const [, listSuffix] = listPattern.exec(variable) ?? []
    if (listSuffix !== undefined && !generalNames.includes(variable) && !setByContainers.test(listSuffix))
      read.problem(variable, `is not a known variable (known: ${generalNames.join(', ')})`)
    const [, number = '', suffix = ''] = endpointPattern.exec(variable) ?? []
    if (enabled.includes(number)) {
      if (!suffixes.includes(suffix) && !setByContainers.test(suffix))
        read.problem(variable, `is not a known endpoint variable (known: ${suffixes.join(', ')})`)
    } else if (suffix === 'ENABLED' && !isScanned(number, scanMax) && read.flag(variable, false)) {
      read.problem(variable, `is out of range: endpoints are numbered from 1 to WEBHOOK_SCAN_MAX, which is ${scanMax}`)
    }
  }
}

/** `01` is not the same as `1`. */
function isScanned(number: string, scanMax: number): boolean {
  return String(Number(number)) === number && Number(number) >= 1 && Number(number) <= scanMax
}
