// Decodes an app's environment once, at start, with one schema.
import { readFileSync } from 'node:fs'
import type { StaticDecode, TObject, TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { BadVariable } from './kinds.ts'

/** The environment lacks a variable or holds an invalid one. The message is one line for the operator and shows no values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** One sentence per bad variable, beginning with its name. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`Bad configuration: ${problems.join('; ')}`)
    this.problems = problems
  }
}

/**
 * Reads variables from files, for secrets: `NAME_FILE` is the path of a file that holds the value of `NAME`. One trailing
 * newline is dropped. An empty file is a problem: otherwise a missing secret would look like one that is not set.
 *
 * @param isVariable which names may be read from a file
 * @returns the environment with the values in place of the paths, and one sentence per unusable file or variable that is
 *   set twice. Each begins with the variable's name and shows neither path nor content
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

/** Applies overrides to an environment. Overriding `NAME` also drops `NAME_FILE`, and the other way round. */
export function withOverrides(env: NodeJS.ProcessEnv, overrides: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOverridden = (name: string) => `${name}_FILE` in overrides || (variableOfFile(name) ?? name) in overrides
  return { ...Object.fromEntries(Object.entries(env).filter(([name]) => !isOverridden(name))), ...overrides }
}

/** @returns `NAME` for `NAME_FILE`, undefined for other names */
export function variableOfFile(fileVariable: string): string | undefined {
  return /^(.+)_FILE$/.exec(fileVariable)?.[1]
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'names a file that does not exist',
  // What an engine mounts in place of a secret that does not exist.
  EISDIR: 'names a directory in place of a file: write the file, and create the container again',
  EACCES: 'names a file that the user of this process may not read',
}

function contentOf(path: string): { readonly value?: string; readonly problem?: string } {
  try {
    const value = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    return value === '' ? { problem: 'names an empty file' } : { value }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return { problem: unreadable[code] ?? `names a file that cannot be read (${code})` }
  }
}

/**
 * Decodes the environment. An empty variable counts as unset; an unset one takes its schema's default. Each variable may be
 * read from a file instead; see `readVariableFiles`.
 *
 * @param schema one `Type.Object` per app, built from `kinds.ts`; a variable without a default is required unless `Type.Optional`
 * @param env the environment, `process.env` in `main.ts`
 * @param furtherProblems problems found by other checks, reported in the same message
 * @returns the decoded values, frozen
 * @throws ConfigError naming every bad variable and what it must be, never its value, which may be a secret
 */
export function loadConfig<T extends TObject>(
  schema: T,
  // biome-ignore lint/style/noProcessEnv: the only place that reads it; every main.ts calls this once.
  env: NodeJS.ProcessEnv = process.env,
  furtherProblems: readonly string[] = [],
): Readonly<StaticDecode<T>> {
  const resolved = readVariableFiles(env, (name) => name in schema.properties)
  const { values, problems } = decodeVariables(schema, resolved.env)
  const all = [...resolved.problems, ...problems, ...furtherProblems]
  if (all.length > 0) throw new ConfigError(withoutRepeats(all))
  return values
}

/**
 * Decodes variables whose problems are reported with others.
 * @param prefix of the variables' names, which the names in the schema follow
 * @returns one sentence per bad variable, which then has its default, and the values: complete if nothing is required
 */
export function decodeVariables<T extends TObject>(
  schema: T,
  env: Readonly<Record<string, string | undefined>>,
  prefix = '',
): { readonly values: Readonly<StaticDecode<T>>; readonly problems: readonly string[] } {
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [name, variable] of Object.entries(schema.properties)) {
    const byDefault = defaultOf(variable)
    const text = env[`${prefix}${name}`] || byDefault
    if (text === undefined) {
      if (schema.required?.includes(name)) problems.push(`${prefix}${name} is required`)
      continue
    }
    try {
      values[name] = freeze(Value.Decode(variable, text))
    } catch (error) {
      problems.push(`${prefix}${name} ${error instanceof BadVariable ? error.message : 'is invalid'}`)
      if (byDefault !== undefined) values[name] = freeze(Value.Decode(variable, byDefault))
    }
  }
  // The loop above went over the schema's own keys, so the cast is safe.
  return { values: Object.freeze(values) as Readonly<StaticDecode<T>>, problems }
}

/** Also drops "NAME is required" when there is a problem with `NAME_FILE`. */
function withoutRepeats(problems: readonly string[]): readonly string[] {
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
