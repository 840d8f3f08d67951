// Finds the local system that runs beside, if one does.
import { resolve } from 'node:path'
import { withOverrides } from '@paylog/config/environment'
import { isAlive } from '@paylog/runtime/process/isAlive'
import { type Runtime, readRuntime } from '@paylog/runtime/process/runtimeFile'

/** The data directory that the environment names, and the system that runs on it. */
export function findRunningSystem(own: NodeJS.ProcessEnv): { directory: string; runtime: Runtime | undefined } {
  const directory = resolve(own.DATA_DIR || '.data')
  const runtime = readRuntime(directory)
  // The file of a killed system is still there, and its ports may belong to others by now.
  return { directory, runtime: runtime !== undefined && isAlive(runtime.pid) ? runtime : undefined }
}

/** What the operator has set, by value or by file, and for the rest what the running system gave its apps. */
export function completeEnvironment(own: NodeJS.ProcessEnv, runtime: Runtime | undefined): NodeJS.ProcessEnv {
  const set = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== ''))
  return withOverrides({ ...runtime?.environment }, set)
}
