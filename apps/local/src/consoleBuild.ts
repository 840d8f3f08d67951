// Builds the console beside the start of the system. A system without console works, so a failed build is only reported.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withOverrides } from '@paylog/runtime/config/environment'
import { createChildLog } from './childLog.ts'
import type { Preparation } from './preparation.ts'
import { runOnce } from './service.ts'
import { environmentOf } from './settings.ts'
import { StartError, silentTerminal, type Terminal } from './terminal.ts'

const script = fileURLToPath(new URL('../../console/build.ts', import.meta.url))

/**
 * Does nothing when the console was built from the present sources. Resolves also when the build fails.
 * @param options `signal` stops the build
 */
export async function buildConsole(options: {
  readonly preparation: Preparation
  readonly inherited: NodeJS.ProcessEnv
  readonly terminal: Terminal
  readonly signal: AbortSignal
}): Promise<void> {
  const { preparation, inherited, terminal, signal } = options
  const directory = join(preparation.directory, 'logs')
  const log = createChildLog({ directory, name: 'console', terminal: silentTerminal })
  try {
    const environment = environmentOf('console build', withOverrides(inherited, preparation.environment))
    await runOnce({ name: 'console', command: [script], environment, log, signal })
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    if (!signal.aborted) terminal.print(`  The console was not built; ${join(directory, 'console.log')} says why.`)
  } finally {
    log.close()
  }
}
