// DATA_DIR/runtime.json: how programs beside a running local system find its embedded parts.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

export const Runtime = Type.Object({
  /** Of the supervisor. */
  pid: Type.Integer(),
  started_at: Type.String(),
  base_url: Type.String(),
  /** What the apps were given; whoever works beside them takes it for what their own environment does not say. */
  environment: Type.Record(Type.String(), Type.String()),
  parts: Type.Array(Type.Object({ name: Type.String(), pid: Type.Integer(), address: Type.String() })),
})
export type Runtime = Static<typeof Runtime>

const fileOf = (directory: string) => join(directory, 'runtime.json')

/** The system that runs on the directory, or that was killed there last; nothing after a clean stop. */
export function readRuntime(directory: string): Runtime | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(fileOf(directory), 'utf8'))
    return Value.Check(Runtime, content) ? content : undefined
  } catch (error) {
    // Absent, or cut short by a crash of the machine: nobody can be found by it.
    if (error instanceof SyntaxError || (error instanceof Error && 'code' in error && error.code === 'ENOENT')) return
    throw error
  }
}

/** It holds a secret and a password: only its owner may read it. */
export function writeRuntime(directory: string, runtime: Runtime): void {
  replaceFile(fileOf(directory), `${JSON.stringify(runtime, undefined, 2)}\n`)
}

/**
 * Replaces a file as a whole, so that a reader never sees a half of it, nor is a half left on a full disk. Only its owner
 * may read it.
 * @throws the system's error, with the file as it was before
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
