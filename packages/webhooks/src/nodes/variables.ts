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
