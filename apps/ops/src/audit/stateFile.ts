// The projector's AUDIT_STATE_FILE, where a command can reach it.
import { endedNow, readStateFile, writeStateFile } from '@paylog/audit-log/stateFile'
import { loadConfig } from '@paylog/runtime/config/environment'
import { text } from '@paylog/runtime/config/kinds'
import { Type } from 'typebox'

const fileOf = (environment: NodeJS.ProcessEnv) =>
  loadConfig(Type.Object({ AUDIT_STATE_FILE: Type.Optional(text()) }), environment).AUDIT_STATE_FILE

/** @returns the file, if it has a checkpoint @throws Error when it cannot be used */
export function rememberedFile(environment: NodeJS.ProcessEnv): readonly string[] {
  const path = fileOf(environment)
  return path !== undefined && readStateFile(path)?.checkpoint ? [path] : []
}

/**
 * Lets the projector sign again: it has to extend only this checkpoint, and nothing that is remembered elsewhere now.
 * @param note the newest stored checkpoint that is that of the log
 * @returns false when the environment names no file
 * @throws Error when it cannot be written
 */
export function endRemembered(environment: NodeJS.ProcessEnv, note: string | null): boolean {
  const path = fileOf(environment)
  if (path !== undefined) writeStateFile(path, { checkpoint: note, ended_size: endedNow })
  return path !== undefined
}
