// A small file outside of Postgres with the newest signed checkpoint (AUDIT_STATE_FILE).
import { closeSync, existsSync, fsyncSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory } from '@paylog/runtime/process/makeDirectory'
import { replaceFile } from '@paylog/runtime/process/runtimeFile'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

const AuditState = Type.Object({
  format: Type.Literal(1),
  /** The signed note; null when none is to be extended. `ops audit verify --against` reads it here. */
  checkpoint: Type.Union([Type.String(), Type.Null()]),
  /**
   * What others remember up to this size is of a tree that an operator has ended. `endedNow` until the projector has found out
   * the size.
   */
  ended_size: Type.Integer({ minimum: -1 }),
})
export type AuditState = Static<typeof AuditState>

/** Everything that is remembered elsewhere when the projector reads the file next. */
export const endedNow = Number.MAX_SAFE_INTEGER

/**
 * @returns undefined when there is no file
 * @throws Error when there is one that cannot be read, or that has something else in it
 */
export function readStateFile(path: string): AuditState | undefined {
  if (!existsSync(path)) return undefined
  const content: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (Value.Check(AuditState, content)) return content
  throw new Error(`${path} is not what Paylog writes`)
}

/** Replaces the file atomically, and returns when it would survive a power cut. @throws the system's error */
export function writeStateFile(path: string, { checkpoint, ended_size }: Omit<AuditState, 'format'>): void {
  const directory = dirname(path)
  makeDirectory(directory, 0o700)
  replaceFile(path, `${JSON.stringify({ format: 1, checkpoint, ended_size }, undefined, 2)}\n`)
  const opened = openSync(directory, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}
