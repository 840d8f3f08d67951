// A system of its own on free ports and temporary data, for whoever needs one for a while.
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Runtime } from '@paylog/runtime/process/runtimeFile'
import { prepare } from './preparation.ts'
import { loadSettings, withoutSettings } from './settings.ts'
import { createSystem } from './system.ts'
import { silentTerminal } from './terminal.ts'

export type PrivateSystem = {
  /** When it does not start, too, there is something to stop. */
  start(): Promise<Runtime>
  /** Stops everything and deletes the data. */
  stop(): Promise<void>
}

/**
 * @param given the surroundings; whatever they set up for a real system is not for this one
 * @param settings variables for this one
 */
export async function createPrivateSystem(
  given: NodeJS.ProcessEnv,
  settings: Readonly<Record<string, string>>,
): Promise<PrivateSystem> {
  const directory = join(tmpdir(), `paylog-${randomUUID()}`)
  const environment = { ...withoutSettings(given), DATA_DIR: directory, PORT: '0', ...settings }
  const preparation = await prepare(loadSettings(environment), environment)
  const system = createSystem({ preparation, inherited: environment, terminal: silentTerminal })
  return {
    async start() {
      await system.start()
      return system.runtime()
    },
    async stop() {
      await system.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
