// Decodes an app's environment once, at start, with one schema.
import { readFileSync } from 'node:fs'
import type { StaticDecode, TObject, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { BadVariable } from './kinds.ts'

/** The environment does not say what the app needs. Its message is one line for the operator and never shows a value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** One sentence per bad variable; each begins with the variable's name. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`Bad configuration: ${problems.join('; ')}`)
    this.problems = problems
  }
}

/**
 * Reads the variables that are kept in files, as secrets are: `NAME_FILE` is the path of a file with the value of `NAME`. One
 * newline at its end is dropped. An empty file is refused: a secret that is missing must not look like one that is not set.
 *
 * @param isVariable which names may be given so
 * @returns the environment with their values instead of their paths, and one sentence, which begins with a variable's name,
 *   per file that cannot be used or is given beside its variable; neither path nor content is in it
 */
export function readVariableFiles(
  env: NodeJS.ProcessEnv,
  isVariable: (name: string) => boolean,
): { readonly env: NodeJS.ProcessEnv; readonly problems: readonly string[] } {
  const read: NodeJS.ProcessEnv = { ...env }
  const problems: string[] = []
  for (const [fileVariable, path] of Object.entries(env)) {
    const name = variableOfFile(fileVariable)
    if (name === undefined || !isVariable(name)) continue
    delete read[fileVariable]
    if (!path) continue
    if (env[name]) problems.push(`${name} and ${fileVariable} are both set`)
    else {
      const { value, problem } = contentOf(path)
      if (problem === undefined) read[name] = value
      else problems.push(`${fileVariable} ${problem}`)
    }
  }
  return { env: read, problems }
}

/** Lays some variables over an environment: none is given both by value and by file after that. */
export function withOverrides(env: NodeJS.ProcessEnv, overrides: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOverridden = (name: string) => `${name}_FILE` in overrides || (variableOfFile(name) ?? name) in overrides
  return { ...Object.fromEntries(Object.entries(env).filter(([name]) => !isOverridden(name))), ...overrides }
}

/** @returns `NAME` for `NAME_FILE`, nothing for other names */
export function variableOfFile(fileVariable: string): string | undefined {
  return /^(.+)_FILE$/.exec(fileVariable)?.[1]
}

function contentOf(path: string): { readonly value?: string; readonly problem?: string } {
  try {
    const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    return value === '' ? { problem: 'names an empty file' } : { value }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown'
    return { problem: `names a file that cannot be read (${code})` }
  }
}

/**
 * Decodes the environment. An empty variable counts as unset; an unset one takes its schema's default. Each variable may be
 * kept in a file instead; see `readVariableFiles`.
 *
 * @param schema one `Type.Object` per app, made of the builders of `kinds.ts`; a variable without a default is required unless `Type.Optional`
 * @param env the environment, `process.env` in `main.ts`
 * @param furtherProblems what was found wrong by other means, to be told in the same message
 * @returns the decoded values, frozen
 * @throws ConfigError naming every bad variable and what is expected of it, never the value that was given, which may be a secret
 */
export function loadConfig<T extends TObject>(
  schema: T,
  // biome-ignore lint/style/noProcessEnv: here, and only here, the environment enters; every main.ts calls this once.
  env: NodeJS.ProcessEnv = process.env,
  furtherProblems: readonly string[] = [],
): Readonly<StaticDecode<T>> {
  const given = readVariableFiles(env, (name) => name in schema.properties)
  const problems = [...given.problems]
  const values: Record<string, unknown> = {}
  for (const [name, variable] of Object.entries(schema.properties)) {
    const raw = given.env[name] === '' ? undefined : given.env[name]
    const text = raw ?? defaultOf(variable)
    if (text === undefined) {
      if (schema.required?.includes(name)) problems.push(`${name} is required`)
      continue
    }
    try {
      values[name] = freeze(Value.Decode(variable, text))
    } catch (error) {
      problems.push(`${name} ${error instanceof BadVariable ? error.message : 'is invalid'}`)
    }
  }
  problems.push(...furtherProblems)
  if (problems.length > 0) throw new ConfigError(eachOnce(problems))
  // The keys were just walked off the schema itself, so this is the one place where its static type is claimed.
  return Object.freeze(values) as Readonly<StaticDecode<T>>
}

/** A variable whose file cannot be used has said so; it is not missing as well. */
function eachOnce(problems: readonly string[]): readonly string[] {
  const variableIn = (problem: string) => problem.split(' ', 1)[0] ?? ''
  const named = new Set(problems.map(variableIn))
  return [...new Set(problems)].filter((problem) => !named.has(`${variableIn(problem)}_FILE`))
}

function defaultOf(schema: TSchema): string | undefined {
  return 'default' in schema && typeof schema.default === 'string' ? schema.default : undefined
}

function freeze(value: unknown): unknown {
  return Array.isArray(value) ? Object.freeze(value) : value
}
