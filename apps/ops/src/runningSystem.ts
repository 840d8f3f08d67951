// Finds a running local system.
import { resolve } from 'node:path'
import { withOverrides } from '@paylog/runtime/config/environment'
import { isAlive } from '@paylog/runtime/process/isAlive'
import { type Runtime, readRuntime } from '@paylog/runtime/process/runtimeFile'

/** The data directory that the environment names, and the system that runs on it. */
export function findRunningSystem(own: NodeJS.ProcessEnv): { directory: string; runtime: Runtime | undefined } {
  const directory = resolve(own.DATA_DIR || '.data')
  const runtime = readRuntime(directory)
  // A killed system leaves its file behind, and others may use its ports by now.
  return { directory, runtime: runtime !== undefined && isAlive(runtime.pid) ? runtime : undefined }
}

/** The operator's own variables, by value or by file, completed by those of the running system. */
export function completeEnvironment(environment: NodeJS.ProcessEnv, runtime: Runtime | undefined): NodeJS.ProcessEnv {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  return withOverrides({ ...runtime?.environment }, set)
}
