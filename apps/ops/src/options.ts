// The options of a command, each written once: how it is read, and what usage and help say of it.
import { parseArgs } from 'node:util'
import { readSince, UsageError } from './command.ts'

export type Option<Value> = {
  /** What usage and help call its value. A flag has none. */
  readonly placeholder?: string
  /** Further lines after line feeds. */
  readonly help: string
  readonly isRequired?: boolean
  readonly isRepeatable?: boolean
  /**
   * @param given its values on the command line; a flag that is set has one, which is empty
   * @param name such as `--since`, for messages
   * @throws UsageError
   */
  readonly read: (given: readonly string[], name: string) => Value
}

export type Options = Readonly<Record<string, Option<unknown>>>
export type NoOptions = Readonly<Record<never, never>>
export type ReadOptions<Given extends Options> = { readonly [Name in keyof Given]: ReturnType<Given[Name]['read']> }

export const flag = (help: string): Option<boolean> => ({ help, read: (given) => given.length > 0 })

/** Undefined when it is not given. The last value counts. @param read throws UsageError */
export function value<Value>(
  placeholder: string,
  help: string,
  read: (text: string, name: string) => Value,
): Option<Value | undefined> {
  return {
    placeholder,
    help,
    read(given, name) {
      const text = given.at(-1)
      return text === undefined ? undefined : read(text, name)
    },
  }
}

export const text = (placeholder: string, help: string) => value(placeholder, help, (given) => given)

/** Any number of values. */
export const texts = (placeholder: string, help: string): Option<readonly string[]> => ({
  placeholder,
  help,
  isRepeatable: true,
  read: (given) => given,
})

/** A whole number within bounds, both included. */
export function count(placeholder: string, help: string, { min = 1, max = Number.POSITIVE_INFINITY } = {}) {
  return value(placeholder, help, (given, name) => {
    const number = readNumber(given, name, min)
    if (number > max) throw new UsageError(`${name} must be at most ${max}`)
    return number
  })
}

/** @throws UsageError unless it is a whole number of at least `min` */
export function readNumber(given: string, name: string, min: number): number {
  const number = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN
  if (!(number >= min)) throw new UsageError(`${name} must be a whole number of at least ${min}`)
  return number
}

/** A time in the past, or an age. In ms since 1970. */
export const time = (help: string) =>
  value('T', `${help}: 2026-11-01T00:00:00Z, or an age such as 90m, 24h, 7d`, (given, name) =>
    readSince(given, Date.now(), name),
  )

export function oneOf<const Word extends string>(placeholder: string, words: readonly Word[], help: string) {
  return value(placeholder, help, (given, name) => readWord(given, words, name))
}

/** @throws UsageError unless the text is one of the words */
export function readWord<const Word extends string>(given: string, words: readonly Word[], name: string): Word {
  const word = words.find((known) => known === given)
  if (word === undefined) throw new UsageError(`${name} must be one of ${words.join(', ')}`)
  return word
}

export function required<Value>(option: Option<Value | undefined>): Option<Value> {
  return {
    ...option,
    isRequired: true,
    read(given, name) {
      const found = option.read(given, name)
      if (found === undefined) throw new UsageError(`${name} is missing`)
      return found
    },
  }
}

export function withDefault<Value extends string | number>(
  option: Option<Value | undefined>,
  defaultValue: Value,
): Option<Value> {
  return {
    ...option,
    help: `${option.help} (default ${defaultValue})`,
    read: (given, name) => option.read(given, name) ?? defaultValue,
  }
}

/** The arguments and options of a command line. */
export type CommandLine<Names extends readonly string[], Given extends Options> = {
  readonly args: Arguments<Names>
  readonly options: ReadOptions<Given>
}

type Arguments<Names extends readonly string[]> = Names extends readonly [...infer First, `${string}…`]
  ? readonly [...{ readonly [Name in keyof First]: string }, ...string[]]
  : { readonly [Name in keyof Names]: string }

/**
 * Reads a command line.
 * @param names of the positional arguments; a last one that ends with `…` stands for any number of them
 * @throws UsageError
 */
export function readCommandLine<Names extends readonly string[], Given extends Options>(
  args: readonly string[],
  names: readonly string[],
  options: Given,
): CommandLine<Names, Given> {
  const { positionals, values } = parse(args, options)
  const isList = names.at(-1)?.endsWith('…') === true
  const missing = names[positionals.length]
  if (missing !== undefined && !missing.endsWith('…')) throw new UsageError(`${missing} is missing`)
  const extra = positionals[names.length]
  if (extra !== undefined && !isList) throw new UsageError(`Unexpected argument: ${extra}`)
  const read = Object.entries(options).map(([name, option]) => [name, option.read(given(values[name]), `--${name}`)])
  // The compiler cannot know that the arguments are as many as the names, and the entries those of `options`.
  return { args: positionals as readonly string[] as Arguments<Names>, options: Object.fromEntries(read) }
}

/** What `parseArgs` found; it has `true` for a flag. */
const given = (values: ParsedValues[string]) =>
  [values ?? []].flat().map((each) => (typeof each === 'string' ? each : ''))

type ParsedValues = ReturnType<typeof parse>['values']

function parse(args: readonly string[], options: Options) {
  const types = Object.entries(options).map(([name, { placeholder }]) => {
    const type: 'boolean' | 'string' = placeholder === undefined ? 'boolean' : 'string'
    return [name, { type, multiple: true }] as const
  })
  try {
    return parseArgs({ args: [...args], options: Object.fromEntries(types), allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** `FILE --out FILE [--since T] [--json]` */
export function usageOf(names: readonly string[], options: Options): string {
  const each = Object.entries(options).map(([name, option]) => {
    const called = calledOf(name, option)
    if (option.isRequired) return called
    return option.isRepeatable ? `[${called}]…` : `[${called}]`
  })
  return [...names, ...each].join(' ')
}

/** A line for each option. */
export function optionsHelp(options: Options): readonly string[] {
  const all = Object.entries(options).map(([name, option]) => ({ called: calledOf(name, option), help: option.help }))
  const width = Math.max(0, ...all.map(({ called }) => called.length))
  const lineStart = `\n${' '.repeat(width + 4)}`
  return all.map(({ called, help }) => `  ${called.padEnd(width)}  ${help.replaceAll('\n', lineStart)}`)
}

const calledOf = (name: string, { placeholder }: Option<unknown>) =>
  placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`
