// One process of the system, restarted whenever it ends, as a supervisor does.
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** After an end that the campaign did not cause; a killed process starts again at once. */
const restartPauseMs = 250
/** On a busy machine. A node of an event store that has to cut what was not replicated starts three times. */
const readyTimeoutMs = 180_000
const pollMs = 20

export type Command = {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Directory to run in. */
  readonly directory: string
  /** The system user to run as; default: our own. */
  readonly runAs?: { readonly uid?: number; readonly gid?: number }
}

export type SupervisedProcess = {
  readonly name: string
  /** Ends the process, which starts again after the pause. */
  kill(signal?: NodeJS.Signals, pauseMs?: number): void
  /** Suspends it and its own child processes. */
  freeze(): void
  thaw(): void
  /** Ends it in order and starts it with another command. Resolves when that is ready. */
  replace(command: Command): Promise<void>
  /** Sets the clock of a Node process ahead, or back with a negative number. It stays so after a restart. */
  setClock(offsetMs: number): void
  /** Kills it for good. */
  end(): Promise<void>
  /** How often the process ended without being killed. */
  ownEnds(): number
  /** Resolves when the running process is ready. @throws Error with its log when it is not in time */
  untilReady(): Promise<void>
}

/**
 * @param stack ends the process for good
 * @param options `isReady` is asked again and again after each start; without it the process reports that it is ready
 */
export function superviseProcess(
  stack: AsyncDisposableStack,
  name: string,
  options: {
    readonly command: Command
    readonly logFile: string
    readonly isReady?: () => Promise<boolean>
  },
): SupervisedProcess {
  const { logFile, isReady } = options
  const output = openSync(logFile, 'a')
  let { command } = options
  let child: ChildProcess | undefined
  let ready = false
  let pauseMs: number | undefined
  let isOver = false
  let ownEnds = 0
  let clockOffsetMs = 0

  function start(): void {
    if (isOver) return
    const [program = '', ...args] = command.words
    const env = { ...command.env, CAMPAIGN_CLOCK_OFFSET_MS: String(clockOffsetMs) }
    const stdio = isReady === undefined ? ['ignore', output, output, 'ipc' as const] : ['ignore', output, output]
    const { directory: cwd, runAs } = command
    const started = spawn(program, args, { ...runAs, env, cwd, stdio: stdio as ('ignore' | 'ipc' | number)[] })
    ready = false
    pauseMs = undefined
    child = started
    const report = () => {
      if (child === started && pauseMs === undefined && isRunning(started)) ready = true
    }
    if (isReady === undefined)
      started.on('message', ({ type }: { readonly type?: unknown }) => {
        if (type === 'ready') report()
      })
    else void poll(isReady, () => child === started && isRunning(started)).then(report)
    started.once('exit', () => {
      ready = false
      if (pauseMs === undefined) ownEnds++
      setTimeout(start, pauseMs ?? restartPauseMs).unref()
    })
  }

  function kill(signal: NodeJS.Signals = 'SIGKILL', restartAfterMs = 0): void {
    ready = false
    pauseMs = restartAfterMs
    child?.kill(signal)
  }

  async function untilReady(): Promise<void> {
    const deadline = performance.now() + readyTimeoutMs
    while (!ready) {
      if (performance.now() > deadline)
        throw new Error(`${name} is not ready: ${readFileSync(logFile, 'utf8').slice(-2_000)}`)
      await pause(pollMs)
    }
  }

  async function end(): Promise<void> {
    isOver = true
    kill()
    while (child !== undefined && isRunning(child)) await pause(pollMs)
  }

  function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of child?.pid === undefined ? [] : [child.pid, ...childrenOf(child.pid)]) signalIfRunning(pid, name)
  }

  start()
  stack.defer(end)
  return {
    name,
    kill,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async replace(next) {
      command = next
      kill('SIGTERM')
      await untilReady()
    },
    setClock(offsetMs) {
      clockOffsetMs = offsetMs
      if (child?.connected) child.send({ type: 'campaign clock', offsetMs }, () => {})
    },
    end,
    ownEnds: () => ownEnds,
    untilReady,
  }
}

const isRunning = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null

async function poll(isReady: () => Promise<boolean>, isWanted: () => boolean): Promise<void> {
  while (isWanted() && !(await isReady())) await pause(pollMs)
}

/** On Linux only. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

function signalIfRunning(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended.
  }
}
