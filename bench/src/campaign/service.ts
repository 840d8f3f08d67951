// One process of the system, restarted whenever it ends, as a supervisor does.
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const root = new URL('../../../', import.meta.url)
/** After an end that the campaign did not cause; a killed process starts again at once. */
const restartPauseMs = 250
const readyTimeoutMs = 60_000
const pollMs = 20

export type Service = {
  readonly name: string
  /** Ends the process, which starts again at once. */
  kill(signal?: 'SIGKILL' | 'SIGTERM'): void
  /** How often the process ended without being killed. */
  ownEnds(): number
  /** Resolves when the running process has reported that it is ready. */
  untilReady(): Promise<void>
}

/**
 * @param stack ends the process for good
 * @param how `script` from the root of the repository, `logFile` for its output
 */
export function superviseService(
  stack: AsyncDisposableStack,
  name: string,
  how: { readonly script: string; readonly env: Readonly<Record<string, string>>; readonly logFile: string },
): Service {
  const output = openSync(how.logFile, 'a')
  let child: ChildProcess | undefined
  let ready = false
  let killed = false
  let isOver = false
  let ownEnds = 0
  const start = () => {
    if (isOver) return
    ready = false
    killed = false
    const started = spawn(process.execPath, [new URL(how.script, root).pathname], {
      env: how.env,
      stdio: ['ignore', output, output, 'ipc'],
    })
    child = started
    started.on('message', (message: { readonly type?: unknown }) => {
      if (message.type === 'ready' && child === started && !killed) ready = true
    })
    started.once('exit', () => {
      ready = false
      if (killed) return start()
      ownEnds++
      setTimeout(start, restartPauseMs).unref()
    })
  }
  start()
  stack.defer(async () => {
    isOver = true
    killed = true
    child?.kill('SIGKILL')
    while (child !== undefined && child.exitCode === null && child.signalCode === null) await pause(pollMs)
  })
  return {
    name,
    kill(signal = 'SIGKILL') {
      ready = false
      killed = true
      child?.kill(signal)
    },
    ownEnds: () => ownEnds,
    async untilReady() {
      const deadline = performance.now() + readyTimeoutMs
      while (!ready) {
        if (performance.now() > deadline)
          throw new Error(`${name} is not ready: ${readFileSync(how.logFile, 'utf8').slice(-2_000)}`)
        await pause(pollMs)
      }
    },
  }
}
