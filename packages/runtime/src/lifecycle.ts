// Starts an app, and stops it in the reverse order in which it was built.
import { Type } from 'typebox'
import { ConfigError, loadConfig, oneOf } from './config.ts'
import { createLog, type Logger } from './log.ts'

export type Lifecycle = {
  /** Registers how to stop what was just started. Stops run one after the other, the last added first. */
  add(name: string, stop: () => Promise<void> | void): void
  /** Aborts at the beginning of the stop. */
  readonly stopping: AbortSignal
  /** The app cannot be right any more: it stops in order and exits with 1. */
  fail(error: unknown): void
}

const stopTimeoutMs = 10_000
/** The values of LOG_LEVEL. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/**
 * Runs an app until a signal, its supervisor's disappearance or a failure ends it.
 *
 * SIGTERM, SIGINT and the supervisor's IPC disconnect stop everything and exit 0; a second signal exits 1 at once.
 * A throw at start is one line on standard error and exit 1. When `start` resolves and a supervisor is there, it is told
 * `{ type: 'ready', ...detail }` with whatever `start` returned.
 */
export function runApp(
  app: string,
  start: (context: { log: Logger; lifecycle: Lifecycle }) => Promise<object | undefined>,
): void {
  const log = createLog({ app, level: logLevel(app) })
  const lifecycle = createLifecycle(log)
  process.on('SIGTERM', () => lifecycle.signalled('SIGTERM'))
  process.on('SIGINT', () => lifecycle.signalled('SIGINT'))
  // Supervised, this process lives no longer than its parent, even when the parent was killed.
  process.on('disconnect', () => lifecycle.disconnected())
  process.on('uncaughtException', (error) => lifecycle.fail(error))
  process.on('unhandledRejection', (reason) => lifecycle.fail(reason))
  run(app, start, log, lifecycle).catch((error: unknown) => lifecycle.fail(error))
}

async function run(
  app: string,
  start: Parameters<typeof runApp>[1],
  log: Logger,
  lifecycle: ReturnType<typeof createLifecycle>,
): Promise<void> {
  try {
    const detail = (await start({ log, lifecycle })) ?? {}
    if (!lifecycle.stopping.aborted) {
      log.info('ready')
      // The parent may vanish at this very moment; the disconnect event then stops us, so the send may fail quietly.
      process.send?.({ type: 'ready', ...detail }, undefined, undefined, () => undefined)
    }
  } catch (error) {
    // A stop that was asked for during the start makes whatever was starting fail; that is no failure of the app.
    if (lifecycle.stopping.aborted) return
    process.stderr.write(`${app}: ${startFailure(error)}\n`)
    await lifecycle.stop(1)
  }
}

function createLifecycle(log: Logger) {
  const stops: { name: string; stop: () => Promise<void> | void }[] = []
  const stopping = new AbortController()
  let exitCode = 0

  async function stop(code: number): Promise<void> {
    exitCode = Math.max(exitCode, code)
    if (stopping.signal.aborted) return
    stopping.abort()
    // The bound is on the whole stop: a supervisor waits as long, then kills.
    const deadline = setTimeout(() => {
      log.error({ left: stops.map(({ name }) => name) }, 'stop timed out')
      process.exit(1)
    }, stopTimeoutMs)
    for (let last = stops.pop(); last !== undefined; last = stops.pop()) {
      try {
        await last.stop()
      } catch (error) {
        exitCode = 1
        log.error({ err: error, part: last.name }, 'could not stop')
      }
    }
    clearTimeout(deadline)
    log.info({ exitCode }, 'stopped')
    process.exit(exitCode)
  }

  return {
    stopping: stopping.signal,
    stop,
    add(name: string, stopPart: () => Promise<void> | void): void {
      stops.push({ name, stop: stopPart })
    },
    fail(error: unknown): void {
      log.fatal({ err: error }, 'failed')
      void stop(1)
    },
    signalled(signal: NodeJS.Signals): void {
      if (stopping.signal.aborted) process.exit(1)
      log.info({ signal }, 'stopping')
      void stop(0)
    },
    disconnected(): void {
      log.info('the supervisor is gone, stopping')
      void stop(0)
    },
  }
}

// The log is there before the app's own variables are read, so its level is decoded apart from them.
function logLevel(app: string): string {
  try {
    return loadConfig(Type.Object({ LOG_LEVEL: oneOf(logLevels, 'info') })).LOG_LEVEL
  } catch (error) {
    process.stderr.write(`${app}: ${startFailure(error)}\n`)
    process.exit(1)
  }
}

function startFailure(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return `could not start: ${String(error)}`
  if ('code' in error && error.code === 'EADDRINUSE' && 'port' in error && 'address' in error) {
    return `port ${error.port} on ${error.address} is in use; set PORT to another one`
  }
  if ('code' in error && error.code === 'EACCES' && 'port' in error) {
    return `not allowed to listen on port ${error.port}; set PORT to one above 1023`
  }
  // An AggregateError (every address of a host refused) has an empty message of its own.
  const reason = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error
  return `could not start: ${(reason.message || reason.name).replaceAll(/\s*\n\s*/g, ' ')}`
}
