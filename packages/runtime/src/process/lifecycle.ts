// Starts an app, and stops its parts in reverse order.
import { setTimeout as sleep } from 'node:timers/promises'
import { type StaticDecode, Type } from 'typebox'
import { ConfigError, loadConfig } from '../config/environment.ts'
import { durationMs, integer, oneOf } from '../config/kinds.ts'
import { databaseAdvice } from '../postgres/databaseErrors.ts'
import { limitPools } from '../postgres/session.ts'
import { createLog, type Logger, withoutUrlSecrets } from '../telemetry/log.ts'
import { startTracing } from '../telemetry/tracing.ts'

export type Lifecycle = {
  /**
   * Registers how to stop a part that was just started. Stops run one at a time, the last added first. A part is waited for
   * while it has work in flight. Without any, it is abandoned when its backend does not let it end within seconds: so it must
   * not matter where it is interrupted.
   * @param inFlight unfinished work, logged when the stop times out; without it, there never is any
   * @throws Error when the app stops already, so that its start ends
   */
  add(name: string, stop: () => Promise<void> | void, inFlight?: () => readonly string[]): void
  /** Aborts when the stop begins. */
  readonly stopping: AbortSignal
  /** Aborts shortly before the stop times out: work in flight must be abandoned and cleaned up now. */
  readonly givingUp: AbortSignal
  /** Reports a fatal error: the app stops in order and exits with 1. */
  fail(error: unknown): void
}

/** The values of LOG_LEVEL. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** Variables of every app, which are decoded before its own ones. */
export const processVariables = {
  LOG_LEVEL: oneOf(logLevels, 'info'),
  /** How long a stop may take. */
  STOP_TIMEOUT: durationMs('20s'),
  /** The most sessions of Postgres in each pool. */
  DATABASE_POOL_SIZE: Type.Optional(integer(2, 1_000)),
}
const ProcessConfig = Type.Object(processVariables)

/** How long a supervisor must wait for an app with this environment. For an invalid value, which the app rejects, 20 s. */
export function stopTimeoutMs(environment: NodeJS.ProcessEnv): number {
  const { STOP_TIMEOUT } = processVariables
  const variables = Type.Object({ STOP_TIMEOUT })
  try {
    return loadConfig(variables, environment).STOP_TIMEOUT
  } catch {
    return loadConfig(variables, {}).STOP_TIMEOUT
  }
}

/** How long before the timeout `givingUp` aborts. */
const lastMomentMs = 2_000
/** How long a stop waits for the start to end, so that no part starts on others that have stopped. */
const startEndsMs = 2_000
/**
 * How long a stop may take after the end of the supervisor, which may start again at once and needs the ports. Enough without
 * requests in flight; with them, the API would need 12 s to retry its appends while the event store stops. Ending it is safe:
 * acknowledged payments are on disk, and the worker reconciles the rest.
 */
const unsupervisedStopMs = 1_000
/** How long all parts together may take to stop while they have nothing in flight, for example because Redis hangs. */
const patienceMs = 3_000
/** What a part gets when others took all of that. */
const leastPatienceMs = 200
const stopPollMs = 50
/** Limit of unfinished work items in the log line. */
const maxNamed = 20

/**
 * Runs an app until a signal, the end of its supervisor or a failure.
 *
 * SIGTERM, SIGINT and the supervisor's IPC disconnect stop everything and exit 0; a second signal exits 1 at once. A stop
 * that takes longer than STOP_TIMEOUT, or than a second after a disconnect, exits 1. The former logs what was unfinished.
 * An error at start is printed as one line on standard error, and the exit code is 1. When `start` resolves, a supervisor
 * gets the message `{ type: 'ready', ...detail }` with the result of `start`.
 * @param about the app's name; `portVariable` if its port variable is not PORT
 */
export function runApp(
  about: string | { readonly app: string; readonly portVariable: string },
  start: (context: { log: Logger; lifecycle: Lifecycle }) => Promise<object | undefined>,
): void {
  const { app, portVariable } = typeof about === 'string' ? { app: about, portVariable: 'PORT' } : about
  const explain = (error: unknown) => `${app}: ${startFailure(error, portVariable)}\n`
  const config = processConfig(explain)
  if (config.DATABASE_POOL_SIZE !== undefined) limitPools(config.DATABASE_POOL_SIZE)
  const log = createLog({ app, level: config.LOG_LEVEL })
  const lifecycle = createLifecycle(log, config.STOP_TIMEOUT)
  process.on('SIGTERM', () => lifecycle.signalled('SIGTERM'))
  process.on('SIGINT', () => lifecycle.signalled('SIGINT'))
  // A supervised process must not outlive its parent, even if the parent was killed.
  process.on('disconnect', () => lifecycle.disconnected())
  // The parent may have ended before this listener was added; undefined means that there is no parent.
  if (process.connected === false) lifecycle.disconnected()
  process.on('uncaughtException', (error) => lifecycle.fail(error))
  process.on('unhandledRejection', (reason) => lifecycle.fail(reason))
  run({ app, start, explain }, log, lifecycle).catch((error: unknown) => lifecycle.fail(error))
}

