// DATA_DIR/runtime.json: how other programs, such as `ops`, reach a running local system.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

export const Runtime = Type.Object({
  /** Process id of the supervisor. */
  pid: Type.Integer(),
  started_at: Type.String(),
  base_url: Type.String(),
  /** The environment of the apps; other programs use it for variables that their own environment does not set. */
  environment: Type.Record(Type.String(), Type.String()),
  parts: Type.Array(Type.Object({ name: Type.String(), pid: Type.Integer(), address: Type.String() })),
})
export type Runtime = Static<typeof Runtime>

const fileOf = (directory: string) => join(directory, 'runtime.json')

/** The local system that runs on the directory, or was killed there last; undefined after a clean stop. */
export function readRuntime(directory: string): Runtime | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(fileOf(directory), 'utf8'))
    return Value.Check(Runtime, content) ? content : undefined
  } catch (error) {
    // Missing, or truncated by a crash of the machine.
    if (error instanceof SyntaxError || (error instanceof Error && 'code' in error && error.code === 'ENOENT')) return
    throw error
  }
}

/** Readable by its owner only, because it holds a secret and a password. */
export function writeRuntime(directory: string, runtime: Runtime): void {
  replaceFile(fileOf(directory), `${JSON.stringify(runtime, undefined, 2)}\n`)
}

/**
 * Replaces a file atomically, so that readers, and a full disk, never leave a partial file. Only its owner may read it.
 * @throws the system's error; the file is then unchanged
 */
export function replaceFile(file: string, content: string): void {
  const draft = `${file}.${process.pid}`
  try {
    writeFileSync(draft, content, { mode: 0o600, flush: true })
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
}

export function removeRuntime(directory: string): void {
  rmSync(fileOf(directory), { force: true })
}
