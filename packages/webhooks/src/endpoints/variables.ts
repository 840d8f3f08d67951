// Reads environment variables one by one, and collects what is wrong with them.
import { parseDurationMs } from '@paylog/domain/duration'

export type Environment = Readonly<Record<string, string | undefined>>
export type VariableReader = ReturnType<typeof createVariableReader>

/**
 * What is wrong is collected, and a default takes its place so that reading goes on. An empty variable counts as unset.
 * Values are never repeated in a problem: a URL or a secret must not end in a log.
 */
export function createVariableReader(env: Environment) {
  const problems: string[] = []
  const given = (variable: string) => (env[variable] === '' ? undefined : env[variable])
  const problem = (variable: string, sentence: string) => void problems.push(`${variable} ${sentence}`)

  function read<Value>(
    variable: string,
    fallback: Value,
    parse: (text: string) => Value | undefined,
    expected: string,
  ) {
    const text = given(variable)
    if (text === undefined) return fallback
    const value = parse(text.trim())
    if (value === undefined) problem(variable, `must be ${expected}`)
    return value ?? fallback
  }

  return {
    problems,
    /** One sentence that begins with the variable's name. */
    problem,
    isGiven: (variable: string) => given(variable) !== undefined,
    /** The names of all variables that are set. */
    names: () => Object.keys(env).filter((name) => given(name) !== undefined),
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

/** In hours where they come out even, else in minutes. */
function durationText(ms: number): string {
  return ms % 3_600_000 === 0 ? `${ms / 3_600_000}h` : `${ms / 60_000}m`
}

export function atMost(max: number, value: number | undefined): number | undefined {
  return value === undefined || value > max ? undefined : value
}

// Variables of webhook nodes that nobody would read, so that no operator believes they work.

/** The last parts of a node's variables, `WEBHOOK_n_…`. */
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

/** Kubernetes and Docker set such variables for a service or a container that is called `webhook-1`. */
const setByContainers = /^(?:SERVICE_.*|PORT(?:_.*)?|NAME|ENV_.*)$/

/** What is common to all nodes, and the single list. */
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
 * Reports nodes that are enabled but have a number that is not scanned, variables of enabled nodes whose last part means
 * nothing here, and those of the single list that it does not have: `EXTERNAL_WEBHOOK_ENABLED=false` would switch nothing off.
 * @param scanned `enabled`: the names of the nodes that are read
 */
export function reportUnknownVariables(
  read: VariableReader,
  { scanMax, enabled }: { readonly scanMax: number; readonly enabled: readonly string[] },
): void {
  for (const variable of read.names()) {
    const [, listSuffix] = listPattern.exec(variable) ?? []
    if (listSuffix !== undefined && !generalNames.includes(variable) && !setByContainers.test(listSuffix))
      read.problem(variable, `is not known; there are ${generalNames.join(', ')}`)
    const [, number = '', suffix = ''] = endpointPattern.exec(variable) ?? []
    if (enabled.includes(number)) {
      if (!suffixes.includes(suffix) && !setByContainers.test(suffix))
        read.problem(variable, `is no variable of a node, which has ${suffixes.join(', ')}`)
    } else if (suffix === 'ENABLED' && !isScanned(number, scanMax) && read.flag(variable, false)) {
      read.problem(variable, `is not looked at: nodes are numbered from 1 to WEBHOOK_SCAN_MAX, which is ${scanMax}`)
    }
  }
}

/** Only the plain number is: `01` is no other name of `1`. */
function isScanned(number: string, scanMax: number): boolean {
  return String(Number(number)) === number && Number(number) >= 1 && Number(number) <= scanMax
}

// The address of an endpoint, as an operator writes it.

/** What an address has to be, to complete the sentence "… must be". */
export const endpointUrlRule = 'without user name, password and fragment, and without spaces'

/** Of names and addresses; a variable that was not filled in (`${HOST}`) or a second URL after a comma is neither. */
const hostPattern = /^(?:[a-z0-9._-]+|\[[\da-f:.]+\])$/
/** `https:example.com` is read as well by the URL standard, which is kinder than whoever mistyped it wants. */
const beginning = /^https?:\/\/[^/]/i
/** The URL standard drops or escapes them, so that two URLs on two lines would become one. */
const spacesAndUnseen = /[\s\p{C}]/u
const furtherUrl = /,https?:\/\//i

/** @returns the address in its normal form; nothing when it is none, or not one that can be meant */
export function endpointUrl(text: string): string | undefined {
  if (!beginning.test(text) || spacesAndUnseen.test(text) || text.includes('#') || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const isPlain = url.username === '' && url.password === '' && hostPattern.test(url.hostname)
  return isPlain && !furtherUrl.test(url.pathname) ? url.href : undefined
}

export const shortestKey = 8
const longestWord = 20

/** A path may consist of words. A name with a digit in it, or longer than words are, may be a key. */
export function mayBeKey(name: string): boolean {
  return name.length > longestWord || (name.length >= shortestKey && /\d/.test(name))
}

/**
 * The address as it may stand on a terminal: host and path, without the query, and without names in the path that may be
 * keys. The address of a chat is a key as a whole, so only its host is shown.
 */
export function shownUrl({ url, format }: { readonly url: string; readonly format: string }): string {
  const { origin, pathname } = new URL(url)
  const names = format === 'json' ? pathname.slice(1).split('/') : ['…']
  return `${origin}/${names.map((name) => (mayBeKey(name) ? '…' : name)).join('/')}`
}