async function run(
  { app, start, explain }: { app: string; start: Parameters<typeof runApp>[1]; explain: (error: unknown) => string },
  log: Logger,
  lifecycle: ReturnType<typeof createLifecycle>,
): Promise<void> {
  try {
    const stopTracing = await startTracing(app, log)
    if (stopTracing) lifecycle.add('tracing', stopTracing)
    const detail = (await start({ log, lifecycle })) ?? {}
    if (!lifecycle.stopping.aborted) {
      log.info('ready')
      // The send may fail when the parent has just ended; the disconnect event then stops this process.
      process.send?.({ type: 'ready', ...detail }, undefined, undefined, () => undefined)
    }
  } catch (error) {
    // A stop during the start makes the start fail, which is not an error.
    if (lifecycle.stopping.aborted) return
    process.stderr.write(explain(error))
    void lifecycle.stop(1, { isExplained: true })
  } finally {
    lifecycle.started()
  }
}

function createLifecycle(log: Logger, timeoutMs: number) {
  const stops: Stop[] = []
  const start = Promise.withResolvers<void>()
  const stopping = new AbortController()
  const givingUp = new AbortController()
  let exitCode = 0

  /** @param options `isExplained`: the reason is one line already, and nothing was begun that could be missed */
  async function stop(code: number, { isExplained = false } = {}): Promise<void> {
    exitCode = Math.max(exitCode, code)
    if (stopping.signal.aborted) return
    stopping.abort()
    // For the whole stop: a supervisor waits this long, then kills the process.
    const deadline = setTimeout(() => {
      log.error({ left: remainingStops(stops) }, 'stop timed out')
      process.exit(1)
    }, timeoutMs)
    const lastMoment = setTimeout(() => givingUp.abort(), Math.max(timeoutMs - lastMomentMs, timeoutMs / 2))
    await Promise.race([start.promise, sleep(startEndsMs)])
    let leftMs = patienceMs
    for (let last = stops.at(-1); last !== undefined; last = stops.at(-1)) {
      try {
        const { isStopped, idleMs } = await stopPart(last, Math.max(leftMs, leastPatienceMs))
        if (!isStopped) log.warn({ part: last.name }, 'did not stop in time, and has nothing in flight: abandoned')
        leftMs -= idleMs
      } catch (error) {
        exitCode = 1
        log.error({ err: error, part: last.name }, 'could not stop')
      }
      // Only now, so that a part that does not stop is the first in the log line.
      stops.splice(stops.indexOf(last), 1)
    }
    clearTimeout(lastMoment)
    clearTimeout(deadline)
    if (!isExplained) log.info({ exitCode }, 'stopped')
    process.exit(exitCode)
  }

  return {
    stopping: stopping.signal,
    givingUp: givingUp.signal,
    /** The start has ended, whether it worked or not. */
    started: start.resolve,
    stop,
    add(name: string, stopPart: Stop['stop'], inFlight: Stop['inFlight'] = () => []): void {
      stops.push({ name, stop: stopPart, inFlight })
      if (stopping.signal.aborted) throw new Error('The app stops')
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
      log.info('the supervisor ended, stopping')
      setTimeout(() => process.exit(1), unsupervisedStopMs)
      void stop(0)
    },
  }
}

type Stop = {
  readonly name: string
  readonly stop: () => Promise<void> | void
  readonly inFlight: () => readonly string[]
}

/**
 * Waits until a part has stopped, or had nothing in flight for too long. Counts its pauses instead of reading the clock, so that
 * a process that gets no CPU abandons nothing.
 * @throws what the part throws
 */
async function stopPart({ stop, inFlight }: Stop, limitMs: number): Promise<{ isStopped: boolean; idleMs: number }> {
  const stopped = (async () => stop())()
  // It may also fail after it was abandoned.
  stopped.catch(() => undefined)
  let idleMs = 0
  while (idleMs < limitMs) {
    const isStopped = await Promise.race([stopped.then(() => true), sleep(stopPollMs, false)])
    if (isStopped) return { isStopped, idleMs }
    if (inFlight().length === 0) idleMs += stopPollMs
  }
  return { isStopped: false, idleMs }
}

/** The parts that have not stopped, the one that is being stopped first. */
function remainingStops(stops: readonly Stop[]): object[] {
  return stops.toReversed().map(({ name, inFlight }) => {
    const all = inFlight()
    return all.length === 0 ? { name } : { name, under_way: all.length, such_as: all.slice(0, maxNamed) }
  })
}

// Read first, because the logger must exist before the app reads its own variables.
function processConfig(explain: (error: unknown) => string): StaticDecode<typeof ProcessConfig> {
  try {
    return loadConfig(ProcessConfig)
  } catch (error) {
    process.stderr.write(explain(error))
    process.exit(1)
  }
}

function startFailure(error: unknown, portVariable: string): string {
  if (error instanceof ConfigError) return error.message
  if (!(error instanceof Error)) return `could not start: ${String(error)}`
  if ('code' in error && error.code === 'EADDRINUSE' && 'port' in error && 'address' in error) {
    return `port ${error.port} on ${error.address} is in use; set ${portVariable} to another one`
  }
  if ('code' in error && error.code === 'EADDRNOTAVAIL' && 'address' in error) {
    return `${error.address} is not an address of this machine; set HOST to one that is`
  }
  if ('code' in error && error.code === 'EACCES' && 'port' in error) {
    return `not allowed to listen on port ${error.port}; set ${portVariable} to one above 1023`
  }
  // An AggregateError (every address of a host rejected the connection) has an empty message.
  const reason = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error
  const text = databaseAdvice(reason) ?? (reason.message || reason.name)
  return `could not start: ${withoutUrlSecrets(text).replaceAll(/\s*\n\s*/g, ' ')}`
}
