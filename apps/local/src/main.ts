// `npm start`: runs the whole system on this machine until Ctrl-C.
import { ConfigError } from '@paylog/runtime/config/environment'
import { banner } from './banner.ts'
import { buildConsole } from './consoleBuild.ts'
import { prepare } from './preparation.ts'
import { defaultDataDirectory, loadSettings, webhookEndpoints } from './settings.ts'
import { createSystem, type System } from './system.ts'
import { createTerminal, StartError } from './terminal.ts'

/** npm forwards the Ctrl-C that the terminal has already sent us. A second signal within this time is the same one. */
const sameSignalMs = 1_000

// biome-ignore lint/style/noProcessEnv: the processes inherit the environment.
const given = process.env
const terminal = createTerminal(process.stdout)
/** `npm start` passes it. Programs that start many systems leave it out. */
const isBuildingConsole = process.argv.includes('--build-console')
const consoleBuild = new AbortController()
let system: System | undefined
let stoppingSince: number | undefined

async function run(): Promise<void> {
  const begin = performance.now()
  const settings = loadSettings(given)
  const preparation = await prepare(settings, given)
  terminal.print(`Starting Paylog with its data in ${preparation.directory}`)
  system = createSystem({ preparation, inherited: given, terminal })
  if (stoppingSince !== undefined) return stop(0)
  const { signal } = consoleBuild
  const build = isBuildingConsole ? buildConsole({ preparation, inherited: given, terminal, signal }) : undefined
  await Promise.all([system.start(), build])
  terminal.print(
    banner({
      runtime: system.runtime(),
      directory: preparation.directory,
      seconds: (performance.now() - begin) / 1000,
      directoryIsDefault: settings.DATA_DIR === defaultDataDirectory,
      demoIdentity: settings.AUTH_URL === undefined,
      sandboxProvider: settings.SANDBOX_PROVIDER,
      endpoints: webhookEndpoints(given),
    }),
  )
  // For a process that supervises this one.
  process.send?.({ type: 'ready', base_url: preparation.baseUrl })
}

async function stop(exitCode: number): Promise<void> {
  consoleBuild.abort()
  try {
    await system?.stop()
  } finally {
    // Children that did not stop end when this process exits.
    process.exit(exitCode)
  }
}

function onSignal(): void {
  const now = performance.now()
  if (stoppingSince === undefined) {
    stoppingSince = now
    terminal.print('\nStopping Paylog')
    if (system) void stop(0)
  } else if (now - stoppingSince > sameSignalMs) {
    consoleBuild.abort()
    system?.kill()
    process.exit(130)
  }
}

function onFailure(error: unknown): void {
  // A stop during the start makes the start fail. That is not an error.
  if (stoppingSince !== undefined) return
  stoppingSince = performance.now()
  const expected = error instanceof StartError || error instanceof ConfigError
  process.stderr.write(`${expected ? error.message : error instanceof Error ? error.stack : error}\n`)
  void stop(1)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
process.on('disconnect', onSignal)
process.on('uncaughtException', onFailure)
process.on('unhandledRejection', onFailure)
run().catch(onFailure)
