// Checkpoints: those in Postgres, and those that were kept outside of the system, in files.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Checkpoint, openCheckpoint } from '@paylog/audit-log/checkpoint'
import { NoteError, type VerifierKey } from '@paylog/audit-log/note'
import { endedNow, readStateFile, writeStateFile } from '@paylog/audit-log/stateFile'
import { readCheckpoints } from '@paylog/audit-log/treeStore'
import { loadConfig } from '@paylog/runtime/config/environment'
import { text } from '@paylog/runtime/config/kinds'
import { Type } from 'typebox'
import { OpsError } from '../command.ts'
import { reading, readText } from '../files.ts'
import type { Pool } from '../system.ts'

/** A checkpoint whose signature is right. */
export type SignedCheckpoint = Checkpoint & {
  /** Where it was found, such as the path of its file. */
  readonly source: string
}

/** A checkpoint that proves nothing, and why. */
export type InvalidCheckpoint = { readonly source: string; readonly reason: string }

export type OpenedCheckpoints = {
  /** By size. */
  readonly signed: readonly SignedCheckpoint[]
  readonly invalid: readonly InvalidCheckpoint[]
}

/**
 * @param paths files with a signed note, proofs of payments, manifests of exports, or directories of them
 * @throws OpsError for a path that cannot be read
 */
export function openGivenCheckpoints(paths: readonly string[], verifiers: readonly VerifierKey[]): OpenedCheckpoints {
  const signed: SignedCheckpoint[] = []
  const invalid: InvalidCheckpoint[] = []
  for (const source of paths.flatMap(filesOf)) {
    const opened = openSigned(noteIn(readText(source)), source, verifiers)
    if ('reason' in opened) invalid.push(opened)
    else signed.push(opened)
  }
  return { signed: signed.sort((one, other) => one.size - other.size), invalid }
}

/** @returns why it is invalid, if it is */
export function openSigned(
  note: string,
  source: string,
  verifiers: readonly VerifierKey[],
): SignedCheckpoint | InvalidCheckpoint {
  try {
    return { ...openCheckpoint(note, ...verifiers), source }
  } catch (error) {
    if (!(error instanceof NoteError)) throw error
    return { source, reason: error.message }
  }
}

function filesOf(path: string): readonly string[] {
  if (!reading(path, () => statSync(path)).isDirectory()) return [path]
  const entries = reading(path, () => readdirSync(path, { recursive: true, withFileTypes: true }))
  const files = entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
  if (files.length === 0) throw new OpsError(`${path} has no files.`)
  return files.map(({ parentPath, name }) => join(parentPath, name)).sort()
}

/** Proofs and manifests are JSON and hold a note. */
function noteIn(text: string): string {
  if (!text.startsWith('{')) return text
  try {
    const { checkpoint }: { checkpoint?: unknown } = JSON.parse(text)
    if (typeof checkpoint === 'string') return checkpoint
    if (typeof checkpoint !== 'object' || checkpoint === null || !('note' in checkpoint)) return text
    return String(checkpoint.note)
  } catch {
    return text
  }
}

/**
 * The stored checkpoints that are signed, by size.
 * @param options `upTo`: the largest size, because the log may have no events yet of those that are signed meanwhile;
 *   `onInvalid` is called for each that is not signed
 */
export async function* storedCheckpoints(
  pool: Pool,
  verifiers: readonly VerifierKey[],
  { upTo, onInvalid }: { readonly upTo: number; readonly onInvalid: (found: InvalidCheckpoint) => void },
): AsyncGenerator<SignedCheckpoint, void> {
  for await (const { size, root, note } of readCheckpoints(pool, upTo)) {
    const source = `the stored checkpoint ${size}`
    const opened = openSigned(note, source, verifiers)
    if ('reason' in opened) onInvalid(opened)
    else if (opened.size !== size || !opened.root.equals(root))
      onInvalid({ source, reason: 'its row is not that of its note' })
    // By the note. The row decides about the order only, and a wrong one is reported.
    else yield opened
  }
}

/** The projector's AUDIT_STATE_FILE, where a command can reach it. */
const stateFileOf = (environment: NodeJS.ProcessEnv) =>
  loadConfig(Type.Object({ AUDIT_STATE_FILE: Type.Optional(text()) }), environment).AUDIT_STATE_FILE

/** @returns the file, if it has a checkpoint @throws Error when it cannot be used */
export function rememberedFile(environment: NodeJS.ProcessEnv): readonly string[] {
  const path = stateFileOf(environment)
  return path !== undefined && readStateFile(path)?.checkpoint ? [path] : []
}

/**
 * Lets the projector sign again: it has to extend only this checkpoint, and nothing that is remembered elsewhere now.
 * @param note the newest stored checkpoint that is that of the log
 * @returns false when the environment names no file
 * @throws Error when it cannot be written
 */
export function endRemembered(environment: NodeJS.ProcessEnv, note: string | null): boolean {
  const path = stateFileOf(environment)
  if (path !== undefined) writeStateFile(path, { checkpoint: note, ended_size: endedNow })
  return path !== undefined
}
